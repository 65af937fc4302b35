"""Rows of templates: found by name, checked for who may change them, their versions and uses."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError
from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext

from conversations.models import Conversation
from curation.models import Template, TemplateUse, TemplateVersion
from memory.actors import Actor
from memory.engines.access.work_handles import get_owner_name
from memory.engines.branches.manager import BranchManager
from memory.engines.versions.branch_access import filter_allowed_branches
from memory.engines.versions.lookup import find_branch
from memory.exceptions import BranchForbidden, Exists, IllegalTransition, Invalid, NotFound
from memory.models import MAX_DEPTH, AgentTask, Branch, Fact, Relation, TaskAgent

Point = int | datetime | UUID | None
State = Template.State
TEMPLATE = "template"  # why a branch is kept
MAX_SOURCE_DEPTH = MAX_DEPTH - 2  # below it are the version, and the work that begins from it
PREFIX = "template/"
MAX_SHOWN = 50  # uses on the page of a template
Outcome = TemplateUse.Outcome


def find_template_row(actor: Actor, name: str, lock: bool = False) -> Template:
    """Return a template by its name. Raises NotFound, BranchForbidden."""
    rows = Template.objects.filter(project=actor.project_id, name=ascii(name)[1:-1])
    template = (rows.select_for_update() if lock else rows).first()
    if template is None:
        raise NotFound("There is no template named {name}.", name=ascii(name)[1:-1])
    if not may_use(actor, template):
        raise BranchForbidden(name=name_branch(template.name, template.version))
    return template


def find_version(template: Template, number: int) -> TemplateVersion:
    """Return a version of a template. Raises NotFound."""
    found = template.versions.select_related("branch", "source").filter(number=number).first()
    if found is None:
        raise NotFound("The template {name} has no version {number}.", name=template.name, number=number)
    found.template = template
    return found


def find_for_type(rows: Any, task_type: str) -> list[UUID]:
    """Return the templates for a kind of work, in any case of its letters."""
    kind = task_type.casefold()
    return [pk for pk, types in rows.values_list("pk", "task_types") if kind in map(str.casefold, types)]


def list_template_uses(template: Template) -> Any:
    return TemplateUse.objects.filter(version__template=template).select_related(
        "branch", "version__template"
    )


def lock_own(actor: Actor, name: str, grows: bool = True) -> Template:
    """Return a template that the actor may change, locked. Raises NotFound, scope and branch refusals."""
    actor.require_scope("write", grows=grows)
    template = find_template_row(actor, name, lock=True)
    if not owns_or_curates(actor, template):
        actor.require_scope("curate")
    return template


def owns_or_curates(actor: Actor, template: Template) -> bool:
    return template.owner == get_owner_name(actor) or actor.has_scope("curate")


def require_active(template: Template) -> None:
    if template.state != State.ACTIVE:
        raise IllegalTransition("The template {name} is deprecated.", name=template.name)


def insert_template(template: Template) -> None:
    try:
        template.save(force_insert=True)
    except IntegrityError:
        raise Exists(
            "A template named {name} exists already: update it, or take another name.",
            name=template.name,
            field="name",
        ) from None


def add_version(actor: Actor, template: Template, source_branch: str, at: Point) -> TemplateVersion:
    """Fork the read-only branch of a template's newest version, and count what it holds."""
    actor.require_scope("read", source_branch)
    require_room(find_branch(actor, source_branch))
    branch = BranchManager().create_reserved_branch(
        name=name_branch(template.name, template.version),
        parent=source_branch,
        at=at,
        read_only=True,
        purpose=f"Version {template.version} of the template {template.name}",
        actor=actor,
    )
    return TemplateVersion.objects.create(
        template=template,
        number=template.version,
        branch=branch,
        source=find_branch(actor, source_branch),
        source_seq=branch.fork_seq,
        created_by=actor.label,
        created_at=actor.write_time(),
        **count_memories(branch),
    )


def require_room(source: Branch) -> None:
    """Refuse a branch that is so deep that no work could begin from its version. Raises Invalid."""
    if source.depth > MAX_SOURCE_DEPTH:
        raise Invalid(
            "The branch {name} is {depth} levels below main, {limit} is the most for a template: merge it"
            " into its parent and take that.",
            name=source.name,
            depth=source.depth,
            limit=MAX_SOURCE_DEPTH,
        )


def count_memories(branch: Branch) -> dict[str, int]:
    """Count what a branch shows, by the columns of a version."""
    models = {"fact_count": Fact, "conversation_count": Conversation, "relation_count": Relation}
    return {name: model.objects.on(branch).count() for name, model in models.items()}


def find_kept(branches: Sequence[Branch]) -> dict[int, tuple[str, Any]]:
    """Return the branches that are versions of templates: they are not archived when they are done with."""
    ids = [branch.pk for branch in branches]
    versions = TemplateVersion.objects.filter(branch__in=ids).values_list(
        "branch", "number", "template__name"
    )
    text = gettext("It is version %(n)s of the template %(name)s.")
    return {pk: (TEMPLATE, text % {"n": n, "name": name}) for pk, n, name in versions}


# ---- uses --------------------------------------------------------------------------------------------


def name_branch(template: str, number: int) -> str:
    """Return the name of the branch that a version of a template is."""
    return f"{PREFIX}{template}/v{number}"


def may_use(actor: Actor, template: Template) -> bool:
    """Return whether the actor may use the branch of a template's newest version."""
    return actor.may_use(name_branch(template.name, template.version))


def list_visible_templates(actor: Actor) -> QuerySet[Template]:
    """Return the project's templates whose branches the actor may use."""
    rows = Template.objects.filter(project=actor.project_id)
    if not actor.branch_patterns:
        return rows
    return rows.filter(pk__in=[row.pk for row in rows.only("name", "version") if may_use(actor, row)])


def attach_counts(templates: Sequence[Template]) -> None:
    """Set how often each template was used, and how often the work succeeded and failed."""
    counts = count_outcomes(row.pk for row in templates)
    for row in templates:
        succeeded, failed = counts[row.pk, Outcome.SUCCESS], counts[row.pk, Outcome.FAILURE]
        row.used = counts[row.pk, Outcome.OPEN] + succeeded + failed
        row.succeeded, row.failed = succeeded, failed


def count_outcomes(ids: Iterable[UUID]) -> Counter[tuple[UUID, str]]:
    """Count uses by template and outcome."""
    rows = TemplateUse.objects.filter(version__template__in=list(ids)).order_by()
    counted = rows.values_list("version__template", "outcome").annotate(n=Count("pk"))
    return Counter({(pk, outcome): n for pk, outcome, n in counted})


def measure_success(template: Template) -> float:
    """Return the expected share of successes: one of each counts before there is any."""
    return (template.succeeded + 1) / (template.succeeded + template.failed + 2)


def list_uses(template: Template, actor: Actor) -> list[TemplateUse]:
    """Return the newest uses of a template on branches that the actor may use."""
    return list(filter_allowed_branches(list_template_uses(template), actor)[:MAX_SHOWN])


class TaskOutcomes:
    """The part of templates in the end of a task, see DAY1["task_hooks"]."""

    def complete_agent(self, part: TaskAgent, actor: Actor) -> None:
        """Do nothing: the task goes on."""

    def complete_task(self, task: AgentTask, actor: Actor) -> None:
        """Count a success for the templates that the task's work began from."""
        end_uses(task, actor, Outcome.SUCCESS)

    def cancel_task(self, task: AgentTask, actor: Actor) -> None:
        """Count a failure likewise."""
        end_uses(task, actor, Outcome.FAILURE)


def end_uses(task: AgentTask, actor: Actor, outcome: str) -> None:
    """Set the outcome of the open uses on a task's branches, or that name the task."""
    own = Q(branch__name__startswith=f"{task.branch.name}/") | Q(task_id__in=[task.slug, str(task.pk)])
    uses = TemplateUse.objects.filter(own, version__template__project=task.project_id, outcome=Outcome.OPEN)
    uses.update(outcome=outcome, ended_at=actor.write_time())

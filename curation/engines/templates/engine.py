"""Templates: made of a branch, found for a task, instantiated, renewed by a version, deprecated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Unpack

from django.db.models import Count

from curation.engines.fields.bundles import check_slug
from curation.engines.fields.templates import (
    AFTER,
    BEFORE,
    BRANCH,
    ISOLATION,
    MAX_FOUND,
    NAME_PATTERN,
    NEW_SOURCE,
    NUMBER,
    SOURCE,
    TARGET,
    TEMPLATE,
    TEMPLATE_FILTERS,
    TEMPLATE_USE,
    WORK,
    WORK_TYPE,
    TemplateFields,
)
from curation.engines.orders import TEMPLATES
from curation.engines.templates.ranking import TemplateMatch, rank_templates
from curation.engines.templates.rows import (
    Point,
    add_version,
    attach_counts,
    find_for_type,
    find_template_row,
    find_version,
    insert_template,
    list_template_uses,
    list_uses,
    list_visible_templates,
    lock_own,
    may_use,
    name_branch,
    owns_or_curates,
    require_active,
)
from curation.models import Template, TemplateUse, TemplateVersion
from memory.actors import Actor
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.access.work_handles import get_owner_name
from memory.engines.audit.trail import record_entry
from memory.engines.branches.diff import CHANGE, KIND, POINT, BranchDiff
from memory.engines.branches.manager import BranchManager, check_name
from memory.engines.fields.base import Use
from memory.engines.fields.filters import make_filter_checks
from memory.engines.store.snapshots import forbid_patterns
from memory.engines.store.workspaces import WorkspaceEngine
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Paging, Sorting, paginate
from memory.engines.versions.lookup import MAIN
from memory.exceptions import Invalid, NotFound
from memory.models import Workspace

State, Outcome = Template.State, TemplateUse.Outcome
MAX_WORKSPACE_NAME = 100


@dataclass(frozen=True)
class Instance:
    """A branch that began from a template; with the isolation ``database`` the workspace that holds it."""

    use: TemplateUse
    workspace: Workspace | None = None


def check_name_pattern(name: str, value: Any) -> str:
    """Check for the name of a template. Raises Invalid."""
    return check_slug(name, str(TEMPLATE["name"].check(name, value)), NAME_PATTERN)


def check_task_types(name: str, value: Any) -> list[str]:
    """Check for a list of at most 20 kinds of work, each named once. Raises Invalid."""
    found = [text.strip() for text in TEMPLATE["task_types"].check(name, value)]
    return list({text.casefold(): text for text in reversed(found)}.values())[::-1]


CHECKS = TEMPLATE.field_checks(Use.CREATE) | {"name": check_name_pattern, "task_types": check_task_types}
CHANGES = {name: CHECKS[name] for name in ("description", "task_types")}
FILTERS = make_filter_checks(TEMPLATE_FILTERS)
REASON, OUTCOME = TEMPLATE["reason"].check, TEMPLATE_USE["outcome"].check


@dataclass(frozen=True)
class TemplateDetail:
    """A template with its versions, the newest first, and its newest uses."""

    template: Template
    versions: Sequence[TemplateVersion]
    uses: Sequence[TemplateUse]


@retry_methods
class TemplateEngine:
    # ---- making and changing -------------------------------------------------------------------

    def create_template(
        self,
        *,
        name: str,
        actor: Actor,
        source_branch: Annotated[str, SOURCE] = MAIN,
        at: Point = None,
        **fields: Unpack[TemplateFields],
    ) -> Template:
        """Create a template whose version 1 holds what a branch shows, now or ``at`` a point of its past.

        The version is the read-only branch ``template/<name>/v1``: it costs a row, whatever it holds.

        Raises Invalid, UnknownField, Exists, BranchExists, BranchNotFound, BranchArchived, scope and branch
        refusals.
        """
        values = c.validate({"name": name, **fields}, CHECKS)
        actor.require_scope("write", name_branch(values["name"], 1))
        now = actor.write_time()
        template = Template(
            project_id=actor.project_id,
            owner=get_owner_name(actor),
            created_by=actor.label,
            created_at=now,
            updated_at=now,
            **values,
        )
        with write_transaction():
            insert_template(template)
            source = source_branch or MAIN
            add_version(actor, template, source, at)
            record_entry(actor, "template.create", template.name, {"from": source})
        return with_counts(template)

    def update_template(
        self,
        *,
        name: str,
        new_source: Annotated[str, NEW_SOURCE],
        actor: Actor,
        at: Point = None,
        **fields: Unpack[TemplateFields],
    ) -> Template:
        """Add a version that holds what a branch shows; the former versions stay as they are.

        A deprecated template is in use again. Raises as ``create_template``, and NotFound, ScopeMissing for
        another's template without the scope curate.
        """
        changes = c.validate(fields, CHANGES)
        with write_transaction():
            template = lock_own(actor, name)
            template.version, template.updated_at = template.version + 1, actor.write_time()
            template.state, template.reason = State.ACTIVE, ""
            for field, value in changes.items():
                setattr(template, field, value)
            add_version(actor, template, new_source, at)
            template.save(update_fields=["version", "updated_at", "state", "reason", *changes])
            detail = {"from": new_source, "version": template.version}
            record_entry(actor, "template.update", template.name, detail)
        return with_counts(template)

    def deprecate_template(self, *, name: str, actor: Actor, reason: str = "") -> Template:
        """Deprecate a template: it is not found or suggested any more, and takes no new uses.

        Raises NotFound, IllegalTransition for one that is deprecated, ScopeMissing as ``update_template``.
        """
        reason = REASON("reason", reason)
        with write_transaction():
            template = lock_own(actor, name, grows=False)
            require_active(template)
            template.state, template.reason = State.DEPRECATED, reason
            template.save(update_fields=["state", "reason"])
            record_entry(actor, "template.deprecate", template.name, {"reason": reason} if reason else {})
        return with_counts(template)

    # ---- reading -------------------------------------------------------------------------------

    def get_template(self, *, name: str, actor: Actor) -> TemplateDetail:
        """Return a template with its versions and its newest uses. Raises NotFound, BranchForbidden."""
        actor.require_scope("read")
        template = with_counts(find_template_row(actor, name))
        versions = template.versions.select_related("branch", "source")
        return TemplateDetail(template, list(versions), list_uses(template, actor))

    def list_templates(
        self, *, actor: Actor, state: str = "", task_type: str = "", **paging: Unpack[Sorting]
    ) -> Page[Template]:
        """List the templates whose branches the actor may use, by name."""
        actor.require_scope("read")
        values = c.validate({"state": state, "task_type": task_type}, FILTERS)
        rows = every = list_visible_templates(actor)
        if values["task_type"]:
            rows = every = rows.filter(pk__in=find_for_type(rows, values["task_type"]))
        if values["state"]:
            rows = rows.filter(state=values["state"])
        return paginate(rows, TEMPLATES, **paging, of=every, prepare=attach_counts)

    def count_templates(self, *, actor: Actor) -> dict[str, int]:
        """Return how many templates the actor may see, by state."""
        actor.require_scope("read")
        counts = list_visible_templates(actor).order_by().values_list("state").annotate(n=Count("pk"))
        return dict.fromkeys(State.values, 0) | dict(counts)

    def find_template(
        self,
        *,
        actor: Actor,
        task_type: Annotated[str, WORK_TYPE] = "",
        description: Annotated[str, WORK] = "",
        limit: Annotated[int, MAX_FOUND] = 1,
    ) -> list[TemplateMatch]:
        """Return the templates that fit a task, the best first; none where none fits.

        Those for its kind of work come first, then those that are about what it says, then those from which
        work succeeded, then the newest. Raises Invalid without anything to go by.
        """
        actor.require_scope("read")
        task_type, description = (
            c.plain_text("task_type", task_type),
            c.plain_text("description", description),
        )
        if not task_type.strip() and not description.strip():
            raise Invalid("Give a task_type, a description, or both.", field="task_type")
        most = MAX_FOUND.check("limit", limit)
        return rank_templates(actor, task_type.strip(), description)[:most]

    def diff_template(
        self,
        *,
        name: str,
        before: Annotated[int, BEFORE],
        actor: Actor,
        after: Annotated[int | None, AFTER] = None,
        kind: Annotated[str, KIND] = "fact",
        change: Annotated[Sequence[str], CHANGE] = (),
        **paging: Unpack[Paging],
    ) -> BranchDiff:
        """Return what version ``after``, the newest by default, shows differently than version ``before``.

        The rest is as for a branch's comparison. Raises NotFound, Invalid, branch refusals.
        """
        actor.require_scope("read")
        template = find_template_row(actor, name)
        numbers = (template.version if after is None else after, before)
        names = [find_version(template, number).branch.name for number in numbers]
        return BranchManager().compare_branch(
            name=names[0], against=names[1], base=POINT, kind=kind, change=change, actor=actor, **paging
        )

    def may_change(self, *, template: Template, actor: Actor) -> bool:
        """Return whether the actor may renew or deprecate a template."""
        return actor.has_scope("write") and may_use(actor, template) and owns_or_curates(actor, template)

    # ---- using ---------------------------------------------------------------------------------

    def instantiate_template(
        self,
        *,
        name: str,
        target_branch: Annotated[str, TARGET],
        actor: Actor,
        version: Annotated[int | None, NUMBER] = None,
        isolation: Annotated[str, ISOLATION] = BRANCH,
    ) -> Instance:
        """Create a working branch that holds all that a version holds, the newest by default.

        With the isolation ``database`` it is also in a workspace of its own, a copy of the store, which needs
        the scope admin. Raises NotFound, Invalid, BranchExists, IllegalTransition for a deprecated template,
        scope and branch refusals; Conflict where no copy can be made.
        """
        if ISOLATION.check("isolation", isolation) == BRANCH:
            return Instance(self._begin_use(name, target_branch, actor, version))
        forbid_patterns(actor)
        return isolate_use(actor, target_branch, lambda: self._begin_use(name, target_branch, actor, version))

    def record_outcome(
        self, *, name: str, outcome: str, actor: Actor, branch_name: str = MAIN
    ) -> TemplateUse:
        """Record what came of the work on a branch that began from a template.

        Raises NotFound, Invalid, scope and branch refusals.
        """
        outcome = OUTCOME("outcome", c.one_of((Outcome.SUCCESS, Outcome.FAILURE))("outcome", outcome))
        actor.require_scope("write", branch_name)
        with write_transaction():
            template = find_template_row(actor, name)
            use = list_template_uses(template).filter(branch__name=branch_name).first()
            if use is None:
                raise NotFound("No branch of this name began from this template.")
            use.outcome, use.ended_at = outcome, actor.write_time()
            use.save(update_fields=["outcome", "ended_at"])
            record_entry(
                actor, "template.outcome", template.name, {"branch": branch_name, "outcome": outcome}
            )
        return use

    def _begin_use(self, name: str, target_branch: str, actor: Actor, number: int | None) -> TemplateUse:
        actor.require_scope("write", check_name(target_branch))
        with write_transaction():
            template = find_template_row(actor, name)
            require_active(template)
            version = find_version(template, template.version if number is None else number)
            branch = BranchManager().create_branch(
                name=target_branch,
                parent=version.branch.name,
                purpose=f"From {version.branch.name}",
                actor=actor,
            )
            use = TemplateUse.objects.create(
                version=version,
                branch=branch,
                task_id=actor.task_id,
                agent_id=actor.agent_id,
                created_by=actor.label,
                created_at=actor.write_time(),
            )
            detail = {"version": version.number, "branch": target_branch}
            record_entry(actor, "template.instantiate", template.name, detail)
        return use


def with_counts(template: Template) -> Template:
    """Return a template with the counts of its uses."""
    attach_counts([template])
    return template


# ---- instances in a workspace ------------------------------------------------------------------------


def isolate_use(actor: Actor, target_branch: str, begin: Callable[[], TemplateUse]) -> Instance:
    """Begin a use, and copy the store with its branch into a workspace; without the copy nothing counts.

    What is left then is the archived branch, which keeps its name: a branch is never deleted.
    The branch comes first, so that it is in the copy, and the store has not moved when that is promoted.
    """
    use = begin()
    try:
        name = target_branch[:MAX_WORKSPACE_NAME]
        workspace = WorkspaceEngine().create_workspace(
            name=name, description=f"From the template {use.version.template.name}", actor=actor
        )
    except BaseException:
        BranchManager().archive_branch(name=target_branch, actor=actor)
        use.delete()
        raise
    return Instance(use, workspace)

"""Uses of templates: which a reader sees, how often each was used, and with what outcome."""

from collections import Counter
from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import Count, QuerySet

from curation.models import Template, TemplateUse
from memory.actors import Actor
from memory.engines.versions.branch_access import filter_allowed_branches

PREFIX = "template/"
MAX_SHOWN = 50  # uses on the page of a template
Outcome = TemplateUse.Outcome


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
    rows = TemplateUse.objects.filter(version__template=template).select_related(
        "branch", "version__template"
    )
    return list(filter_allowed_branches(rows, actor)[:MAX_SHOWN])

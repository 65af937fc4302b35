"""Branch access: which branches an actor may use, as a condition on rows of branches."""

from typing import TypeVar

from django.db.models import Model, QuerySet

from memory.actors import Actor
from memory.db.querysets import Lineage
from memory.extensions import load_extensions
from memory.models import Branch

Row = TypeVar("Row", bound=Model)


def holds_untrusted(lineage: Lineage) -> bool:
    """Return whether a branch of a lineage holds what nobody has taken over yet, such as an import."""
    return any(holds_any(lineage) for holds_any in load_extensions("untrusted_branches").values())


def filter_allowed_branches(rows: QuerySet[Row], actor: Actor) -> QuerySet[Row]:
    """Filter a project's rows to those whose ``branch`` the actor may use."""
    allowed = list_allowed_branches(actor)
    return rows if allowed is None else rows.filter(branch__in=allowed)


def list_allowed_branches(actor: Actor) -> list[int] | None:
    """Return the keys of the branches that an actor may use, and None where these are all."""
    if not actor.branch_patterns:
        return None
    names = Branch.objects.filter(project=actor.project_id).values_list("pk", "name")
    return [pk for pk, name in names if actor.may_use(name)]

"""Branch access: which branches an actor may use, as a condition on rows of branches."""

from typing import TypeVar

from django.db.models import Model, QuerySet

from memory.actors import Actor
from memory.models import Branch

Row = TypeVar("Row", bound=Model)


def filter_allowed_branches(rows: QuerySet[Row], actor: Actor) -> QuerySet[Row]:
    """Filter a project's rows to those whose ``branch`` the actor may use."""
    if not actor.branch_patterns:
        return rows
    names = Branch.objects.filter(project=actor.project_id).values_list("pk", "name")
    return rows.filter(branch__in=[pk for pk, name in names if actor.may_use(name)])

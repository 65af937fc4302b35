"""Which branches an actor may use, as a condition on rows that stand on one."""

from typing import TypeVar

from django.db.models import Model, QuerySet

from memory.actors import Actor
from memory.models import Branch

Row = TypeVar("Row", bound=Model)


def within_reach(rows: QuerySet[Row], actor: Actor) -> QuerySet[Row]:
    """Those of some rows of a project whose ``branch`` the actor may use."""
    if not actor.branch_patterns:
        return rows
    names = Branch.objects.filter(project=actor.project_id).values_list("pk", "name")
    return rows.filter(branch__in=[pk for pk, name in names if actor.may_use(name)])

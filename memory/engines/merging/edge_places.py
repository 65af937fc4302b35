"""Edges whose place on the target another edge keeps, because of a conflict that nobody has settled."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from memory.engines.merging.matching import draft_row, list_edge_models, load_edges
from memory.engines.merging.plan import CONFLICT, CONFLICT_FIRST, REJECTED, FullPlan, PlanItem
from memory.models import BranchedModel


def reject_taken_places(plan: FullPlan) -> None:
    """Reject each edge whose place is not free after the merge; it comes back with the next one.

    A conflict about such an edge is undecided again: nobody shall believe that its decision was carried out.
    """
    for model in list_edge_models():
        # An edge that is rejected keeps a place that another one may have counted on.
        while taken := _find_taken(plan, model):
            for item in taken:
                if item.outcome == CONFLICT:
                    item.undecide()
                else:
                    item.reject(CONFLICT_FIRST)


def _find_taken(plan: FullPlan, model: type[BranchedModel]) -> list[PlanItem]:
    items = [item for item in plan.of_model(model) if item.arrives]
    owners = _find_owners(plan, model, items) if items else {}
    return [item for item in items if owners.setdefault(draft_row(item).identity(), item.uid) != item.uid]


def _find_owners(plan: FullPlan, model: type[BranchedModel], items: Sequence[PlanItem]) -> dict[str, UUID]:
    """Return which edge of the target keeps each place after the merge."""
    leaving = {item.uid for item in plan.of_model(model) if _leaves(item)}
    rows: dict[str, Any] = load_edges(plan, model, [draft_row(item) for item in items])
    return {identity: row.uid for identity, row in rows.items() if row.uid not in leaving}


def _leaves(item: PlanItem) -> bool:
    """Return whether the merge frees the place that an edge has on the target."""
    if item.ours is None or item.outcome == REJECTED or item.is_open:
        return False
    removed = item.removes or (item.merged is None and item.theirs.deleted)
    return bool(removed or draft_row(item).identity() != item.ours.identity())

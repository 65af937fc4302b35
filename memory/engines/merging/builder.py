"""Building of a plan, step by step: what changed, what is there already, what is decided, what it writes."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from uuid import UUID

from memory.engines.merging.absorbed import add_stand_ins, find_stand_ins
from memory.engines.merging.changes import list_changes
from memory.engines.merging.edge_places import reject_taken_places
from memory.engines.merging.matching import fork_tails, keep_last_copies, match_edges, match_equal_texts
from memory.engines.merging.owners import (
    copy_verdicts,
    fit_verdicts,
    keep_extended,
    list_missing_confirmations,
    move_verdicts,
    reject_orphans,
    settle_parts,
)
from memory.engines.merging.plan import ERASED, SOURCE, TARGET, Decision, FullPlan, MergePoints
from memory.engines.merging.similar import Compared, compare_items, mark_similar
from memory.engines.merging.squash import squash_facts
from memory.engines.merging.strategies import (
    AUTO,
    CHERRY_PICK,
    FAST_FORWARD,
    OURS,
    SQUASH,
    THEIRS,
    apply_decisions,
    count_own_commits,
    decide_all,
    name_left_halves,
    pick_items,
)
from memory.engines.merging.withdrawn import ask_about_withdrawn
from memory.engines.versions.erased import erased_uids


def build_plan(
    points: MergePoints,
    strategy: str,
    ids: Sequence[UUID] = (),
    decisions: Sequence[Decision] = (),
    compared: Compared | None = None,
) -> FullPlan:
    """Return all that a merge would do at these points. Writes nothing.

    In a transaction the new facts must have been ``compared`` before.

    Raises Invalid (a decision that does not fit, an unknown id) and Conflict (a decision on a conflict that
    has changed since).
    """
    return finish_plan(draft_plan(points, compared), strategy, ids, decisions)


def draft_plan(points: MergePoints, compared: Compared | None = None) -> FullPlan:
    """Return what the source changed and what conflicts, whatever the strategy and the decisions are."""
    plan = FullPlan(points, AUTO, list_changes(points))
    reject_erased(plan)
    plan.compared = compared = compared or compare_items(points, plan.items)
    keep_extended(plan)
    keep_last_copies(plan)
    plan.stand_ins = match_equal_texts(plan) | find_stand_ins(plan)
    mark_similar(plan, compared)
    ask_about_withdrawn(plan)
    reject_orphans(plan)
    return plan


def finish_plan(
    draft: FullPlan, strategy: str, ids: Sequence[UUID] = (), decisions: Sequence[Decision] = ()
) -> FullPlan:
    """Return the plan that a strategy and decisions make of a draft, which stays as it is."""
    plan = replace(draft, strategy=strategy, items=[copy(item) for item in draft.items])
    plan.written, plan.moved_verdicts, plan.arrivals = [], [], None
    plan.picked = frozenset(ids) if strategy == CHERRY_PICK else None
    plan.own_commits = count_own_commits(plan.points) if strategy == FAST_FORWARD else 0
    apply_strategy(plan, ids, decisions)
    add_stand_ins(plan)
    match_edges(plan)
    reject_taken_places(plan)
    settle_parts(plan)
    fork_tails(plan)
    move_verdicts(plan)
    fit_verdicts(plan)
    copy_verdicts(plan)
    plan.confirmations = list_missing_confirmations(plan)
    name_left_halves(plan)
    return plan


def reject_erased(plan: FullPlan) -> None:
    """Reject what was erased: a merge must not bring it back."""
    plan.erased = frozenset(erased_uids(plan.points.project_id, {item.uid for item in plan.items}))
    for item in plan.items:
        if item.uid in plan.erased:
            item.reject(ERASED)


def apply_strategy(plan: FullPlan, ids: Sequence[UUID], decisions: Sequence[Decision]) -> None:
    if plan.strategy == CHERRY_PICK:
        pick_items(plan, ids)
    apply_decisions(plan, decisions)
    if plan.strategy in (OURS, THEIRS):
        decide_all(plan, TARGET if plan.strategy == OURS else SOURCE)
    if plan.strategy == SQUASH:
        squash_facts(plan)

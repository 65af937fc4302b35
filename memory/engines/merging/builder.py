"""Building of a plan, step by step: what changed, what is there already, what is decided, what it writes."""

import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.utils import timezone

from memory.db.raw_select import select_by_key
from memory.db.united import read_together
from memory.engines.facts.assessment import list_sources, searchable_rows
from memory.engines.facts.rules import clean_update, compute_essence
from memory.engines.merging import matching, strategies
from memory.engines.merging.absorbed import add_stand_ins, find_stand_ins
from memory.engines.merging.changes import find_undone_merges, list_changes, load_nearest, load_reverts
from memory.engines.merging.owners import (
    copy_verdicts,
    fit_verdicts,
    keep_extended,
    list_missing_confirmations,
    load_confirmations,
    move_verdicts,
    reject_orphans,
    settle_parts,
)
from memory.engines.merging.pairs import Compared, compare_items, mark_similar, plan_commits
from memory.engines.merging.plan import (
    APPLIED,
    CONFLICT,
    CONFLICT_FIRST,
    ERASED,
    NEW,
    REJECTED,
    REVERTED,
    SOURCE,
    SQUASHED,
    TARGET,
    Decision,
    FullPlan,
    MergePoints,
    PlanItem,
)
from memory.engines.versions.erased import erased_uids, plan_erased, plan_erasures
from memory.engines.versions.graph import VersionGraph
from memory.engines.versions.repositories import find_repositories
from memory.models import OPEN, BranchedModel, Confirmation, Fact, FactLink

LINE_MARK = "- "
SHARED = ("visibility", "valid_from", "valid_until", "expires_at")  # of all parts of a squashed fact


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
    plan = FullPlan(points, strategies.AUTO, list_changes(points))
    of_project = plan_erasures(points.project_id)
    read_together([*plan_erased(points.project_id, plan.list_uids()), *plan_commits(points), *of_project])
    reject_erased(plan)
    plan.compared = compared = compared or compare_items(points, plan.items)
    keep_extended(plan)
    matching.keep_last_copies(plan)
    plan.stand_ins = matching.match_equal_texts(plan) | find_stand_ins(plan)
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
    plan.picked = frozenset(ids) if strategy == strategies.CHERRY_PICK else None
    plan.own_commits = strategies.count_own_commits(plan.points) if strategy == strategies.FAST_FORWARD else 0
    apply_strategy(plan, ids, decisions)
    add_stand_ins(plan)
    matching.match_edges(plan)
    reject_taken_places(plan)
    settle_parts(plan)
    matching.fork_tails(plan)
    move_verdicts(plan)
    fit_verdicts(plan)
    copy_verdicts(plan)
    plan.confirmations = list_missing_confirmations(plan)
    strategies.name_left_halves(plan)
    return plan


def reject_erased(plan: FullPlan) -> None:
    """Reject what was erased: a merge must not bring it back."""
    plan.erased = frozenset(erased_uids(plan.points.project_id, {item.uid for item in plan.items}))
    for item in plan.items:
        if item.uid in plan.erased:
            item.reject(ERASED)


def apply_strategy(plan: FullPlan, ids: Sequence[UUID], decisions: Sequence[Decision]) -> None:
    if plan.strategy == strategies.CHERRY_PICK:
        strategies.pick_items(plan, ids)
    strategies.apply_decisions(plan, decisions)
    if plan.strategy in (strategies.OURS, strategies.THEIRS):
        strategies.decide_all(plan, TARGET if plan.strategy == strategies.OURS else SOURCE)
    if plan.strategy == strategies.SQUASH:
        squash_facts(plan)


# ---- places of edges ---------------------------------------------------------------------------------


def reject_taken_places(plan: FullPlan) -> None:
    """Reject each edge whose place is not free after the merge; it comes back with the next one.

    A conflict about such an edge is undecided again: nobody shall believe that its decision was carried out.
    """
    for model in matching.list_edge_models():
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
    return [
        item for item in items if owners.setdefault(matching.draft_row(item).identity(), item.uid) != item.uid
    ]


def _find_owners(plan: FullPlan, model: type[BranchedModel], items: Sequence[PlanItem]) -> dict[str, UUID]:
    """Return which edge of the target keeps each place after the merge."""
    leaving = {item.uid for item in plan.of_model(model) if _leaves(item)}
    rows: dict[str, Any] = matching.load_edges(plan, model, [matching.draft_row(item) for item in items])
    return {identity: row.uid for identity, row in rows.items() if row.uid not in leaving}


def _leaves(item: PlanItem) -> bool:
    """Return whether the merge frees the place that an edge has on the target."""
    if item.ours is None or item.outcome == REJECTED or item.is_open:
        return False
    removed = item.removes or (item.merged is None and item.theirs.deleted)
    return bool(removed or matching.draft_row(item).identity() != item.ours.identity())


# ---- squash ------------------------------------------------------------------------------------------


def squash_facts(plan: FullPlan) -> None:
    """Make one fact of the new ones that a search of the source finds, which arrive archived: linked to each,
    and no surer than the least. Those for other readers, of another repository or of another time are apart:
    what stands alone, or is not found, arrives as it is.
    """
    items = [item for item in plan.of_model(Fact) if item.outcome == APPLIED and item.reason == NEW]
    items = [item for item in items if item.ours is None and item.theirs.status in Fact.SEARCHED]
    for group in group_items(plan.points, items):
        if len(group) > 1:
            _squash_group(plan, group)


def group_items(points: MergePoints, items: Sequence[PlanItem]) -> list[list[PlanItem]]:
    """Return the items that a search of the source finds, by who may read them, where and when they hold."""
    rows = searchable_rows(points.source.lineage(points.source_seq), timezone.now())
    found = {uid for (uid,) in rows.select_by_key(("uid",), "uid", [item.uid for item in items])}
    shown = [item for item in items if item.uid in found]
    repositories = find_repositories(points.project_id, [item.theirs for item in shown])
    groups: dict[tuple, list[PlanItem]] = {}
    for item, repository in zip(shown, repositories, strict=True):
        bounds = [getattr(item.theirs, name) for name in SHARED]
        groups.setdefault((repository, *bounds), []).append(item)
    return list(groups.values())


def _squash_group(plan: FullPlan, items: Sequence[PlanItem]) -> None:
    for item in items:
        archived = {"status": Fact.Status.ARCHIVED, "held_status": item.theirs.status}
        item.merged, item.reason = {**item.theirs.content_values(), **archived}, SQUASHED
    (repository,) = set(find_repositories(plan.points.project_id, [item.theirs for item in items]))
    fact = _build_squashed([item.theirs for item in items], repository)
    links = [_build_source_link(fact, item.theirs) for item in items]
    plan.written += [fact, *links]


def _build_squashed(facts: Sequence[Fact], repository: str) -> Fact:
    text = "\n".join(f"{LINE_MARK}{fact.essence}" for fact in facts)
    key = uuid.uuid5(facts[0].uid, ":".join(str(fact.vid) for fact in facts))
    content = clean_update({"fact_text": text})
    fact = Fact(
        uid=key,
        essence=compute_essence(facts[0].essence),
        category=Counter(fact.category for fact in facts).most_common(1)[0][0],
        confidence=min(fact.confidence for fact in facts),
        source_type=Fact.SourceType.MERGE,
        tags=sorted({tag for fact in facts for tag in fact.tags}),
        repository=repository,
        **{name: getattr(facts[0], name) for name in SHARED},
        **content,
    )
    fact.compute_hashes()
    return fact


def _build_source_link(fact: Fact, source: Fact) -> FactLink:
    return FactLink(from_id=fact.uid, to_id=source.uid, link_type=FactLink.Type.CONSOLIDATED_FROM)


# ---- confirmations that a revert withdrew ------------------------------------------------------------


@dataclass(frozen=True)
class Withdrawal:
    """A confirmation that a commit of the target's lineage took back."""

    uid: UUID
    source: str
    branch: int
    seq: int

    @property
    def point(self) -> tuple[int, int]:
        return self.branch, self.seq


def ask_about_withdrawn(plan: FullPlan) -> None:
    """Make a conflict of each fact of which a revert withdrew confirmations that the source still has."""
    withdrawn: dict[UUID, Withdrawal] = {}
    for one in find_withdrawn(plan):
        withdrawn[one.uid] = max(one, withdrawn.get(one.uid, one), key=lambda each: each.seq)
    erased = erased_uids(plan.points.project_id, withdrawn)
    uids, items = sorted(withdrawn.keys() - erased), plan.index_items()
    ours = load_nearest(Fact, plan.points.target_lineage, uids)
    theirs = load_nearest(Fact, plan.points.source_lineage, uids)
    graph = VersionGraph.load(Fact, uids)
    for uid in (uid for uid in uids if uid in ours and uid in theirs):
        pair = ours[uid], theirs[uid]
        if not any(row.deleted for row in pair) and not is_settled(withdrawn[uid], *pair, graph):
            _ask(plan, items.get((Fact.KIND.name, uid)), *pair)


def _ask(plan: FullPlan, item: PlanItem | None, ours: Any, theirs: Any) -> None:
    if item is None:
        item = PlanItem(Fact, ours.uid, CONFLICT, REVERTED, ours=ours, theirs=theirs, base=ours)
        item.merged = ours.content_values()
        plan.items.append(item)
    if item.outcome != REJECTED:
        # What the source changed of the fact waits with them, and comes whatever is decided of them.
        if item.merged is None:
            item.merged = item.theirs.content_values()
        item.outcome, item.reason, item.removes = CONFLICT, REVERTED, False


def find_withdrawn(plan: FullPlan) -> Iterator[Withdrawal]:
    """Yield the source's confirmations that a revert of a merge took back on the target."""
    pairs = {(row.uid, row.source) for row in load_confirmations(plan)}
    uids = {uid for uid, _source in pairs}
    left = pairs - list_sources(uids, plan.points.target_lineage) if pairs else set()
    found = [
        one for one in _load_closed(plan, {uid for uid, _source in left}) if (one.uid, one.source) in left
    ]
    undone = find_undone_merges(load_reverts({one.point for one in found}))
    yield from (one for one in found if one.point in undone)


def _load_closed(plan: FullPlan, uids: Iterable[UUID]) -> Iterator[Withdrawal]:
    for branch, limit in plan.points.target_lineage:
        closed = Confirmation.objects.filter(branch_id=branch, seq_to__lte=limit).exclude(seq_to=OPEN)
        rows = select_by_key(closed, ("uid", "source", "branch_id", "seq_to"), "uid", sorted(uids))
        yield from (Withdrawal(*values) for values in rows)


def is_settled(one: Withdrawal, ours: Any, theirs: Any, graph: VersionGraph) -> bool:
    """Return whether the target's version comes from a merge that settled the fact after the withdrawal."""
    settled = Fact._base_manager.filter(
        uid=one.uid, branch_id=one.branch, seq_from__gt=one.seq, vid__in=graph.list_ancestors(ours.vid)
    )
    return settled.filter(merged_vid__in=graph.list_ancestors(theirs.vid)).exists()

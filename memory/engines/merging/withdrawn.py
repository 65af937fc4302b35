"""Confirmations that the revert of a merge withdrew: the next merge asks once whether they come back."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.engines.facts.assessment import list_sources
from memory.engines.merging.changes import load_nearest
from memory.engines.merging.histories import find_undone_merges, load_reverts
from memory.engines.merging.owners import load_confirmations
from memory.engines.merging.plan import CONFLICT, REJECTED, REVERTED, FullPlan, PlanItem
from memory.engines.support.batches import batched
from memory.engines.versions.erased import erased_uids
from memory.engines.versions.graph import VersionGraph
from memory.models import OPEN, Confirmation, Fact

BATCH_SIZE = 500


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
        for batch in batched(sorted(uids), BATCH_SIZE):
            rows = Confirmation.objects.filter(branch_id=branch, uid__in=batch, seq_to__lte=limit)
            closed = rows.exclude(seq_to=OPEN).values_list("uid", "source", "branch_id", "seq_to")
            yield from (Withdrawal(*values) for values in closed)


def is_settled(one: Withdrawal, ours: Any, theirs: Any, graph: VersionGraph) -> bool:
    """Return whether the target's version comes from a merge that settled the fact after the withdrawal."""
    settled = Fact._base_manager.filter(
        uid=one.uid, branch_id=one.branch, seq_from__gt=one.seq, vid__in=graph.list_ancestors(ours.vid)
    )
    return settled.filter(merged_vid__in=graph.list_ancestors(theirs.vid)).exists()

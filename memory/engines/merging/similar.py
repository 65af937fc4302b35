"""New facts that nearly equal or contradict a fact of the target: conflicts of two memories."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from memory.engines.merging.changes import load_nearest
from memory.engines.merging.pairs import Pairs, find_pairs
from memory.engines.merging.plan import APPLIED, CONFLICT, NEW, FullPlan, MergePoints, PlanItem
from memory.engines.support.timed_cache import TimedCache
from memory.engines.versions.erased import count_erasures
from memory.models import Commit, Fact, FactAssessment

Key = tuple[Hashable, ...]
CACHE_SIZE = 64  # comparisons that a process remembers; each has ids alone
CACHE_SECONDS = 60.0  # facts expire, and providers come back


@dataclass(frozen=True)
class Compared:
    """The pairs of new facts, and which facts were compared at all."""

    pairs: Pairs = field(default_factory=Pairs)
    uids: frozenset[UUID] = frozenset()


# Comparisons of this process by the points of their plans, which pages, decisions and the merge share.
# Versions do not change, but by an erasure, so one stays true; one that lacks vectors is not kept.
comparisons: TimedCache[Compared] = TimedCache(CACHE_SIZE, CACHE_SECONDS)


def build_key(points: MergePoints) -> Key:
    """Return what a comparison depends on: the commits at both points, and the erasures.

    A restored store may have other commits at the same seqs.
    """
    at = ((points.source, points.source_seq), (points.target, points.target_seq))
    commits = [
        Commit.objects.filter(branch=one, seq=seq).values_list("pk", flat=True).first() for one, seq in at
    ]
    return (*points.key, *commits, count_erasures(points.project_id))


def compare_items(points: MergePoints, items: Sequence[PlanItem]) -> Compared:
    """Return how the facts that are new on the source compare with those of the target."""
    key = build_key(points)
    if (compared := comparisons.get(key)) is None:
        compared = _compare(points, items)
        if not compared.pairs.unchecked:
            comparisons.put(key, compared)
    return compared


def _compare(points: MergePoints, items: Sequence[PlanItem]) -> Compared:
    facts = [item.theirs for item in items if item.model is Fact and is_new(item)]
    pairs = find_pairs(
        facts,
        source=points.source_lineage,
        target=points.target_lineage,
        project_id=points.project_id,
        exclude={item.uid for item in items if item.model is Fact} | _list_refuted(points, items),
    )
    return Compared(pairs, frozenset(fact.uid for fact in facts))


def _list_refuted(points: MergePoints, items: Sequence[PlanItem]) -> set[UUID]:
    """Return the facts of the target that are judged to be wrong once the merge is done."""
    arriving = [item.theirs for item in items if item.model is FactAssessment and item.outcome == APPLIED]
    wrong = [row for row in arriving if row.status == FactAssessment.Status.INVALIDATED and not row.deleted]
    facts = load_nearest(Fact, points.target_lineage, [row.uid for row in wrong])
    return {row.uid for row in wrong if row.uid in facts and facts[row.uid].judged_hash == row.judged_hash}


def is_new(item: PlanItem) -> bool:
    return item.outcome == APPLIED and item.reason == NEW and item.ours is None


def mark_similar(plan: FullPlan, compared: Compared) -> None:
    """Make a conflict of each new fact that has a pair; what was not compared is listed as unchecked."""
    items = [item for item in plan.of_model(Fact) if is_new(item)]
    found = compared.pairs.found
    uids = sorted({found[item.uid].other_uid for item in items if item.uid in found})
    others = load_nearest(Fact, plan.points.target_lineage, uids)
    for item in items:
        pair = found.get(item.uid)
        other = others.get(pair.other_uid) if pair else None
        if pair and other is not None and not other.deleted:
            item.outcome, item.reason = CONFLICT, str(pair.kind)
            item.other, item.score = other, pair.cosine
    missing = set(compared.pairs.unchecked) | {item.uid for item in items if item.uid not in compared.uids}
    plan.unchecked = [item.uid for item in items if item.uid in missing and item.outcome == APPLIED]
    plan.unchecked_reason = str(compared.pairs.reason)

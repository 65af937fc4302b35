"""New facts that nearly equal or contradict a fact of the target: conflicts of two memories."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from memory.engines.merging.changes import compare_model, load_nearest
from memory.engines.merging.pairs import Pairs, find_pairs
from memory.engines.merging.plan import APPLIED, CONFLICT, NEW, FullPlan, MergePoints, PlanItem
from memory.models import Fact


@dataclass(frozen=True)
class Compared:
    """The pairs of new facts, and which facts were compared at all."""

    pairs: Pairs = field(default_factory=Pairs)
    uids: frozenset[UUID] = frozenset()


def compare_new_facts(points: MergePoints) -> Compared:
    """Compare the facts that are new on the source with those of the target.

    To be called outside of a transaction: see ``find_pairs``.
    """
    return compare_items(points, compare_model(Fact, points))


def compare_items(points: MergePoints, items: Sequence[PlanItem]) -> Compared:
    facts = [item.theirs for item in items if is_new(item)]
    pairs = find_pairs(
        facts,
        source=points.source_lineage,
        target=points.target_lineage,
        project_id=points.project_id,
        exclude={item.uid for item in items},
    )
    return Compared(pairs, frozenset(fact.uid for fact in facts))


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

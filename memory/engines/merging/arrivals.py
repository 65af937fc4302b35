"""What a merge brings to its target, as it is decided: the memories that gates look at."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.engines.facts.assessment import Verdict, load_verdicts
from memory.engines.facts.rules import is_same
from memory.engines.merging.changes import RANK
from memory.engines.merging.plan import (
    BOTH,
    CONFLICT,
    EDIT,
    SIMILAR,
    SQUASHED,
    FullPlan,
    PlanItem,
)
from memory.engines.versions.kinds import compared_fields
from memory.models import BranchedModel, Fact, FactAssessment, hashes

RETIRED = frozenset({Fact.Status.ARCHIVED, Fact.Status.SUPERSEDED})
JUDGED = ("fact_text", "essence", "category")  # what a verdict is on


@dataclass(frozen=True)
class Arrival:
    """A memory that the merge brings: the content that the target will show, and the version before."""

    kind: str
    uid: UUID
    values: Mapping[str, Any]
    before: BranchedModel | None = None

    @property
    def retired(self) -> bool:
        return self.values.get("status") in RETIRED

    def brings(self, name: str) -> bool:
        """Return whether a field has a value that the target does not show yet."""
        value = self.values.get(name)
        return bool(value) and (self.before is None or not is_same(getattr(self.before, name), value))


@dataclass(frozen=True)
class Standing:
    """What a verdict says of a fact as it arrives; without one it is unverified."""

    status: str = FactAssessment.Status.UNVERIFIED
    method: str = ""


def list_undecided(plan: FullPlan) -> list[PlanItem]:
    """Return the conflicts that neither the strategy nor a decision settles; to skip one is a decision."""
    return [item for item in plan.items if item.outcome == CONFLICT and item.decision is None]


def list_arrivals(plan: FullPlan) -> list[Arrival]:
    """Return what arrives of any kind: no removals, and nothing that was left out or stays as it is."""
    if plan.arrivals is None:  # several gates ask
        found = [one for item in plan.items for one in _describe_item(item)]
        plan.arrivals = found + [_describe_row(row) for row in plan.written if not isinstance(row, Fact)]
    return plan.arrivals


def list_arriving_facts(plan: FullPlan) -> list[Arrival]:
    """Return the facts that arrive and are in use. Facts that a squash archives count, as the parts of the
    one that stands for them.
    """
    return [one for one in list_arrivals(plan) if one.kind == "fact" and not one.retired]


def _describe_item(item: PlanItem) -> Iterator[Arrival]:
    if item.arrives and not _stays_the_same(item):
        before = None if item.ours is None or item.ours.deleted else item.ours
        yield Arrival(item.kind, item.uid, _get_content(item), before)
    if item.decision is None:
        return
    if item.decision.choice == BOTH and item.reason not in SIMILAR:
        yield _describe_row(item.theirs)
    if item.decision.choice == EDIT and item.other is not None:
        yield Arrival(item.kind, item.other.uid, {**item.other.content_values(), **item.other_content})


def _describe_row(row: BranchedModel) -> Arrival:
    return Arrival(row.KIND.name, row.uid, row.content_values())


def _get_content(item: PlanItem) -> dict[str, Any]:
    content = item.theirs.content_values() if item.merged is None else dict(item.merged)
    if item.reason == SQUASHED:
        content["status"] = item.theirs.status
    return content


def _stays_the_same(item: PlanItem) -> bool:
    """Return whether the target shows the same before and after: what was decided for its side."""
    if item.ours is None or item.ours.deleted:
        return False
    content = _get_content(item)
    return all(is_same(getattr(item.ours, name), content[name]) for name in compared_fields(item.model))


def load_standings(facts: Sequence[Arrival], plan: FullPlan) -> dict[UUID, Standing]:
    """Return the verdict on each fact as it arrives: the source's and the target's on the same content."""
    uids = {fact.uid for fact in facts}
    points = plan.points
    sides = [load_verdicts(uids, one) for one in (points.source_lineage, points.target_lineage)]
    return {fact.uid: choose_standing(fact, [side.get(fact.uid) for side in sides]) for fact in facts}


def choose_standing(fact: Arrival, sides: Sequence[Verdict | None]) -> Standing:
    judged = hashes.judged_hash(*(fact.values[name] for name in JUDGED))
    verdicts = [verdict for verdict in sides if verdict and verdict.judged_hash == judged]
    strongest = max(verdicts, key=lambda one: RANK.index(one.status), default=None)
    return Standing(strongest.status, strongest.method) if strongest else Standing()

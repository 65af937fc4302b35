"""What a merge brings to its target, as decided: the memories that gates look at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.engines.facts.assessment import load_assessments
from memory.engines.merging.decisions import Decision
from memory.engines.merging.options import MergeOptions
from memory.engines.merging.plan import FullPlan, PlanItem
from memory.models import Fact, FactAssessment, MergeDecision, MergeRequest, hashes

Choice, Strategy = MergeDecision.Choice, MergeRequest.Strategy
RETIRED = frozenset({Fact.Status.ARCHIVED, Fact.Status.SUPERSEDED})
JUDGED = ("fact_text", "essence", "category")  # what a verdict is on
# A verdict that refuses goes before one that confirms.
WEIGHTS = {FactAssessment.Status.INVALIDATED: 2, FactAssessment.Status.VERIFIED: 1}


@dataclass(frozen=True)
class Arrival:
    """A memory that the merge brings, with the content that the target will show."""

    kind: str
    uid: UUID
    values: Mapping[str, Any]

    @property
    def retired(self) -> bool:
        return self.values.get("status") in RETIRED


@dataclass(frozen=True)
class Standing:
    """What a verdict says of a fact as it arrives; without one it is unverified."""

    status: str = FactAssessment.Status.UNVERIFIED
    method: str = ""


def list_conflicts(plan: FullPlan, options: MergeOptions) -> list[PlanItem]:
    """Return the conflicts of a plan."""
    return [item for item in plan.items if item.outcome == "conflict"]


def list_undecided(plan: FullPlan, options: MergeOptions) -> list[PlanItem]:
    """Return the conflicts that neither the strategy nor a decision on their present state settles."""
    if options.strategy in (Strategy.OURS, Strategy.THEIRS):
        return []
    decided = index_decisions(options.decisions)
    return [item for item in list_conflicts(plan, options) if find_decision(item, decided) is None]


def index_decisions(decisions: Sequence[Decision]) -> dict[tuple[str, UUID], Decision]:
    return {(one.kind, one.uid): one for one in decisions}


def find_decision(item: PlanItem, decided: Mapping[tuple[str, UUID], Decision]) -> Decision | None:
    """Return the decision on a conflict as it is now."""
    decision = decided.get((item.kind, item.uid))
    return decision if decision and decision.token in ("", item.token) else None


def list_arrivals(plan: FullPlan, options: MergeOptions, kind: str = "") -> list[Arrival]:
    """Return what arrives, of one kind or of all: no tombstones, no retired facts, and nothing that was left
    out or settled for the target.
    """
    decided = index_decisions(options.decisions)
    items = (item for item in plan.items if kind in ("", item.kind))
    found = (build_arrival(item, choose_side(item, decided, options.strategy)) for item in items)
    return [one for one in found if one and not one.retired]


def choose_side(item: PlanItem, decided: Mapping[tuple[str, UUID], Decision], strategy: str) -> Decision | None:
    """Return how an item comes along; None where it does not."""
    arrives = Decision(item.uid, Choice.SOURCE, item.token, "", item.kind)
    if item.outcome == "applied":
        return arrives
    if item.outcome != "conflict":
        return None
    decision = find_decision(item, decided) or (arrives if strategy == Strategy.THEIRS else None)
    return decision if decision and decision.choice not in (Choice.TARGET, Choice.SKIP) else None


def build_arrival(item: PlanItem, decision: Decision | None) -> Arrival | None:
    if decision is None or item.theirs is None or item.theirs.deleted:
        return None
    values = dict(item.theirs.content_values())
    if item.outcome == "applied":
        values |= {name: sides[3] for name, sides in item.fields.items() if name in values}
    if decision.choice == Choice.EDITED:
        values["fact_text"] = decision.text
    return Arrival(item.kind, item.uid, values)


def load_verdicts(facts: Sequence[Arrival], plan: FullPlan, options: MergeOptions) -> dict[UUID, Standing]:
    """Return the verdict on each fact as it arrives: the source's and the target's on the same content."""
    uids = [fact.uid for fact in facts]
    sides = [
        load_assessments(uids, options.source.lineage(plan.source_seq)),
        load_assessments(uids, options.target.lineage(plan.target_seq)),
    ]
    return {fact.uid: choose_standing(fact, [side[fact.uid] for side in sides]) for fact in facts}


def choose_standing(fact: Arrival, sides: Sequence[Any]) -> Standing:
    judged = hashes.judged_hash(*(fact.values[name] for name in JUDGED))
    verdicts = [verdict for side in sides if (verdict := side.get_current_verdict(judged))]
    strongest = max(verdicts, key=lambda one: WEIGHTS.get(one.status, 0), default=None)
    return Standing(strongest.status, strongest.method) if strongest else Standing()

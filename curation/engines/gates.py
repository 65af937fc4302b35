"""The verification gate of merges, which DAY1["merge_gates"] names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.utils.translation import gettext_noop as _

from memory.engines.merging.arrivals import list_arriving_facts, load_standings
from memory.engines.merging.gates import (
    FAILED,
    MAX_NAMED_IDS,
    PASSED,
    WARNING,
    GateResult,
    build_result,
)
from memory.engines.merging.options import MergeOptions
from memory.engines.merging.plan import FullPlan
from memory.engines.versions.policies import Policy
from memory.models import FactAssessment

HEURISTIC = FactAssessment.Method.HEURISTIC
VERIFIED, INVALIDATED = FactAssessment.Status.VERIFIED, FactAssessment.Status.INVALIDATED


@dataclass(frozen=True)
class ArrivingFacts:
    """Facts that a merge brings: judged to be wrong, verified by an accepted method, and the others."""

    wrong: list[UUID] = field(default_factory=list)
    accepted: dict[UUID, str] = field(default_factory=dict)
    open: list[UUID] = field(default_factory=list)


def check_verdicts(name: str, plan: FullPlan, options: MergeOptions, policy: Policy) -> GateResult:
    """Fail unless each fact that arrives is verified by a method that the policy accepts."""
    found = sort_arrivals(plan, policy)
    if found.wrong or found.open:
        return _refuse_facts(name, found.wrong, found.open)
    return _pass_facts(name, found.accepted)


def sort_arrivals(plan: FullPlan, policy: Policy) -> ArrivingFacts:
    """Return the facts that arrive by what the gate makes of their verdicts."""
    verdicts = load_standings(list_arriving_facts(plan), plan)
    found = ArrivingFacts()
    for uid, verdict in verdicts.items():
        if verdict.status == INVALIDATED:
            found.wrong.append(uid)
        elif verdict.status == VERIFIED and verdict.method in policy.accept_methods:
            found.accepted[uid] = verdict.method
        else:
            found.open.append(uid)
    return found


def _refuse_facts(name: str, wrong: Sequence[UUID], open_facts: Sequence[UUID]) -> GateResult:
    text = _("Facts without a verdict that counts: {count}.")
    if wrong:
        text = _("Facts that were judged to be wrong: {wrong}; without a verdict that counts: {count}.")
    counts = {"wrong": len(wrong), "count": len(open_facts)}
    ids = (*wrong, *open_facts)[:MAX_NAMED_IDS]
    return GateResult(name, FAILED, text, counts, ids, len(wrong) + len(open_facts), "kind=fact")


def _pass_facts(name: str, methods: Mapping[UUID, str]) -> GateResult:
    weak = [uid for uid, method in methods.items() if method == HEURISTIC]
    if weak:
        text = _("Facts verified by the heuristic alone, which measures little more than length: {count}.")
        return build_result(name, WARNING, text, weak, "kind=fact")
    if not methods:
        return build_result(name, PASSED, _("No fact arrives."))
    return build_result(
        name, PASSED, _("Facts that arrive, all of them verified: {count}."), count=len(methods)
    )

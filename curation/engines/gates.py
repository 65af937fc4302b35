"""The verification gate of merges, which DAY1["merge_gates"] names."""

from collections.abc import Mapping, Sequence
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


def check_verdicts(name: str, plan: FullPlan, options: MergeOptions, policy: Policy) -> GateResult:
    """Fail unless each fact that arrives is verified by a method that the policy accepts."""
    facts = list_arriving_facts(plan)
    verdicts = load_standings(facts, plan)
    wrong = [fact.uid for fact in facts if verdicts[fact.uid].status == INVALIDATED]
    accepted = {
        fact.uid: verdicts[fact.uid].method
        for fact in facts
        if verdicts[fact.uid].status == VERIFIED and verdicts[fact.uid].method in policy.accept_methods
    }
    open_facts = [fact.uid for fact in facts if fact.uid not in accepted and fact.uid not in wrong]
    if wrong or open_facts:
        return _refuse_facts(name, wrong, open_facts)
    return _pass_facts(name, accepted)


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

"""The verification gate of merges, which DAY1["merge_gates"] names."""

from dataclasses import dataclass, field
from uuid import UUID

from django.utils.translation import gettext_noop as _

from curation.engines.verification_run import find_judge
from memory.engines.facts.bulk_actions import MAX_FACTS
from memory.engines.merging.gates import (
    FAILED,
    MAX_NAMED_IDS,
    PASSED,
    GateResult,
    build_result,
    list_arriving_facts,
    load_standings,
)
from memory.engines.merging.plan import FullPlan
from memory.engines.merging.strategies import MergeOptions
from memory.engines.versions.policies import Policy
from memory.models import FactAssessment

HUMAN, JUDGE = FactAssessment.Method.HUMAN, FactAssessment.Method.JUDGE
VERIFIED, INVALIDATED = FactAssessment.Status.VERIFIED, FactAssessment.Status.INVALIDATED
WRONG = _(
    "Facts that were judged to be wrong: {wrong}; without a verdict that counts: {count}. Archive the wrong"
    " ones on {source} or leave them out, and have the others verified."
)
# What to do about facts without a verdict, by whether a person's counts, and how far a judge's can.
REMEDIES = {
    (True, "set"): _(
        "Facts without a verdict that counts: {count}. Have a person verify them on {source}, all in one"
        " action, or the judge rate them, or ask for less in the policy of {target}."
    ),
    (True, "missing"): _(
        "Facts without a verdict that counts: {count}. Have a person verify them on {source}, all in one"
        " action, or set a judge (DAY1_JUDGE_MODEL), or ask for less in the policy of {target}."
    ),
    (True, "refused"): _(
        "Facts without a verdict that counts: {count}. Have a person verify them on {source}, all in one"
        " action, or ask for less in the policy of {target}."
    ),
    (False, "set"): _(
        "Facts without a verdict that counts: {count}. Have the judge rate them on {source}, or ask for less"
        " in the policy of {target}."
    ),
    (False, "missing"): _(
        "Facts without a verdict that counts: {count}. Set a judge (DAY1_JUDGE_MODEL) and have it rate them"
        " on {source}, or ask for less in the policy of {target}."
    ),
}


@dataclass(frozen=True)
class ArrivingFacts:
    """Facts that a merge brings: judged to be wrong, verified by an accepted method, and the others.

    ``takes_people`` says whether a person's verdict counts.
    """

    takes_people: bool
    wrong: list[UUID] = field(default_factory=list)
    accepted: list[UUID] = field(default_factory=list)
    open: list[UUID] = field(default_factory=list)

    @property
    def verifiable(self) -> tuple[UUID, ...]:
        """Return those that would pass if a person verified them, as many as one action takes."""
        return tuple(self.open[:MAX_FACTS]) if self.takes_people else ()


def check_verdicts(name: str, plan: FullPlan, options: MergeOptions, policy: Policy) -> GateResult:
    """Fail unless each fact that arrives is verified by a method that the policy accepts."""
    found = sort_arrivals(plan, policy)
    if found.wrong or found.open:
        return _refuse_facts(name, found, options, policy)
    if not found.accepted:
        return build_result(name, PASSED, _("No fact arrives."))
    count = len(found.accepted)
    return build_result(name, PASSED, _("Facts that arrive, all of them verified: {count}."), count=count)


def sort_arrivals(plan: FullPlan, policy: Policy) -> ArrivingFacts:
    """Return the facts that arrive by what the gate makes of their verdicts."""
    verdicts = load_standings(list_arriving_facts(plan), plan)
    found = ArrivingFacts(takes_people=HUMAN in policy.accept_methods)
    for uid, verdict in verdicts.items():
        if verdict.status == INVALIDATED:
            found.wrong.append(uid)
        elif verdict.status == VERIFIED and verdict.method in policy.accept_methods:
            found.accepted.append(uid)
        else:
            found.open.append(uid)
    return found


def _refuse_facts(name: str, found: ArrivingFacts, options: MergeOptions, policy: Policy) -> GateResult:
    """Return the refusal, which says what to do about it."""
    counts = {"wrong": len(found.wrong), "count": len(found.open)}
    data = {**counts, "source": options.source.name, "target": options.target.name}
    ids = (*found.wrong, *found.open)
    text = WRONG if found.wrong else REMEDIES[found.takes_people, _find_judging(policy)]
    return GateResult(name, FAILED, text, data, ids[:MAX_NAMED_IDS], len(ids), "kind=fact", found.verifiable)


def _find_judging(policy: Policy) -> str:
    """Return whether a judge's verdict can come: one is set, missing, or refused by the policy."""
    if JUDGE not in policy.accept_methods:
        return "refused"
    return "missing" if find_judge()[0] is None else "set"

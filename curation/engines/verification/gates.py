"""The verification gate of merges, for DAY1["merge_gates"], and what verification says of a branch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated
from uuid import UUID

from django.utils.translation import gettext_noop as _

from curation.engines.verification.run import find_judge
from memory.actors import Actor
from memory.engines.branches.stats import count_verification, sum_groups, tally_values, tally_verdicts
from memory.engines.facts.bulk_actions import MAX_FACTS
from memory.engines.fields.base import Field
from memory.engines.fields.types import Flag, Reference
from memory.engines.merging import gates
from memory.engines.merging.conflict_decisions import load_plan
from memory.engines.merging.plan import FullPlan
from memory.engines.merging.strategies import MergeOptions, find_branches
from memory.engines.versions.lookup import MAIN, find_branch
from memory.engines.versions.policies import Policy, find_policy
from memory.exceptions import Conflict
from memory.models import Fact, FactAssessment

HUMAN, JUDGE = FactAssessment.Method.HUMAN, FactAssessment.Method.JUDGE
VERIFIED, INVALIDATED = FactAssessment.Status.VERIFIED, FactAssessment.Status.INVALIDATED
WRONG = _(
    "Facts that were judged to be wrong: {wrong}; unverified: {count}. Archive the wrong"
    " ones on {source} or leave them out, and have the others verified."
)
# What to do about facts without a verdict, by whether a person's counts, and how far a judge's can.
REMEDIES = {
    (True, "set"): _(
        "Unverified facts: {count}. Have a person verify them on {source}, all in one"
        " action, or the judge rate them, or ask for less in the policy of {target}."
    ),
    (True, "missing"): _(
        "Unverified facts: {count}. Have a person verify them on {source}, all in one"
        " action, or set a judge (DAY1_JUDGE_MODEL), or ask for less in the policy of {target}."
    ),
    (True, "refused"): _(
        "Unverified facts: {count}. Have a person verify them on {source}, all in one"
        " action, or ask for less in the policy of {target}."
    ),
    (False, "set"): _(
        "Unverified facts: {count}. Have the judge rate them on {source}, or ask for less"
        " in the policy of {target}."
    ),
    (False, "missing"): _(
        "Unverified facts: {count}. Set a judge (DAY1_JUDGE_MODEL) and have it rate them"
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


def check_verdicts(name: str, plan: FullPlan, options: MergeOptions, policy: Policy) -> gates.GateResult:
    """Fail unless each fact that arrives is verified by a method that the policy accepts."""
    found = sort_arrivals(plan, policy)
    if found.wrong or found.open:
        return _refuse_facts(name, found, options, policy)
    if not found.accepted:
        return gates.build_result(name, gates.PASSED, _("No fact arrives."))
    count = len(found.accepted)
    return gates.build_result(
        name, gates.PASSED, _("Facts that arrive, all of them verified: {count}."), count=count
    )


def sort_arrivals(plan: FullPlan, policy: Policy) -> ArrivingFacts:
    """Return the facts that arrive by what the gate makes of their verdicts."""
    verdicts = gates.load_standings(gates.list_arriving_facts(plan), plan)
    found = ArrivingFacts(takes_people=HUMAN in policy.accept_methods)
    for uid, verdict in verdicts.items():
        if verdict.status == INVALIDATED:
            found.wrong.append(uid)
        elif verdict.status == VERIFIED and verdict.method in policy.accept_methods:
            found.accepted.append(uid)
        else:
            found.open.append(uid)
    return found


def _refuse_facts(name: str, found: ArrivingFacts, options: MergeOptions, policy: Policy) -> gates.GateResult:
    """Return the refusal, which says what to do about it."""
    counts = {"wrong": len(found.wrong), "count": len(found.open)}
    data = {**counts, "source": options.source.name, "target": options.target.name}
    ids = (*found.wrong, *found.open)
    text = WRONG if found.wrong else REMEDIES[found.takes_people, _find_judging(policy)]
    return gates.GateResult(
        name, gates.FAILED, text, data, ids[: gates.MAX_NAMED_IDS], len(ids), "kind=fact", found.verifiable
    )


def _find_judging(policy: Policy) -> str:
    """Return whether a judge's verdict can come: one is set, missing, or refused by the policy."""
    if JUDGE not in policy.accept_methods:
        return "refused"
    return "missing" if find_judge()[0] is None else "set"


MAX_OFFENDING = 100  # facts that an answer names
SOURCE = Field("source_branch", Reference(200, 1))
TARGET = Field("target_branch", Reference(200, 1), "The parent by default.")
REQUIRE_VERIFIED = Field("require_verified", Flag(), "True by default.")


@dataclass(frozen=True)
class Summary:
    """What verification says of a branch."""

    branch: str
    facts: int
    verification: Annotated[Mapping[str, int], "Facts by verdict."]
    methods: Annotated[Mapping[str, int], "Verdicts on present texts by method."]
    judge: Annotated[str | None, "The model that judges; null: the heuristic alone rates."]


@dataclass(frozen=True)
class MergeReadiness:
    """Whether what a branch would bring passes the verification gate."""

    source: str
    target: str
    can_merge: bool
    verified: int
    unverified: Annotated[int, "Plausible ones and those by a method that does not count included."]
    invalidated: int
    offending: Annotated[Sequence[UUID], "The first 100 facts that stop it."]
    verifiable: Annotated[
        Sequence[UUID],
        "The first 1,000 that would pass once a person verifies them, which one action of"
        " POST /facts/actions on the source does.",
    ]


def summarize_branch(*, branch_name: str, actor: Actor) -> Summary:
    """Return what verification says of a branch. Needs the scope read. Raises BranchNotFound."""
    actor.require_scope("read", branch_name)
    lineage = find_branch(actor, branch_name).lineage()
    facts = sum(tally_values(Fact.objects.in_lineage, "status", lineage).values())
    verdicts = tally_verdicts(lineage)
    judge, _problem = find_judge()
    return Summary(
        branch_name,
        facts,
        count_verification(lineage, facts, sum_groups(verdicts, 0)),
        dict(sum_groups(verdicts, 1)),
        judge.model if judge else None,
    )


def check_merge_gate(
    *,
    source_branch: Annotated[str, SOURCE],
    actor: Actor,
    target_branch: Annotated[str, TARGET] = "",
    require_verified: Annotated[bool, REQUIRE_VERIFIED] = True,
) -> MergeReadiness:
    """Return whether the facts that a merge would bring may pass; the target is the parent by default.

    An invalidated fact always stops it; with ``require_verified`` each must be verified, by a method that
    the policy of the target accepts. Needs the scope read on both. Raises BranchNotFound, BranchArchived,
    Conflict.
    """
    actor.require_scope("read", source_branch)
    target = target_branch or find_parent(actor, source_branch)
    actor.require_scope("read", target)
    options = MergeOptions(*find_branches(actor, source_branch, target))
    plan = load_plan(options, options.points)
    found = sort_arrivals(plan, find_policy(actor.project_id, target))
    offending = (*found.wrong, *(found.open if require_verified else ()))
    return MergeReadiness(
        source_branch,
        target,
        can_merge=not offending,
        verified=len(found.accepted),
        unverified=len(found.open),
        invalidated=len(found.wrong),
        offending=offending[:MAX_OFFENDING],
        verifiable=found.verifiable,
    )


def find_parent(actor: Actor, name: str) -> str:
    """Return the branch that another was forked from. Raises Conflict for main."""
    parent = find_branch(actor, name).parent
    if parent is None:
        raise Conflict("{name} has no parent: name the branch to merge into.", name=name or MAIN)
    return parent.name

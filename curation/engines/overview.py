"""What verification says of a branch: its counts, and whether it may be merged."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from curation.engines.gates import sort_arrivals
from curation.engines.verification_run import find_judge
from memory.actors import Actor
from memory.engines.branches.stats import count_verification, sum_groups, tally_values, tally_verdicts
from memory.engines.fields.base import Field
from memory.engines.fields.types import Flag, Reference
from memory.engines.merging.settling import load_plan
from memory.engines.merging.strategies import MergeOptions, find_branches
from memory.engines.versions.lookup import MAIN, find_branch
from memory.engines.versions.policies import find_policy
from memory.exceptions import Conflict
from memory.models import Fact

MAX_OFFENDING = 100  # facts that an answer names
SOURCE = Field("source_branch", Reference(200, 1))
TARGET = Field("target_branch", Reference(200, 1), "The parent by default.")
REQUIRE_VERIFIED = Field("require_verified", Flag(), "True by default.")


@dataclass(frozen=True)
class Summary:
    """Counts of a branch's facts by verdict, and of the verdicts on their present texts by method.

    ``judge`` is the model that judges, None where the heuristic alone rates.
    """

    branch: str
    facts: int
    verification: Mapping[str, int]
    methods: Mapping[str, int]
    judge: str | None


@dataclass(frozen=True)
class MergeReadiness:
    """Whether a merge may pass the verification gate; ``offending`` are the first facts that stop it.

    ``verifiable`` are those that would not, if a person verified them: as many as one action takes.
    """

    source: str
    target: str
    can_merge: bool
    verified: int
    unverified: int
    invalidated: int
    offending: tuple[UUID, ...]
    verifiable: tuple[UUID, ...]


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

"""Merges under the policy of their target: gates and approvals are checked, and what was checked is merged."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from memory.actors import Actor
from memory.db.retry import retry_methods
from memory.engines.audit.trail import record_entry
from memory.engines.merging.approvals import check_approvals
from memory.engines.merging.arrivals import list_undecided
from memory.engines.merging.branch_policy import Policy, find_policy
from memory.engines.merging.decisions import Decision
from memory.engines.merging.engine import MergeEngine, MergePlan, MergeResult
from memory.engines.merging.gates import FAILED, MAX_NAMED_IDS, GateResult, run_gates
from memory.engines.merging.options import MergeOptions, check_strategy, find_branches
from memory.engines.merging.plan import FullPlan, build_plan
from memory.engines.merging.request_rows import close_merged, lock_request
from memory.engines.merging.settling import check_decision, describe_conflict, refuse_outdated
from memory.engines.versions.lookup import MAIN
from memory.exceptions import Conflict, Unavailable
from memory.models import Branch
from memory.models.nodes import next_rid

MAX_TRIES = 5  # checks of a merge whose branches go on moving
FORCED = "merge.force"
merge_engine = MergeEngine()


@dataclass(frozen=True)
class MergeCheck:
    """Results of all checks of a merge, and the seqs of both branches that they hold for."""

    options: MergeOptions
    policy: Policy
    plan: FullPlan
    results: tuple[GateResult, ...]

    @property
    def failed(self) -> list[GateResult]:
        return [result for result in self.results if result.state == FAILED]

    @property
    def mergeable(self) -> bool:
        return not self.failed

    @property
    def undecided(self) -> int:
        return len(list_undecided(self.plan, self.options))


@dataclass(frozen=True)
class MergePreview:
    """A page of a plan, and what the policy of the target says of it."""

    plan: MergePlan
    check: MergeCheck


@retry_methods
class GuardedMergeEngine:
    """Merges of one branch into another without a merge request."""

    def preview_merge(
        self,
        *,
        source: str,
        actor: Actor,
        target: str = MAIN,
        strategy: str = "auto",
        ids: Sequence[UUID] = (),
        decisions: Sequence[Decision] = (),
        **page: Any,
    ) -> MergePreview:
        """Return a page of what a merge would do, and the results of its checks; nothing is written.

        Raises as ``merge_branch``, except for checks that fail.
        """
        options = build_options(actor, source, target, strategy, ids, decisions)
        plan = merge_engine.plan_merge(
            source=source, target=target, strategy=options.strategy, ids=options.ids, actor=actor, **page
        )
        return MergePreview(plan, check_merge(options, actor))

    def merge_branch(
        self,
        *,
        source: str,
        actor: Actor,
        target: str = MAIN,
        strategy: str = "auto",
        ids: Sequence[UUID] = (),
        decisions: Sequence[Decision] = (),
        message: str = "",
        force: bool = False,
    ) -> MergeResult:
        """Merge a branch into another, when the gates and approvals of the target's policy allow it.

        ``force`` merges in spite of them: it needs the scope admin, and is audited. Raises Invalid, Conflict
        (a gate that fails, a decision on what has changed since), BranchNotFound, BranchArchived, scope and
        branch refusals.
        """
        actor.require_scope("admin" if force else "merge", target)
        options = build_options(actor, source, target, strategy, ids, decisions)
        next_rid.ensure_lease()
        return merge_checked(options, actor, message, force)


def build_options(
    actor: Actor,
    source: str,
    target: str,
    strategy: str,
    ids: Sequence[UUID],
    decisions: Sequence[Decision],
) -> MergeOptions:
    for name in (source, target):
        actor.require_scope("read", name)
    branches = find_branches(actor, source, target)
    checked = tuple(check_decision(one, index) for index, one in enumerate(decisions))
    return MergeOptions(*branches, *check_strategy(strategy, ids), checked)


def check_merge(options: MergeOptions, actor: Actor) -> MergeCheck:
    """Check a merge as both branches are now."""
    policy = find_policy(actor.project_id, options.target.name)
    plan = load_plan(options, actor)
    if options.request is None:
        refuse_outdated(plan, options.decisions)
    results = run_gates(plan, options, policy)
    if policy.approvals:
        results.append(check_approvals(options.request, policy))
    return MergeCheck(options, policy, plan, tuple(results))


def load_plan(options: MergeOptions, actor: Actor) -> FullPlan:
    return build_plan(
        options.source, options.target, strategy=options.strategy, ids=options.ids, actor=actor
    )


def merge_checked(options: MergeOptions, actor: Actor, message: str, force: bool) -> MergeResult:
    """Merge what passed the checks. A branch that moved in between is checked again.

    Providers and long reads stay out of the transaction that has the locks.
    """
    for _ in range(MAX_TRIES):
        check = check_merge(options, actor)
        if check.failed and not force:
            raise refuse_merge(check)
        with transaction.atomic(savepoint=False):
            request = options.request and lock_request(options.request)
            if lock_heads(options) == (check.plan.source_seq, check.plan.target_seq):
                result = _merge(check, actor, message, force)
                if request:
                    close_merged(request, result.commit, actor)
                return result
    raise Unavailable()


def _merge(check: MergeCheck, actor: Actor, message: str, force: bool) -> MergeResult:
    options = check.options
    result = merge_engine.merge_branch(
        source=options.source.name,
        target=options.target.name,
        actor=actor,
        strategy=options.strategy,
        ids=options.ids,
        decisions=options.decisions,
        message=message,
        request=options.request,
    )
    if force and check.failed:
        gates = [result.name for result in check.failed]
        detail = {"source": options.source.name, "gates": gates}
        record_entry(actor, FORCED, options.target.name, detail)
    return result


def lock_heads(options: MergeOptions) -> tuple[int, int]:
    """Lock both branches, in the order of their ids as every merge does; return their heads."""
    keys = (options.source.pk, options.target.pk)
    rows = Branch.objects.select_for_update().filter(pk__in=keys).order_by("pk")
    heads = {row.pk: row.head for row in rows}
    return heads[keys[0]], heads[keys[1]]


def refuse_merge(check: MergeCheck) -> Conflict:
    """Return the refusal of a merge with its gates, the reasons, and the memories that are at fault."""
    failed = check.failed
    ids = dict.fromkeys(uid for result in failed for uid in result.ids)
    return Conflict(
        "The merge is refused by {gates}: {reason}",
        gates=", ".join(result.name for result in failed),
        reason=" ".join(result.reason for result in failed),
        ids=[str(uid) for uid in ids],
        conflicts=[describe_conflict(item) for item in list_undecided(check.plan, check.options)[:MAX_NAMED_IDS]],
    )

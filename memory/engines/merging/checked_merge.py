"""The merge itself: what is written is the plan that passed the gates and approvals of the target."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from django.utils.translation import gettext_noop as _

from memory.actors import Actor
from memory.db.transactions import write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.merging.approvals import APPROVALS, check_approvals
from memory.engines.merging.conflict_decisions import describe_conflict, load_decisions, load_plan
from memory.engines.merging.gates import (
    FAILED,
    HIDDEN,
    HIDDEN_REASON,
    MAX_NAMED_IDS,
    GateResult,
    list_required,
    list_undecided,
    run_gates,
    run_required,
)
from memory.engines.merging.plan import FullPlan
from memory.engines.merging.plan_pages import Counts
from memory.engines.merging.request_rows import NOTHING_TO_MERGE, close_merged, lock_request
from memory.engines.merging.strategies import FAST_FORWARD, MergeOptions
from memory.engines.merging.writes import write_plan
from memory.engines.support import validation as c
from memory.engines.support.idempotency import Keep, keep_nothing
from memory.engines.versions.commits import MERGE, lock_branches, open_commit
from memory.engines.versions.erased import erased_uids
from memory.engines.versions.policies import Policy, Write, find_policy
from memory.exceptions import Conflict
from memory.models import Commit, MergeRequest
from memory.models.usage import check_room

MAX_TRIES = 3  # checks of a merge whose branches go on moving; after the last one they stand still
FORCED = "merge.force"
CHANGES = "changes"  # the check that a request has something to merge
NO_FAST_FORWARD = _("{name} has {count} commits of its own: it cannot be fast-forwarded.")


@dataclass(frozen=True)
class Checked:
    """The results of the checks that the policy of a target wants."""

    results: tuple[GateResult, ...]
    policy: Policy

    @property
    def failed(self) -> list[GateResult]:
        return [result for result in self.results if result.state == FAILED]

    @property
    def mergeable(self) -> bool | None:
        """Return whether all checks pass; None where that is hidden."""
        if self.failed:
            return False
        return None if any(result.state == HIDDEN for result in self.results) else True


@dataclass(frozen=True)
class MergeCheck(Checked):
    """The same with the whole plan that was checked."""

    plan: FullPlan


@dataclass(frozen=True)
class MergeResult:
    """What a merge did. Without a ``commit`` there was nothing to do; ``open_conflicts`` are left."""

    commit: Commit | None
    counts: Counts
    open_conflicts: int
    check: MergeCheck  # as it was at the merge; failed where it was forced
    request: MergeRequest | None = None  # that was merged


Check = Callable[[FullPlan, MergeOptions], MergeCheck]
AnyCheck = TypeVar("AnyCheck", bound=Checked)


# ---- checks --------------------------------------------------------------------------------------------


def check_plan(plan: FullPlan, options: MergeOptions) -> MergeCheck:
    """Ask the gates of the target's policy, and for its approvals; a request must have something to merge."""
    policy = find_target_policy(options)
    results = run_gates(plan, options, policy) + run_required(plan, options, policy)
    if policy.approvals:
        results.append(check_approvals(options.request, policy))
    if options.request is not None and plan.is_empty and not list_undecided(plan):
        names = {"source": options.source.name, "target": options.target.name}
        results.append(GateResult(CHANGES, FAILED, NOTHING_TO_MERGE, names))
    if plan.own_commits:
        results.append(refuse_fast_forward(plan))
    return MergeCheck(tuple(results), policy, plan)


def hide_check(options: MergeOptions) -> Checked:
    """Return the checks of a merge for who may not read the target: approvals alone depend on nothing that it
    holds. Each other one is listed, whatever it says, and nothing is planned.
    """
    policy = find_target_policy(options)
    own = (FAST_FORWARD,) if options.strategy == FAST_FORWARD else ()
    data = {"target": options.target.name}
    results = [GateResult(name, HIDDEN, HIDDEN_REASON, data) for name in (*policy.gates, CHANGES, *own)]
    if policy.approvals:
        results.append(check_approvals(options.request, policy))
    return Checked(tuple(results), policy)


def refuse_fast_forward(plan: FullPlan) -> GateResult:
    """Return the failed check of a target that has commits which did not come from the source."""
    data = {"name": plan.points.target.name, "count": plan.own_commits}
    return GateResult(FAST_FORWARD, FAILED, NO_FAST_FORWARD, data)


def renew_approvals(check: AnyCheck, request: MergeRequest) -> AnyCheck:
    """Return a check with the approvals of a request as they are now."""
    approvals = check_approvals(request, check.policy)
    results = (approvals if one.name == APPROVALS else one for one in check.results)
    return replace(check, results=tuple(results))


def find_target_policy(options: MergeOptions) -> Policy:
    return find_policy(options.target.project_id, options.target.name)


# ---- the merge -----------------------------------------------------------------------------------------
CHECK_MESSAGE = c.redact_stored(c.text_check(500))


def merge_checked(
    options: MergeOptions,
    actor: Actor,
    message: str,
    force: bool = False,
    checker: Check = check_plan,
    keep: Keep = keep_nothing,
) -> MergeResult:
    """Merge what passed the checks; conflicts that are not decided are left out, and come back later.

    So that a long plan and its checks do not keep other writers waiting, they come before the locks. Where a
    branch or a decision changed in between, all is planned again; only where somebody writes all the time is
    the last plan made under the locks, with the texts compared as they were just before. ``keep`` is called
    with the result in the transaction of the merge. Raises Conflict.
    """
    check_room(actor.project_id)
    message = CHECK_MESSAGE("message", message)
    for is_last in (False,) * (MAX_TRIES - 1) + (True,):
        check = require_passed(checker(load_plan(options, options.points), options), force)
        with write_transaction():
            now = lock_options(options, actor)
            is_current = is_unchanged(options, now, check)
            if is_last and not is_current:
                plan = load_plan(now, now.points, check.plan.compared)
                check = require_passed(checker(plan, now), force)
            if is_last or is_current:
                result = _write_merge(now, check, actor, message)
                keep(result)
                return result
        options = now
    raise AssertionError("the last try merges or refuses")


def require_passed(check: MergeCheck, force: bool) -> MergeCheck:
    """Return a check that allows the merge. Raises Conflict for one that failed and is not overruled.

    No force makes a fast-forward of what is none: another strategy merges it. Nor does it overrule a check
    that every merge must pass.
    """
    binding = {FAST_FORWARD, *list_required()}
    if check.failed and (not force or any(one.name in binding for one in check.failed)):
        raise refuse_merge(check)
    return check


def lock_options(options: MergeOptions, actor: Actor) -> MergeOptions:
    """Lock the request and both branches; return the options with their heads and decisions as they are now.

    Raises IllegalTransition for a request that was closed meanwhile, BranchArchived.
    """
    request = options.request and lock_request(options.request, with_approvals=True)
    locked = lock_branches(actor, (options.source.name, options.target.name))
    decisions = load_decisions(request) if request else options.decisions
    source, target = (locked[one.name] for one in (options.source, options.target))
    if request:
        request.source, request.target = source, target
    return replace(options, source=source, target=target, decisions=decisions, request=request)


def is_unchanged(options: MergeOptions, now: MergeOptions, check: MergeCheck) -> bool:
    """Return whether a plan is still what its branches would give.

    Versions do not change, but for those of erased memories: a plan read before must not bring them back.
    Approvals are withdrawn, and end with a decision that was withdrawn and made again.
    """
    if now.state != options.state or find_target_policy(now) != check.policy:
        return False
    if now.request and renew_approvals(check, now.request).results != check.results:
        return False
    if run_required(check.plan, now, check.policy):  # verdicts and quarantines move no head
        return False
    return erased_uids(options.source.project_id, check.plan.list_uids()) <= check.plan.erased


def _write_merge(options: MergeOptions, check: MergeCheck, actor: Actor, message: str) -> MergeResult:
    """Write the plan in one commit on the target, which is locked and where the plan was made."""
    source, target, plan = options.source, options.target, check.plan
    title = message or f"Merge of {source.name} into {target.name}."
    with open_commit(actor, target.name, MERGE, title, write=Write.EXEMPT, bounded=False) as commit:
        # Without a seq only a part of the source was taken: the rest is still ahead.
        commit.source = source, source.head if plan.takes_all else None
        write_plan(commit, plan)
    if check.failed:
        gates = [result.name for result in check.failed]
        record_entry(actor, FORCED, target.name, {"source": source.name, "gates": gates})
    if options.request is not None:
        close_merged(options.request, commit.commit, plan.points, actor)
    return MergeResult(commit.commit, plan.count_items(), len(plan.open_conflicts), check, options.request)


def refuse_merge(check: MergeCheck) -> Conflict:
    """Return the refusal of a merge with its gates, the reasons, and the memories that are at fault."""
    ids = dict.fromkeys(uid for result in check.failed for uid in result.ids)
    return Conflict(
        "The merge is refused by {gates}: {reason}",
        gates=", ".join(result.name for result in check.failed),
        reason=" ".join(result.reason for result in check.failed),
        ids=[str(uid) for uid in ids],
        conflicts=[describe_conflict(item) for item in list_undecided(check.plan)[:MAX_NAMED_IDS]],
    )

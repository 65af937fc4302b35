"""Merges under the policy of their target: what is merged is what passed its gates and approvals."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from django.db import transaction

from memory.actors import Actor
from memory.db.retry import retry_methods
from memory.engines.audit.trail import record_entry
from memory.engines.merging.approvals import check_approvals
from memory.engines.merging.arrivals import list_undecided
from memory.engines.merging.builder import build_plan
from memory.engines.merging.engine import (
    MergePlan,
    MergeResult,
    check_filter,
    cut_page,
    merge_branches,
    summarise_plan,
)
from memory.engines.merging.gates import FAILED, MAX_NAMED_IDS, GateResult, run_gates
from memory.engines.merging.options import MergeOptions, find_branches, parse_strategy
from memory.engines.merging.plan import Decision, FullPlan, MergePoints
from memory.engines.merging.request_rows import close_merged, lock_request
from memory.engines.merging.settling import (
    check_decision,
    describe_conflict,
    load_decisions,
    refuse_outdated,
    select_current,
)
from memory.engines.merging.similar import Compared
from memory.engines.merging.strategies import AUTO
from memory.engines.support.pagination import check_limit, mark_from, parse_count, read_cursor
from memory.engines.versions.commits import lock_branches
from memory.engines.versions.lookup import MAIN, resolve_own_point
from memory.engines.versions.policies import Policy, find_policy
from memory.exceptions import Conflict
from memory.models.nodes import next_rid

MAX_TRIES = 3  # checks of a merge whose branches go on moving; after the last one they stand still
FORCED = "merge.force"


@dataclass(frozen=True)
class MergeCheck:
    """A whole plan, and the results of the checks that the policy of the target wants."""

    plan: FullPlan
    results: tuple[GateResult, ...]
    policy: Policy

    @property
    def failed(self) -> list[GateResult]:
        return [result for result in self.results if result.state == FAILED]

    @property
    def mergeable(self) -> bool:
        return not self.failed


@dataclass(frozen=True)
class MergePreview:
    """A page of a plan, and what the policy of the target says of all of it."""

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
        strategy: str = AUTO,
        ids: Sequence[UUID] = (),
        decisions: Sequence[Decision] = (),
        kind: str = "",
        classes: Sequence[str] = (),
        limit: int = 50,
        cursor: str = "",
    ) -> MergePreview:
        """Return a page of what a merge would do, and the results of its checks; nothing is written.

        Needs the scope read on both branches. Raises as ``merge_branch``, except for checks that fail.
        """
        options = build_options(actor, source, target, strategy, ids, decisions)
        plan, page = plan_page(options, kind, classes, limit, cursor)
        return MergePreview(page, check_plan(plan, options))

    def merge_branch(
        self,
        *,
        source: str,
        actor: Actor,
        target: str = MAIN,
        strategy: str = AUTO,
        ids: Sequence[UUID] = (),
        decisions: Sequence[Decision] = (),
        message: str = "",
        force: bool = False,
    ) -> MergeResult:
        """Merge a branch into another, when the gates and approvals of the target's policy allow it.

        ``force`` merges in spite of them: it needs the scope admin, and is audited. Raises Invalid, Conflict
        (merge into itself, a check that fails, a decision on what has changed since), BranchNotFound,
        BranchArchived, scope and branch refusals.
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
    return MergeOptions(*branches, *parse_strategy(strategy, ids), checked)


# ---- plans and checks ----------------------------------------------------------------------------------


def get_heads(options: MergeOptions) -> MergePoints:
    source, target = options.source, options.target
    return MergePoints(source.project_id, source, source.head, target, target.head)


def load_plan(options: MergeOptions, points: MergePoints, compared: Compared | None = None) -> FullPlan:
    """Return the whole plan at some points, with the decisions that still hold.

    Decisions that came with the merge are refused when a conflict has changed since; those of a request are
    left out, so that the conflict is undecided again. What was ``compared`` at these points need not be
    compared again. Raises Conflict.
    """
    strategy, ids = options.strategy, options.ids
    try:
        return build_plan(points, strategy, ids, options.decisions, compared)
    except Conflict as error:
        if "changed" not in error.data:
            raise
    bare = build_plan(points, strategy, ids, (), compared)
    if options.request is None:
        refuse_outdated(bare, options.decisions)
    return build_plan(points, strategy, ids, select_current(bare, options.decisions), bare.compared)


def plan_page(
    options: MergeOptions, kind: str, classes: Sequence[str], limit: int, cursor: str
) -> tuple[FullPlan, MergePlan]:
    """Return a plan and a page of it; further pages stay at the points of the first. Raises Invalid."""
    check_limit(limit)
    key = (options.source.pk, options.target.pk, options.strategy, options.ids, kind, list(classes))
    mark = mark_from(repr(key))
    position = read_cursor(cursor, mark)
    points = replace(
        get_heads(options),
        source_seq=resolve_own_point(options.source, position.get("source")),
        target_seq=resolve_own_point(options.target, position.get("target")),
    )
    plan = load_plan(options, points)
    pin = {"list": mark, "source": points.source_seq, "target": points.target_seq}
    items = plan.select_items(*check_filter(kind, classes))
    page = cut_page(items, parse_count(position.get("key", "0")), limit, pin)
    return plan, summarise_plan(plan, page)


def check_merge(options: MergeOptions) -> MergeCheck:
    """Check a merge as both branches are now."""
    return check_plan(load_plan(options, get_heads(options)), options)


def check_plan(plan: FullPlan, options: MergeOptions) -> MergeCheck:
    policy = find_target_policy(options)
    results = run_gates(plan, options, policy)
    if policy.approvals:
        results.append(check_approvals(options.request, policy))
    return MergeCheck(plan, tuple(results), policy)


def find_target_policy(options: MergeOptions) -> Policy:
    return find_policy(options.target.project_id, options.target.name)


# ---- the merge -----------------------------------------------------------------------------------------


def merge_checked(options: MergeOptions, actor: Actor, message: str, force: bool) -> MergeResult:
    """Merge what passed the checks. Where a branch or a decision changed in between, all is checked again.

    So that long checks do not keep other writers waiting, they come before the locks; only where somebody
    writes all the time does the last one come under them, with the texts compared as they were just before.
    """
    for is_last in (False,) * (MAX_TRIES - 1) + (True,):
        check = require_passed(check_merge(options), force)
        with transaction.atomic(savepoint=False):
            now = lock_options(options, actor)
            is_current = now.state == options.state and find_target_policy(now) == check.policy
            if is_last and not is_current:
                plan = load_plan(now, get_heads(now), check.plan.compared)
                check = require_passed(check_plan(plan, now), force)
            if is_last or is_current:
                return _merge(now, check, actor, message, force)
        options = now
    raise AssertionError("the last try merges or refuses")


def require_passed(check: MergeCheck, force: bool) -> MergeCheck:
    """Return a check that allows the merge. Raises Conflict for one that failed and is not overruled."""
    if check.failed and not force:
        raise refuse_merge(check)
    return check


def lock_options(options: MergeOptions, actor: Actor) -> MergeOptions:
    """Lock the request and both branches; return the options with their heads and decisions as they are now.

    Raises IllegalTransition for a request that was closed meanwhile, BranchArchived.
    """
    request = options.request and lock_request(options.request)
    locked = lock_branches(actor, (options.source.name, options.target.name))
    decisions = load_decisions(request) if request else options.decisions
    source, target = (locked[one.name] for one in (options.source, options.target))
    return replace(options, source=source, target=target, decisions=decisions, request=request)


def _merge(options: MergeOptions, check: MergeCheck, actor: Actor, message: str, force: bool) -> MergeResult:
    result = merge_branches(
        actor,
        options.source.name,
        options.target.name,
        strategy=options.strategy,
        ids=options.ids,
        decisions=_applied_decisions(check.plan, options),
        message=message,
        compared=check.plan.compared,
    )
    if force and check.failed:
        gates = [result.name for result in check.failed]
        record_entry(actor, FORCED, options.target.name, {"source": options.source.name, "gates": gates})
    if options.request is not None:
        close_merged(options.request, result.commit, actor)
    return result


def _applied_decisions(plan: FullPlan, options: MergeOptions) -> list[Decision]:
    """Return the decisions that the plan was made with, but for those that a strategy overrules."""
    items = plan.index_items()
    return [
        one for one in options.decisions if (item := items.get((one.kind, one.uid))) and item.decision == one
    ]


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

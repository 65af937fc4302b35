"""MergeEngine: merges of one branch into another under the policy of the target, without a merge request."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from memory.actors import Actor
from memory.db.transactions import retry_methods
from memory.engines.merging.checked_merge import MergeCheck, MergeResult, check_plan, merge_checked
from memory.engines.merging.conflict_decisions import check_decisions, keep_latest, load_plan
from memory.engines.merging.plan import Decision, PlanItem
from memory.engines.merging.plan_pages import MergePlan, PlanQuery, cut_plan, find_points
from memory.engines.merging.plan_views import PlanView
from memory.engines.merging.strategies import (
    AUTO,
    MergeOptions,
    find_branches,
    parse_strategy,
    require_on_target,
)
from memory.engines.support.idempotency import Keep, keep_nothing
from memory.engines.support.pagination import Page
from memory.engines.versions.lookup import MAIN


@dataclass(frozen=True)
class MergePreview:
    """A page of a plan, and what the policy of the target says of all of it."""

    plan: MergePlan
    check: MergeCheck


@retry_methods
class MergeEngine:
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
        """Return a page of what a merge would do now, and the results of its checks; nothing is written.

        Further pages stay at the points of the first. Needs the scope read on both branches. Raises as
        ``merge_branch``, except for checks that fail.
        """
        options = build_options(actor, source, target, strategy, ids, decisions)
        query = PlanQuery(kind, classes, limit, cursor)
        plan = load_plan(options, find_points(options, query))
        return MergePreview(cut_plan(PlanView.from_plan(plan), options, query), check_plan(plan, options))

    def list_changes(
        self, *, source: str, actor: Actor, target: str = MAIN, classes: Sequence[str] = (), limit: int = 50
    ) -> Page[PlanItem]:
        """Return the first memories of some classes that a merge would have, without the results of checks.

        Needs the scope read on both branches. Raises as ``preview_merge``.
        """
        options, query = build_options(actor, source, target, AUTO, (), ()), PlanQuery("", classes, limit)
        plan = load_plan(options, find_points(options, query))
        return cut_plan(PlanView.from_plan(plan), options, query).page

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
        keep: Keep = keep_nothing,
    ) -> MergeResult:
        """Merge a branch into another, when the gates and approvals of the target's policy allow it.

        ``force`` merges in spite of them: it needs the scope admin, and is audited. What conflicts and is not
        decided is then left out, and comes back with the next merge. ``keep`` is called with the result, in
        the transaction of the merge. Raises Invalid, Conflict (merge into
        itself, a check that fails, a decision on what has changed since), BranchNotFound, BranchArchived,
        scope and branch refusals.
        """
        require_on_target(actor, "admin" if force else "merge", target)
        options = build_options(actor, source, target, strategy, ids, decisions)
        return merge_checked(options, actor, message, force, keep=keep)


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
    checked = keep_latest(check_decisions(decisions))
    return MergeOptions(*branches, *parse_strategy(strategy, ids), checked)

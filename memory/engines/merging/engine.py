"""MergeEngine: the plan of a three-way merge, and the merge itself."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import transaction

from memory.actors import Actor
from memory.db.budget import count_fitting, count_row_bytes
from memory.db.retry import retry_methods
from memory.engines.merging.builder import build_plan
from memory.engines.merging.plan import CLASSES, Decision, FullPlan, MergePoints, PlanItem
from memory.engines.merging.similar import Compared, compare_new_facts
from memory.engines.merging.strategies import AUTO, check_strategy
from memory.engines.merging.writes import write_plan
from memory.engines.support import validation as c
from memory.engines.support.pagination import (
    PAGE_BYTES,
    Page,
    check_limit,
    mark_from,
    parse_count,
    read_cursor,
    write_cursor,
)
from memory.engines.versions.commits import MERGE, lock_branches, open_commit
from memory.engines.versions.kinds import models_by_kind
from memory.engines.versions.lookup import MAIN, find_branch, resolve_own_point
from memory.engines.versions.policies import Write
from memory.exceptions import BranchArchived, Conflict
from memory.models import Branch, Commit
from memory.models.nodes import next_rid

Counts = dict[str, dict[str, int]]


@dataclass(frozen=True)
class MergePlan:
    """A page of what a merge would do, conflicts first. ``counts`` is kind -> class -> number."""

    source: Branch
    source_seq: int
    target: Branch
    target_seq: int
    strategy: str
    counts: Counts
    open_conflicts: int
    unchecked: int
    unchecked_reason: str
    page: Page[PlanItem]


@dataclass(frozen=True)
class MergeResult:
    """What a merge did. Without a ``commit`` there was nothing to do; ``open_conflicts`` are left."""

    commit: Commit | None
    counts: Counts
    open_conflicts: int


@retry_methods
class MergeEngine:
    def plan_merge(
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
    ) -> MergePlan:
        """Return what merging ``source`` into ``target`` would do now; further pages stay at its points.

        Raises Invalid, BranchNotFound, BranchArchived, Conflict (merge into itself, decisions on conflicts
        that have changed), scope and branch refusals.
        """
        check_limit(limit)
        mark = mark_from(repr((source, target, strategy, sorted(ids), kind, list(classes))))
        position = read_cursor(cursor, mark)
        points = find_points(actor, source, target, position)
        plan = build_plan(points, check_strategy(strategy, ids), ids, decisions)
        items = plan.select_items(*check_filter(kind, classes))
        start = parse_count(position.get("key", "0"))
        pin = {"list": mark, "source": points.source_seq, "target": points.target_seq}
        return summarise_plan(plan, cut_page(items, start, limit, pin))

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
    ) -> MergeResult:
        """Merge in one commit; what conflicts and is not decided is left out and comes back with the next.

        Raises as ``plan_merge``.
        """
        actor.require_scope("merge", target)
        actor.require_scope("read", source)
        return merge_branches(
            actor, source, target, strategy=strategy, ids=ids, decisions=decisions, message=message
        )


def find_points(actor: Actor, source: str, target: str, position: dict[str, Any]) -> MergePoints:
    """Return the points of a plan: those of its first page, else the present heads."""
    for name in (source, target):
        actor.require_scope("read", name)
    points = load_points(actor, source, target)
    seqs = {
        side: resolve_own_point(branch, position.get(side))
        for side, branch in (("source", points.source), ("target", points.target))
    }
    return replace(points, source_seq=seqs["source"], target_seq=seqs["target"])


def load_points(actor: Actor, source: str, target: str) -> MergePoints:
    """Return the present heads. Raises Conflict, BranchNotFound, BranchArchived."""
    check_branches(source, target)
    one, other = find_branch(actor, source), find_branch(actor, target)
    for branch in (one, other):
        if branch.archived_at:
            raise BranchArchived(name=branch.name)
    return MergePoints(actor.project_id, one, one.head, other, other.head)


def check_branches(source: str, target: str) -> None:
    if source == target:
        raise Conflict("A branch cannot be merged into itself.")


def merge_branches(
    actor: Actor,
    source: str,
    target: str,
    *,
    strategy: str = AUTO,
    ids: Sequence[UUID] = (),
    decisions: Sequence[Decision] = (),
    message: str = "",
    compared: Compared | None = None,
) -> MergeResult:
    """Merge without a check of the actor's scopes; the caller has checked them.

    In a transaction of the caller the new facts must have been ``compared`` before.
    """
    check_branches(source, target)
    check_strategy(strategy, ids)
    compared = compared or compare_new_facts(load_points(actor, source, target))
    next_rid.ensure_lease()
    with transaction.atomic(savepoint=False):
        locked = lock_branches(actor, (source, target))
        title = message or f"Merge of {source} into {target}."
        with open_commit(actor, target, MERGE, title, write=Write.EXEMPT, bounded=False) as commit:
            merged = locked[source]
            points = MergePoints(actor.project_id, merged, merged.head, commit.branch, commit.seq - 1)
            plan = build_plan(points, strategy, ids, decisions, compared)
            # Without a seq only a part of the source was taken: the rest is still ahead.
            commit.source = merged, merged.head if plan.takes_all else None
            write_plan(commit, plan)
    return MergeResult(commit.commit, plan.count_items(), len(plan.open_conflicts))


def summarise_plan(plan: FullPlan, page: Page[PlanItem]) -> MergePlan:
    points = plan.points
    return MergePlan(
        source=points.source,
        source_seq=points.source_seq,
        target=points.target,
        target_seq=points.target_seq,
        strategy=plan.strategy,
        counts=plan.count_items(),
        open_conflicts=len(plan.open_conflicts),
        unchecked=len(plan.unchecked),
        unchecked_reason=plan.unchecked_reason,
        page=page,
    )


def cut_page(items: Sequence[PlanItem], start: int, limit: int, pin: dict[str, Any]) -> Page[PlanItem]:
    """Return a page of a plan's items, within the bytes of a page."""
    batch = items[start : start + limit]
    fitting = count_fitting([count_bytes(item) for item in batch], PAGE_BYTES)
    end = start + fitting
    after = write_cursor({"key": str(end), **pin}) if end < len(items) else None
    before = write_cursor({"key": str(max(0, start - limit)), **pin}) if start else None
    return Page(batch[:fitting], after, before)


def count_bytes(item: PlanItem) -> int:
    rows = (item.base, item.ours, item.theirs, item.other)
    return sum(count_row_bytes(row) for row in rows if row is not None)


def check_filter(kind: str, classes: Sequence[str]) -> tuple[str, list[str]]:
    """Return the checked kind and classes of a plan's page. Raises Invalid."""
    if kind:
        c.one_of(models_by_kind())("type", kind)
    return kind, [c.one_of(CLASSES)("class", one) for one in classes]

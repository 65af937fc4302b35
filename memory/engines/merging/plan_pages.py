"""Pages of a plan; further ones stay at the points of the first."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from memory.db.budget import count_fitting, count_row_bytes
from memory.engines.merging.options import MergeOptions
from memory.engines.merging.plan import CLASSES, FullPlan, MergePoints, PlanItem
from memory.engines.merging.settling import load_plan
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
from memory.engines.versions.kinds import models_by_kind
from memory.engines.versions.lookup import resolve_own_point
from memory.models import Branch

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
    open_conflicts: int | None  # hidden from who may not read the target
    unchecked: int
    unchecked_reason: str
    page: Page[PlanItem]


def plan_page(
    options: MergeOptions,
    kind: str,
    classes: Sequence[str],
    limit: int,
    cursor: str,
    known: FullPlan | None = None,
    hidden: bool = False,
) -> tuple[FullPlan, MergePlan]:
    """Return a plan and a page of it. A ``known`` plan at the same points is not made again.

    What is ``hidden`` is all that the target has: what becomes of a memory tells that too. Raises Invalid.
    """
    check_limit(limit)
    strategy = str(options.strategy)  # the default is a choice, whose repr is another than its text's
    key = (options.source.pk, options.target.pk, strategy, options.ids, kind, list(classes))
    mark = mark_from(repr(key))
    position = read_cursor(cursor, mark)
    points = _find_points(options, position)
    plan = known if known and known.points == points else load_plan(options, points)
    pin = {"list": mark, "source": points.source_seq, "target": points.target_seq}
    items = plan.select_items(*_check_filter(kind, classes))
    shown = _hide_target(items) if hidden else items
    page = _cut_page(shown, parse_count(position.get("key", "0")), limit, pin)
    found = _summarise_plan(plan, page)
    return plan, _hide_summary(found) if hidden else found


def _find_points(options: MergeOptions, position: dict[str, Any]) -> MergePoints:
    """Return the points of the first page, which a cursor has, else the present heads."""
    return replace(
        options.points,
        source_seq=resolve_own_point(options.source, position.get("source")),
        target_seq=resolve_own_point(options.target, position.get("target")),
    )


def _check_filter(kind: str, classes: Sequence[str]) -> tuple[str, list[str]]:
    """Return the checked kind and classes of a plan's page. Raises Invalid."""
    if kind:
        c.one_of(models_by_kind())("type", kind)
    return kind, [c.one_of(CLASSES)("class", one) for one in classes]


def _cut_page(items: Sequence[PlanItem], start: int, limit: int, pin: dict[str, Any]) -> Page[PlanItem]:
    """Return a page of a plan's items, within the bytes of a page."""
    batch = items[start : start + limit]
    fitting = count_fitting([_count_bytes(item) for item in batch], PAGE_BYTES)
    end = start + fitting
    after = write_cursor({"key": str(end), **pin}) if end < len(items) else None
    before = write_cursor({"key": str(max(0, start - limit)), **pin}) if start else None
    return Page(batch[:fitting], after, before)


def _count_bytes(item: PlanItem) -> int:
    rows = (item.base, item.ours, item.theirs, item.other)
    return sum(count_row_bytes(row) for row in rows if row is not None)


def _summarise_plan(plan: FullPlan, page: Page[PlanItem]) -> MergePlan:
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


def _hide_summary(plan: MergePlan) -> MergePlan:
    return replace(plan, counts={}, open_conflicts=None, unchecked=0, unchecked_reason="")


def _hide_target(items: Sequence[PlanItem]) -> list[PlanItem]:
    """Return what the source has of these memories, in an order that does not tell their classes."""
    shown = [PlanItem(item.model, item.uid, "", "", theirs=item.theirs) for item in items]
    return sorted(shown, key=lambda item: (item.model.KIND.rank, item.uid))

"""Pages of a plan; further ones stay at the points of the first."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from memory.db.budget import count_fitting, count_row_bytes
from memory.engines.merging.plan import CLASSES, MergePoints, PlanItem
from memory.engines.merging.plan_views import PlanView
from memory.engines.merging.strategies import MergeOptions
from memory.engines.support import pagination
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page
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


@dataclass(frozen=True)
class PlanQuery:
    """Which page of a plan is asked for."""

    kind: str = ""
    classes: Sequence[str] = ()
    limit: int = 50
    cursor: str = ""


def find_points(options: MergeOptions, query: PlanQuery) -> MergePoints:
    """Return the points of the first page, which a cursor has, else the present heads. Raises Invalid."""
    pagination.check_limit(query.limit)
    _check_filter(query.kind, query.classes)
    position = pagination.read_cursor(query.cursor, _mark_list(options, query))
    return replace(
        options.points,
        source_seq=resolve_own_point(options.source, position.get("source")),
        target_seq=resolve_own_point(options.target, position.get("target")),
    )


def cut_plan(view: PlanView, options: MergeOptions, query: PlanQuery, hidden: bool = False) -> MergePlan:
    """Return a page of a plan at the points of its query.

    What is ``hidden`` is all that the target has: what becomes of a memory tells that too.
    """
    mark, points = _mark_list(options, query), view.points
    position = pagination.read_cursor(query.cursor, mark)
    pin = {"list": mark, "source": points.source_seq, "target": points.target_seq}
    positions = view.list_positions(query.kind, query.classes)
    if hidden:
        positions.sort(key=view.get_neutral_order)
    page = _cut_page(view, positions, pagination.parse_count(position.get("key", "0")), query.limit, pin)
    found = _summarise_plan(view, replace(page, results=_hide_target(page.results)) if hidden else page)
    return _hide_summary(found) if hidden else found


def _mark_list(options: MergeOptions, query: PlanQuery) -> str:
    strategy = str(options.strategy)  # the default is a choice, whose repr is another than its text's
    key = (
        options.source.pk,
        options.target.pk,
        strategy,
        options.ids,
        query.kind,
        list(query.classes),
    )
    return pagination.mark_from(repr(key))


def _check_filter(kind: str, classes: Sequence[str]) -> None:
    """Check the kind and classes of a plan's page. Raises Invalid."""
    if kind:
        c.one_of(models_by_kind())("type", kind)
    for one in classes:
        c.one_of(CLASSES)("class", one)


def _cut_page(
    view: PlanView, positions: Sequence[int], start: int, limit: int, pin: dict[str, Any]
) -> Page[PlanItem]:
    """Return a page of a plan's items, within the bytes of a page."""
    batch = view.load(positions[start : start + limit])
    fitting = count_fitting([_count_bytes(item) for item in batch], pagination.PAGE_BYTES)
    end = start + fitting
    after = pagination.write_cursor({"key": str(end), **pin}) if end < len(positions) else None
    before = pagination.write_cursor({"key": str(max(0, start - limit)), **pin}) if start else None
    return Page(batch[:fitting], after, before)


def _count_bytes(item: PlanItem) -> int:
    rows = (item.base, item.ours, item.theirs, item.other)
    return sum(count_row_bytes(row) for row in rows if row is not None)


def _summarise_plan(view: PlanView, page: Page[PlanItem]) -> MergePlan:
    points = view.points
    return MergePlan(
        source=points.source,
        source_seq=points.source_seq,
        target=points.target,
        target_seq=points.target_seq,
        strategy=view.strategy,
        counts=view.counts,
        open_conflicts=view.open_conflicts,
        unchecked=view.unchecked,
        unchecked_reason=view.unchecked_reason,
        page=page,
    )


def _hide_summary(plan: MergePlan) -> MergePlan:
    return replace(plan, counts={}, open_conflicts=None, unchecked=0, unchecked_reason="")


def _hide_target(items: Sequence[PlanItem]) -> list[PlanItem]:
    """Return what the source has of these memories."""
    return [PlanItem(item.model, item.uid, "", "", theirs=item.theirs) for item in items]

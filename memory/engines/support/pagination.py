"""Pagination with opaque cursors, which contain the list's fingerprint, the position and the seq that was
read.
"""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Generic, TypedDict, TypeVar
from uuid import UUID

from django.core.exceptions import EmptyResultSet, ValidationError
from django.db import models

from memory.db.budget import count_fitting, count_row_bytes, take_within
from memory.db.querysets import FETCH_ROWS, VersionedQuerySet
from memory.engines.support.ordering import BY_AGE, Ordering
from memory.engines.support.validation import plain_text
from memory.exceptions import Invalid

Item = TypeVar("Item")
MAX_PAGE_SIZE = 100
MAX_CURSOR_LENGTH = 1500
END = "end"  # the cursor of a list's last page
PAGE_BYTES = 4 * 1024 * 1024  # of the texts and JSON of a page; the row that exceeds it begins the next
NOT_OURS = "This cursor is not one that Day1 gave."
OTHER_LIST = (
    "This cursor is of another list: send it with the address, branch, at and filters that it came with,"
    " or begin without it."
)


class Paging(TypedDict, total=False):
    """What a caller may say of the page of a list."""

    limit: int
    cursor: str


class Sorting(Paging, total=False):
    """The same for a list that has several orders."""

    ordering: str


@dataclass(frozen=True)
class Page(Sequence[Item], Generic[Item]):
    """Page of results; a cursor is None at the end or start of the list.

    ``beyond`` is the row after the last, in lists of versions: the last is compared with it.
    """

    results: Sequence[Item]
    next: str | None = None
    previous: str | None = None
    beyond: Item | None = None

    def __getitem__(self, index: Any) -> Any:
        return self.results[index]

    def __len__(self) -> int:
        return len(self.results)


def check_limit(limit: int) -> int:
    """Check a page size, 1 to 100. Raises Invalid."""
    if not 1 <= limit <= MAX_PAGE_SIZE:
        raise Invalid(
            "A page has 1 to {most} results, not {limit}.", most=MAX_PAGE_SIZE, limit=limit, field="limit"
        )
    return limit


def paginate(
    rows: models.QuerySet,
    order: Ordering | str,
    *,
    limit: int = 50,
    cursor: str = "",
    ordering: str = "",
    of: models.QuerySet | None = None,
    prepare: Callable[[list], None] | None = None,
    size: Callable[[Any], int] = count_row_bytes,
) -> Page:
    """Return a page of unversioned rows, ordered by one unique column (``-name`` for descending), or as
    ``ordering`` says.

    ``of`` is the list without conditions that may change between two pages; ``prepare`` completes the rows
    before ``size`` counts their bytes. Raises Invalid, also for a cursor of another list.
    """
    key, ties = (order, "") if isinstance(order, str) else order.read_key(ordering)
    check_limit(limit)
    name, down = key.removeprefix("-"), key.startswith("-")
    listed = (rows if of is None else of).order_by(*sort_columns(name, ties, down))
    position = read_cursor(cursor, list_fingerprint(listed) if cursor else "")
    back = position.get("back", False)
    if "key" in position:
        rows = rows.filter(rows_beyond(rows, (name, ties), position, down != back))
    ordered = rows.order_by(*sort_columns(name, ties, down != back))[: limit + 1]
    batch = take_within(ordered.iterator(FETCH_ROWS), limit + 1, PAGE_BYTES)
    if prepare is not None:
        prepare(batch)

    def build_cursor(row: Any) -> dict[str, Any]:
        return {**locate_row(row, name, ties), "list": list_fingerprint(listed)}

    return build_page(batch, limit, back, "key" in position, build_cursor, size)


def sort_columns(name: str, ties: str, down: bool) -> list[str]:
    """Return the columns to order by; ties go in the direction of the rest, so that one index gives both."""
    return [f"-{column}" if down else column for column in (name, ties) if column]


def locate_row(row: Any, name: str, ties: str) -> dict[str, Any]:
    """Return where a row stands in its list, for a cursor."""
    value = attrgetter(name.replace("__", "."))(row)
    if not ties:
        return {"key": str(value)}
    return {"key": str(getattr(row, ties)), "value": None if value is None else str(value)}


def rows_beyond(
    rows: models.QuerySet, names: tuple[str, str], position: dict[str, Any], down: bool
) -> models.Q:
    """Return the condition of the rows after a position. Rows without a value are the lowest."""
    name, ties = names
    side = "lt" if down else "gt"
    if not ties:
        return models.Q(**{f"{name}__{side}": parse_value(rows, name, position["key"])})
    unique = models.Q(**{f"{ties}__{side}": parse_value(rows, ties, position["key"])})
    if (text := position.get("value")) is None:
        tied = models.Q(**{f"{name}__isnull": True}) & unique
        return tied if down else tied | models.Q(**{f"{name}__isnull": False})
    value = parse_value(rows, name, text)
    # Written so that an index of the column begins at the value.
    beyond = models.Q(**{f"{name}__{side}e": value}) & (models.Q(**{f"{name}__{side}": value}) | unique)
    may_be_null = down and find_field(rows.model, name).null
    return beyond | models.Q(**{f"{name}__isnull": True}) if may_be_null else beyond


def paginate_versions(
    rows: VersionedQuerySet,
    *,
    seq: int,
    limit: int,
    cursor: str = "",
    at: Any = None,
    ordering: str = "",
    of: VersionedQuerySet | None = None,
) -> Page:
    """Return a page of versioned rows, newest first unless ``ordering`` says otherwise, as of the seq of the
    first page.

    ``at`` is the point that the caller requested, ``of`` as in ``paginate``. Raises Invalid, also for a
    cursor of another list.
    """
    check_limit(limit)
    down = BY_AGE.read_key(ordering)[0].startswith("-")
    way = "" if down else "upwards"
    listed = rows if of is None else of
    position = read_cursor(cursor, list_fingerprint(listed, way) if cursor else "")
    back = position.get("back", False)
    uid = parse_cursor_id(position["key"]) if "key" in position else None
    batch = take_within(rows.stream(limit + 1, "uid", down=down != back, beyond=uid), limit + 1, PAGE_BYTES)
    pin = {"seq": seq, "at": position.get("at", format_point(at))}

    def build_cursor(row: Any) -> dict[str, Any]:
        return {"key": row.uid.hex, "list": list_fingerprint(listed, way), **pin}

    return build_page(batch, limit, back, "key" in position, build_cursor)


def paginate_history(rows: models.QuerySet, *, seq: int, limit: int, cursor: str = "") -> Page:
    """Return a page of rows that never change up to a seq, in their own order. Raises Invalid."""
    check_limit(limit)
    mark = list_fingerprint(rows)
    start = parse_count(read_cursor(cursor, mark).get("key", "0"))
    keys = list(rows.values_list("pk", flat=True)[start : start + limit + 1])
    found = take_within(rows.model.objects.all_versions().stream_keys(keys), limit + 1, PAGE_BYTES)
    shown = count_fitting([count_row_bytes(row) for row in found[:limit]], PAGE_BYTES)

    def cursor_at(count: int) -> str:
        return write_cursor({"key": str(count), "list": mark, "seq": seq})

    after = cursor_at(start + shown) if len(keys) > shown else None
    before = cursor_at(max(0, start - limit)) if start else None
    beyond = found[shown] if after and len(found) > shown else None
    return Page(found[:shown], after, before, beyond)


def build_page(
    batch: list,
    limit: int,
    back: bool,
    moved: bool,
    build_cursor: Any,
    size: Callable[[Any], int] = count_row_bytes,
) -> Page:
    """Build a page in list order from rows in reading order, of which one may be beyond the page.

    At most ``limit`` fit, and as many as ``size`` counts ``PAGE_BYTES`` of, but at least one.
    """
    fitting = count_fitting([size(row) for row in batch[:limit]], PAGE_BYTES)
    more, batch = len(batch) > fitting, batch[:fitting]
    if back:
        batch.reverse()
    follows, precedes = (moved, more) if back else (more, moved)
    after = write_cursor(build_cursor(batch[-1])) if batch and follows else None
    before = write_cursor({**build_cursor(batch[0]), "back": True}) if batch and precedes else None
    return Page(batch, after, before)


def list_fingerprint(rows: models.QuerySet, way: str = "") -> str:
    """Return a list's fingerprint: its query includes kind, project, branch, point and filters.

    It is made without the columns, which take most of the time. ``way`` is an order that no query has.
    """
    try:
        text = repr(rows.values("pk").query.sql_with_params()) + way
    except EmptyResultSet:
        text = rows.model._meta.label
    return mark_from(text)


def mark_from(text: str) -> str:
    """Return a fingerprint of the text that identifies a list."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_cursor(cursor: str, mark: str = "") -> dict[str, Any]:
    """Return the content of a cursor, checked against the list's fingerprint if given; empty for the first
    page. The cursor ``end`` is that of the last page of any list.

    Raises Invalid.
    """
    if cursor == END:
        return {"back": True}
    position = unpack_cursor(cursor)
    if position and mark and position.get("list") != mark:
        raise Invalid(OTHER_LIST, field="cursor")
    return position


def point_in_list(branch: Any, cursor: str, at: Any) -> Any:
    """Return the point at which to read a page: that of the first page, else the caller's.

    Raises Invalid for a cursor that was issued with another ``at``, or on a branch with more commits.
    """
    position = read_cursor(cursor)
    if "seq" not in position:
        return at
    seq, first = position["seq"], position.get("at")
    if not isinstance(seq, int) or isinstance(seq, bool):
        raise Invalid(NOT_OURS, field="cursor")
    if not -branch.inherited_commits <= seq <= branch.head or (at is not None and format_point(at) != first):
        raise Invalid(OTHER_LIST, field="cursor")
    return seq


def format_point(at: Any) -> str | None:
    """Return a requested point in the form of a cursor; 0, the start of a branch, is one too."""
    return None if at is None else str(at)


def unpack_cursor(cursor: str) -> dict[str, Any]:
    if not cursor:
        return {}
    try:
        position = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        if isinstance(position, dict) and isinstance(position.get("key"), str):
            return position
    except (ValueError, binascii.Error, UnicodeError, RecursionError):
        pass
    raise Invalid(NOT_OURS, field="cursor")


def write_cursor(position: dict[str, Any]) -> str:
    text = json.dumps(position, separators=(",", ":"), ensure_ascii=False)  # a name may be of any script
    return base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).decode()


def parse_value(rows: models.QuerySet, name: str, text: str) -> Any:
    try:
        return find_field(rows.model, name).to_python(plain_text("cursor", text))
    except (Invalid, ValidationError, ValueError, TypeError):
        raise Invalid(NOT_OURS, field="cursor") from None


def find_field(model: Any, name: str) -> Any:
    """Return a field of a model, or of a related one such as ``user__username``."""
    *relations, column = name.split("__")
    for relation in relations:
        model = model._meta.get_field(relation).related_model
    return model._meta.get_field(column)


def parse_count(text: str) -> int:
    """Return how many rows a cursor is past. Raises Invalid."""
    if not re.fullmatch(r"\d{1,15}", text, re.ASCII):
        raise Invalid(NOT_OURS, field="cursor")
    return int(text)


def parse_cursor_id(text: str) -> UUID:
    """Return the id in a cursor. Raises Invalid."""
    try:
        return UUID(text)
    except ValueError:
        raise Invalid(NOT_OURS, field="cursor") from None

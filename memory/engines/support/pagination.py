"""Lists come in pages. A cursor is opaque; it holds its list, the place in it, and the seq that was read."""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.core.exceptions import EmptyResultSet, ValidationError
from django.db import models

from memory.db.querysets import VersionedQuerySet
from memory.engines.cleaning import plain_text
from memory.exceptions import Invalid

Item = TypeVar("Item")
MOST = 100
NOT_OURS = "This cursor is not one that Day1 gave."
OTHER_LIST = (
    "This cursor is of another list: send it with the address, branch, at and filters that it came with,"
    " or begin without it."
)


@dataclass(frozen=True)
class Page(Sequence[Item], Generic[Item]):
    """The sequence of its results; a cursor is None where nothing follows or precedes.

    ``beyond`` is what follows the last, in lists of versions: what that one is compared with.
    """

    results: Sequence[Item]
    next: str | None = None
    previous: str | None = None
    beyond: Item | None = None

    def __getitem__(self, place: Any) -> Any:
        return self.results[place]

    def __len__(self) -> int:
        return len(self.results)


def check_limit(limit: int) -> int:
    """A page size, 1 to 100. Raises Invalid."""
    if not 1 <= limit <= MOST:
        raise Invalid("A page has 1 to {most} results, not {limit}.", most=MOST, limit=limit, field="limit")
    return limit


def page_of(
    rows: models.QuerySet, *, key: str, limit: int, cursor: str = "", of: models.QuerySet | None = None
) -> Page:
    """A page of rows that are not branched, by one unique column (``-name`` for descending).

    ``of`` is the list without what may change between two pages. Raises Invalid, also for a cursor of
    another list.
    """
    check_limit(limit)
    mark = mark_of(rows if of is None else of)
    name, down = key.removeprefix("-"), key.startswith("-")
    place = read_cursor(cursor, mark)
    back = place.get("back", False)
    if "key" in place:
        rows = rows.filter(**{f"{name}__{'lt' if down != back else 'gt'}": _value(rows, name, place["key"])})
    some = list(rows.order_by(f"{'-' if down != back else ''}{name}")[: limit + 1])
    pin = {"list": mark}
    return as_page(some, limit, back, bool(cursor), lambda row: {"key": str(getattr(row, name)), **pin})


def page_of_versions(
    rows: VersionedQuerySet, *, seq: int, limit: int, cursor: str = "", at: Any = None
) -> Page:
    """A page of branched rows, newest first, as of the seq that the first page was read at.

    ``at`` is what the caller asked for. Raises Invalid, also for a cursor of another list.
    """
    check_limit(limit)
    mark = mark_of(rows)
    place = read_cursor(cursor, mark)
    back = place.get("back", False)
    uid = uid_of(place["key"]) if "key" in place else None
    some = rows.newest(limit + 1, **({"after": uid} if back else {"before": uid}))
    if back:
        some.reverse()
    pin = {"list": mark, "seq": seq, "at": place.get("at", asked(at))}
    return as_page(some, limit, back, bool(cursor), lambda row: {"key": row.uid.hex, **pin})


def page_of_history(rows: models.QuerySet, *, seq: int, limit: int, cursor: str = "") -> Page:
    """A page of rows that are as they were at a seq for ever, in their own order. Raises Invalid."""
    check_limit(limit)
    mark = mark_of(rows)
    start = _count(read_cursor(cursor, mark).get("key", "0"))
    keys = list(rows.values_list("pk", flat=True)[start : start + limit + 1])
    found = rows.model._base_manager.in_bulk(keys)

    def cursor_at(place: int) -> str:
        return write_cursor({"key": str(place), "list": mark, "seq": seq})

    after = cursor_at(start + limit) if len(keys) > limit else None
    before = cursor_at(max(0, start - limit)) if start else None
    beyond = found.get(keys[limit]) if after else None
    return Page([found[key] for key in keys[:limit] if key in found], after, before, beyond)


def as_page(some: list, limit: int, back: bool, moved: bool, place: Any) -> Page:
    """Some rows in the order they were read, one more than fits, as a page in list order."""
    more, some = len(some) > limit, some[:limit]
    if back:
        some.reverse()
    follows, precedes = (moved, more) if back else (more, moved)
    after = write_cursor(place(some[-1])) if some and follows else None
    before = write_cursor({**place(some[0]), "back": True}) if some and precedes else None
    return Page(some, after, before)


def mark_of(rows: models.QuerySet) -> str:
    """What tells one list from all others: the query says its kind, project, branch, point and filters."""
    try:
        said = repr(rows.query.sql_with_params())
    except EmptyResultSet:
        said = rows.model._meta.label
    return mark_from(said)


def mark_from(said: str) -> str:
    """A mark from all that tells a list from others."""
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_cursor(cursor: str, mark: str = "") -> dict[str, Any]:
    """What a cursor holds, of the list with this mark where one is given; empty for the first page.

    Raises Invalid.
    """
    place = _unpacked(cursor)
    if place and mark and place.get("list") != mark:
        raise Invalid(OTHER_LIST, field="cursor")
    return place


def point_in_list(branch: Any, cursor: str, at: Any) -> Any:
    """Where on a branch a page is read: where the first one was, else where the caller says.

    Raises Invalid for a cursor that was got with another ``at``, or on a branch with more commits.
    """
    place = read_cursor(cursor)
    if "seq" not in place:
        return at
    seq, first = place["seq"], place.get("at")
    if not isinstance(seq, int) or isinstance(seq, bool):
        raise Invalid(NOT_OURS, field="cursor")
    if not 0 <= seq <= branch.head or (at is not None and asked(at) != first):
        raise Invalid(OTHER_LIST, field="cursor")
    return seq


def asked(at: Any) -> str | None:
    """The point that a caller asked for, as a cursor holds it; 0, where a branch begins, is one too."""
    return None if at is None else str(at)


def _unpacked(cursor: str) -> dict[str, Any]:
    if not cursor:
        return {}
    try:
        place = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        if isinstance(place, dict) and isinstance(place.get("key"), str):
            return place
    except (ValueError, binascii.Error, UnicodeError, RecursionError):
        pass
    raise Invalid(NOT_OURS, field="cursor")


def write_cursor(place: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(place, separators=(",", ":")).encode()).decode()


def _value(rows: models.QuerySet, name: str, text: str) -> Any:
    try:
        return rows.model._meta.get_field(name).to_python(plain_text("cursor", text))
    except (Invalid, ValidationError, ValueError, TypeError):
        raise Invalid(NOT_OURS, field="cursor") from None


def _count(text: str) -> int:
    """How many rows a cursor is past. Raises Invalid."""
    if not re.fullmatch(r"\d{1,15}", text, re.ASCII):
        raise Invalid(NOT_OURS, field="cursor")
    return int(text)


def uid_of(text: str) -> UUID:
    """The id that a cursor holds. Raises Invalid."""
    try:
        return UUID(text)
    except ValueError:
        raise Invalid(NOT_OURS, field="cursor") from None

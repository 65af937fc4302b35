"""Lists come in pages. A cursor is opaque; it holds the place, and the seq that was read."""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import models

from memory.db.querysets import VersionedQuerySet
from memory.engines.cleaning import plain_text
from memory.exceptions import Invalid

Item = TypeVar("Item")
MOST = 100


@dataclass(frozen=True)
class Page(Generic[Item]):
    """Some results in order; a cursor is None where nothing follows or precedes."""

    results: Sequence[Item]
    next: str | None = None
    previous: str | None = None


def check_limit(limit: int) -> int:
    """A page size, 1 to 100. Raises Invalid."""
    if not 1 <= limit <= MOST:
        raise Invalid("A page has 1 to {most} results, not {limit}.", most=MOST, limit=limit, field="limit")
    return limit


def page_of(rows: models.QuerySet, *, key: str, limit: int, cursor: str = "") -> Page:
    """A page of rows that are not branched, by one unique column (``-name`` for descending)."""
    check_limit(limit)
    name, down = key.removeprefix("-"), key.startswith("-")
    place = read_cursor(cursor)
    back = place.get("back", False)
    if "key" in place:
        rows = rows.filter(**{f"{name}__{'lt' if down != back else 'gt'}": _value(rows, name, place["key"])})
    some = list(rows.order_by(f"{'-' if down != back else ''}{name}")[: limit + 1])
    return _page(some, limit, back, bool(cursor), lambda row: {"key": str(getattr(row, name))})


def page_of_versions(rows: VersionedQuerySet, *, seq: int, limit: int, cursor: str = "") -> Page:
    """A page of branched rows, newest first, as of the seq that the first page was read at."""
    check_limit(limit)
    place = read_cursor(cursor)
    back = place.get("back", False)
    uid = _uid(place["key"]) if "key" in place else None
    some = rows.newest(limit + 1, **({"after": uid} if back else {"before": uid}))
    if back:
        some.reverse()
    return _page(some, limit, back, bool(cursor), lambda row: {"key": row.uid.hex, "seq": seq})


def _page(some: list, limit: int, back: bool, moved: bool, place: Any) -> Page:
    """Some rows in the order they were read, one more than fits, as a page in list order."""
    more, some = len(some) > limit, some[:limit]
    if back:
        some.reverse()
    follows, precedes = (moved, more) if back else (more, moved)
    after = write_cursor(place(some[-1])) if some and follows else None
    before = write_cursor({**place(some[0]), "back": True}) if some and precedes else None
    return Page(some, after, before)


def read_cursor(cursor: str) -> dict[str, Any]:
    """What a cursor holds; empty for the first page. Raises Invalid."""
    if not cursor:
        return {}
    try:
        place = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        if isinstance(place, dict) and isinstance(place.get("key"), str):
            return place
    except (ValueError, binascii.Error, UnicodeError, RecursionError):
        pass
    raise Invalid("This cursor is not one that Day1 gave.", field="cursor")


def write_cursor(place: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(place, separators=(",", ":")).encode()).decode()


def _value(rows: models.QuerySet, name: str, text: str) -> Any:
    try:
        return rows.model._meta.get_field(name).to_python(plain_text("cursor", text))
    except (Invalid, ValidationError, ValueError, TypeError):
        raise Invalid("This cursor is not one that Day1 gave.", field="cursor") from None


def _uid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Invalid("This cursor is not one that Day1 gave.", field="cursor") from None

"""Lists of items in the order of their paths, and the namespaces that they stand in."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import takewhile
from typing import Any

from django.db.models import Q

from memory.db.budget import take_within
from memory.db.querysets import VersionedQuerySet
from memory.db.raw_select import fetch_each
from memory.engines.facts.filters import filter_lasting, is_below
from memory.engines.items.conditions import Condition, match_all
from memory.engines.support.pagination import (
    NOT_OURS,
    PAGE_BYTES,
    Page,
    build_page,
    format_point,
    list_fingerprint,
    parse_cursor_id,
    read_cursor,
    write_cursor,
)
from memory.exceptions import Invalid
from memory.models import Fact
from memory.models.facts import KEY_MARK

SCAN_ROWS = 10_000  # looked at for a page with conditions, which may then have fewer results than its limit
ANY = "*"  # in the ends of namespaces: any segment
FURTHEST = "\U0010ffff"


def filter_prefix(rows: VersionedQuerySet[Fact], prefix: str) -> VersionedQuerySet[Fact]:
    """Return the items of a namespace and of all below it; of all for ""."""
    return rows.filter(is_below(prefix) if prefix else Q(path__gt=""))


class Scan:
    """The rows that meet conditions, and the last one that was looked at."""

    def __init__(self, rows: Iterable[Fact], conditions: Sequence[Condition]) -> None:
        self._rows, self._matches = rows, match_all(conditions)
        self.last: Fact | None = None
        self.seen = 0

    def __iter__(self) -> Iterator[Fact]:
        for row in self._rows:
            self.last, self.seen = row, self.seen + 1
            if self._matches(row):
                yield row

    @property
    def stopped(self) -> bool:
        """Return whether there may be more rows that nobody has looked at."""
        return self.seen >= SCAN_ROWS


@dataclass(frozen=True)
class Listed:
    """A list of items at a point, with what its cursors say."""

    rows: VersionedQuerySet[Fact]
    seq: int
    at: Any
    now: datetime
    conditions: tuple[Condition, ...] = ()

    def read_page(self, limit: int, cursor: str) -> Page[Fact]:
        """Return a page in the order of the paths. Raises Invalid for a cursor of another list."""
        # What has expired is no part of the fingerprint: it is more with each page.
        mark = list_fingerprint(self.rows, repr(self.conditions))
        position = read_cursor(cursor, mark if cursor else "")
        back = position.get("back", False)
        scan = self.scan(back, self._find_path(position))
        batch = take_within(scan, limit + 1, PAGE_BYTES)

        def build_cursor(row: Fact) -> dict[str, Any]:
            pin = {"seq": self.seq, "at": position.get("at", format_point(self.at))}
            return {"key": row.uid.hex, "list": mark, **pin}

        page = build_page(batch, limit, back, "key" in position, build_cursor)
        if scan.stopped and scan.last and len(batch) <= limit:
            beyond = write_cursor({**build_cursor(scan.last), **({"back": True} if back else {})})
            return replace(page, **{"previous" if back else "next": beyond})
        return page

    def scan(self, back: bool = False, beyond: str | None = None) -> Scan:
        rows = filter_lasting(self.rows, self.now)
        return Scan(rows.stream(SCAN_ROWS, "path", down=back, beyond=beyond), self.conditions)

    def _find_path(self, position: dict[str, Any]) -> str | None:
        """Return the path of the row of a cursor, which would be too long in it."""
        if "key" not in position:
            return None
        for row in self.rows.fetch_by_key("uid", [parse_cursor_id(position["key"])]):
            return row.path
        raise Invalid(NOT_OURS, field="cursor")


def walk_namespaces(
    rows: VersionedQuerySet[Fact], prefix: str, suffix: str, depth: int | None
) -> Iterator[str]:
    """Yield different namespaces in their order, cut to ``depth`` segments; each costs one look-up."""
    rows, beyond, yielded = filter_prefix(rows, cut_wildcards(prefix)), None, set[str]()
    while (path := find_next(rows, beyond)) is not None:
        namespace = path.partition(KEY_MARK)[0]
        shown = "/".join(namespace.split("/")[:depth])
        if has_ends(namespace, prefix, suffix) and shown not in yielded:
            yielded.add(shown)
            yield shown
        # Behind all of its own keys; of one that is cut, and has any end, behind all that is below it.
        is_cut = depth is not None and not suffix and ANY not in prefix and namespace.count("/") + 1 >= depth
        beyond = f"{shown}/{FURTHEST}" if is_cut else f"{namespace}{KEY_MARK}{FURTHEST}"


def find_next(rows: VersionedQuerySet[Fact], beyond: str | None) -> str | None:
    """Return the first path behind another one."""
    found = fetch_each(rows.plan_edge(("path",), 1, "path", down=False, beyond=beyond))
    return min((path for (path,) in found), default=None)


def cut_wildcards(prefix: str) -> str:
    """Return the segments of a prefix before the first that is any."""
    return "/".join(takewhile(lambda segment: segment != ANY, prefix.split("/")))


def has_ends(namespace: str, prefix: str, suffix: str) -> bool:
    """Return whether the first segments of a namespace are these, and the last ones those; * is any."""
    segments = namespace.split("/")
    first, last = ([one for one in end.split("/") if one] for end in (prefix, suffix))
    if len(segments) < max(len(first), len(last)):
        return False
    ends = [*zip(first, segments, strict=False), *zip(last[::-1], segments[::-1], strict=False)]
    return all(expected in (ANY, segment) for expected, segment in ends)

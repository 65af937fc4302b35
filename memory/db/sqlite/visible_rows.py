"""Which of the rows that a search of words finds are among those that may be found."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memory.db.querysets import Ranked, VersionedQuerySet
from memory.db.sqlite.keyword_cache import Matches
from memory.db.sqlite.vector_caches import find_vector_cache

UNFILTERED, FILTERED = 4, 20  # matches that are looked at first, for each that is wanted


def find_visible(
    connection: Any,
    rows: VersionedQuerySet,
    matches: Matches,
    k: int,
    read: Callable[[Any, VersionedQuerySet, Sequence[int]], set[int]],
) -> Ranked:
    """Return the best k matches that are among the rows, best first; ``read`` says which are."""
    count = k * (UNFILTERED if rows.known_to_index else FILTERED)
    while True:
        best = matches.best(count)
        visible = read(connection, rows, [rid for rid, _ in best])
        found = [hit for hit in best if hit[0] in visible]
        if len(found) >= k or len(best) < count:
            return found[:k]
        count *= 4


def list_visible(connection: Any, rows: VersionedQuerySet, rids: Sequence[int], k: int) -> set[int]:
    """Return those of the row ids that are among the rows, at least the first k of them, for a lineage that
    the caches cover.

    The cache of vectors knows which the lineage shows; other filters are left to the database.
    """
    cache = None if rows.tokens else find_vector_cache(connection, rows.model, rows.lineage or ())
    shown = cache.list_visible(rids, rows) if cache else None
    if shown is None:
        return read_first_visible(connection, rows, rids, k)
    if rows.known_to_index:
        return shown
    return read_first_visible(connection, rows, [rid for rid in rids if rid in shown], k)


def read_first_visible(connection: Any, rows: VersionedQuerySet, rids: Sequence[int], k: int) -> set[int]:
    """Return those of the row ids that are among the rows, until k are: most filters leave out few."""
    visible: set[int] = set()
    start, size = 0, k + k // 4
    while len(visible) < k and start < len(rids):
        visible |= read_visible(connection, rows, rids[start : start + size])
        start, size = start + size, size * 2
    return visible


def read_visible(connection: Any, rows: VersionedQuerySet, rids: Sequence[int]) -> set[int]:
    """Return those of the row ids that are among the rows, from the database."""
    check, params = rows.visibility_sql("ranked.r")
    sql = f"SELECT r FROM (SELECT value AS r FROM json_each(%s)) ranked WHERE {check}"
    with connection.cursor() as cursor:
        cursor.execute(sql, [json.dumps(list(rids)), *params])
        return {rid for (rid,) in cursor.fetchall()}


def sort_scores(scores: Mapping[int, float]) -> Ranked:
    """Sort scores best first; ties by row id."""
    return sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))

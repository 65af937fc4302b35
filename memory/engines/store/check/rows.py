"""Rows of a store in short reads, also of one that cannot give all of them."""

from collections.abc import Iterator
from typing import Any

from django.db import DatabaseError

from memory.engines.store.check.problems import CheckedStore, Findings, ProblemKind
from memory.engines.support.readable_rows import read_rows

BATCH_SIZE = 500

UNREADABLE_ROWS = ProblemKind(
    "unreadable_rows",
    "rows that cannot be read",
    advice="Restore a backup, or write what can be read to a new store: day1 salvage.",
)


def describe_error(error: BaseException) -> str:
    """Return the database's own words, which an error of ours has in it."""
    return str(error.__cause__ or error)


def walk_rows(
    store: CheckedStore, rows: Any, findings: Findings, done: int = 0, total: int = 0
) -> Iterator[list[Any]]:
    """Yield the rows of a queryset in batches, by their keys; those that cannot be read are found.

    Behind a page that cannot be read the walk goes on with the keys that an index has.
    """
    for keys in walk_keys(rows, findings):
        batch = read_batch(rows, keys, findings)
        done += len(keys)
        if total:
            store.tell(min(done, total), total)
        yield batch


def read_batch(rows: Any, keys: list[Any], findings: Findings) -> list[Any]:
    read, unread = read_rows(rows, keys)
    if unread:
        findings.add(UNREADABLE_ROWS, *(f"{rows.model._meta.db_table} {key}" for key in unread))
    return read


def walk_keys(rows: Any, findings: Findings) -> Iterator[list[Any]]:
    """Yield the keys of a queryset in batches, in their order."""
    ordered, last = rows.order_by("pk"), None
    try:
        while keys := read_keys(ordered, last):
            last = keys[-1]
            yield keys
    except DatabaseError:
        yield from walk_known_keys(rows, last, findings)


def read_keys(ordered: Any, last: Any) -> list[Any]:
    after = ordered if last is None else ordered.filter(pk__gt=last)
    return list(after.values_list("pk", flat=True)[:BATCH_SIZE])


def walk_known_keys(rows: Any, last: Any, findings: Findings) -> Iterator[list[Any]]:
    """Yield the keys behind ``last`` that an index of the table has, whose own pages cannot all be read."""
    try:
        known = sorted(rows.order_by(find_indexed_column(rows.model)).values_list("pk", flat=True))
    except DatabaseError:
        findings.add(UNREADABLE_ROWS, f"{rows.model._meta.db_table} after {last}")
        return
    left = [key for key in known if last is None or key > last]
    for start in range(0, len(left), BATCH_SIZE):
        yield left[start : start + BATCH_SIZE]


def find_indexed_column(model: Any) -> str:
    """Return a column that an index has by itself, which a database reads without the table."""
    single = [
        index.fields[0] for index in model._meta.indexes if len(index.fields) == 1 and not index.condition
    ]
    return str(single[0] if single else model._meta.pk.name)

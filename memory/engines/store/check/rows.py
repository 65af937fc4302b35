"""Rows of a store in short reads, also of one that cannot give all of them."""

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import DatabaseError, models
from django.db.models.functions import Cast

from memory.db.model_graph import in_order
from memory.engines.store.check.problems import CheckedStore, Findings, ProblemKind
from memory.engines.support.readable_rows import read_rows

BATCH_SIZE = 500

UNREADABLE_ROWS = ProblemKind(
    "unreadable_rows",
    "rows that cannot be read",
    repair="puts the value back where a copy of it has the checksum of what was written",
    advice="Restore a backup, or write what can be read to a new store: day1 salvage.",
)


def list_tables() -> list[type[models.Model]]:
    """Return every table of a store, parents first."""
    every = apps.get_models(include_auto_created=True)
    return in_order(kind for kind in every if kind._meta.managed and not kind._meta.proxy)


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
    """Yield the keys behind ``last`` that an index has of a table whose own pages, or keys, cannot all be
    read.
    """
    table = rows.model._meta.db_table
    try:
        known, foreign = read_stored_keys(rows)
    except DatabaseError:
        findings.add(UNREADABLE_ROWS, f"{table} after {last}")
        return
    for text in foreign:
        findings.add(UNREADABLE_ROWS, f"{table} {text}")
    left = sorted(key for key in known if last is None or key > last)
    for start in range(0, len(left), BATCH_SIZE):
        yield left[start : start + BATCH_SIZE]


def read_stored_keys(rows: Any) -> tuple[list[Any], list[str]]:
    """Return the keys that an index has of a table, and those that are none, as they are stored."""
    known, foreign = list[Any](), list[str]()
    stored = rows.order_by(find_indexed_column(rows.model))
    for text in stored.values_list(Cast("pk", models.TextField()), flat=True):
        try:
            known.append(rows.model._meta.pk.to_python(text))
        except ValidationError:
            foreign.append(text)
    return known, foreign


def find_indexed_column(model: Any) -> str:
    """Return a column that an index has by itself, which a database reads without the table."""
    single = [
        index.fields[0] for index in model._meta.indexes if len(index.fields) == 1 and not index.condition
    ]
    return str(single[0] if single else model._meta.pk.name)

"""Work in batches: parts of a long sequence, and reports of progress."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from django.db.models import QuerySet

BATCH_SIZE = 500  # values of a condition
Value = TypeVar("Value")
Progress = Callable[[int, int], None]


def batched(values: Sequence[Value], size: int) -> Iterator[Sequence[Value]]:
    """Return the values in batches of at most ``size``, in their order."""
    return (values[start : start + size] for start in range(0, len(values), size))


def ignore_progress(done: int, total: int) -> None:
    """Ignore progress."""


def filter_in(rows: QuerySet, column: str, values: Iterable[Any]) -> Iterator[QuerySet]:
    """Yield the rows of which a column is one of the values, in portions that any database takes."""
    return (rows.filter(**{f"{column}__in": batch}) for batch in batched(sorted(values), BATCH_SIZE))


def gather_in(rows: QuerySet, column: str, values: Iterable[Any], *names: str) -> set[Any]:
    """Return the values of one column, or tuples of several, of rows that are read as by ``filter_in``."""
    parts = filter_in(rows.order_by(), column, values)
    return {found for part in parts for found in part.values_list(*names, flat=len(names) == 1)}

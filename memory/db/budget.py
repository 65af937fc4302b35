"""Byte limits for pages of large rows, so that a page ends before it fills the memory."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from django.db import models


@cache
def text_fields(model: type[models.Model]) -> tuple[models.Field, ...]:
    """Return the fields of a model whose values may be long: texts, and JSON kept as text."""
    return tuple(field for field in model._meta.concrete_fields if isinstance(field, models.TextField))


def count_row_bytes(row: models.Model) -> int:
    """Return the bytes of a row's long fields in UTF-8."""
    return sum(_count_bytes(getattr(row, field.attname)) for field in text_fields(type(row)))


def _count_bytes(value: Any) -> int:
    if not value:
        return 0
    text = str(value)  # of JSON nearly as long as what is stored, and made in a tenth of the time
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def take_within(rows: Iterable[Any], max_rows: int, max_bytes: int) -> list[Any]:
    """Return the first rows up to the one that exceeds ``max_bytes``, included; later rows are not read."""
    taken: list[Any] = []
    total = 0
    for row in rows:
        taken.append(row)
        total += count_row_bytes(row)
        if len(taken) >= max_rows or total > max_bytes:
            break
    return taken


def count_fitting(sizes: Sequence[int], max_bytes: int) -> int:
    """Return how many of the first sizes fit into ``max_bytes``; at least one, if there is one."""
    total = 0
    for index, size in enumerate(sizes):
        total += size
        if index and total > max_bytes:
            return index
    return len(sizes)


def split_by_size(sized: Iterable[tuple[Any, int]], max_size: int) -> Iterator[list[Any]]:
    """Yield the items in portions whose sizes sum to at most ``max_size``, or which have one item."""
    batch: list[Any] = []
    total = 0
    for item, size in sized:
        if batch and total + size > max_size:
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size
    if batch:
        yield batch

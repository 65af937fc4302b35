"""Rows of one model by column: a value that all of them have is read, converted and encoded once."""

import marshal
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from operator import is_
from typing import Any

from memory.db.fields import dumps

Column = Sequence[Any]  # the values of a column; a single one where all rows have that very object


def read_columns(get_values: Callable[[Any], tuple[Any, ...]], rows: Sequence[Any]) -> list[Column]:
    """Return the columns that a getter reads of rows, of which there must be one."""
    columns = zip(*map(get_values, rows), strict=True)
    if len(rows) == 1:
        return list(columns)
    return [column[:1] if all(map(is_, column, repeat(column[0]))) else column for column in columns]


def join_columns(columns: Sequence[Column], count: int) -> Iterator[tuple[Any, ...]]:
    """Return so many rows of columns."""
    return zip(*(repeat(column[0], count) if len(column) == 1 else column for column in columns), strict=True)


def once_each(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a conversion for the values of a column: JSON is written once for equal ones."""
    if convert is not dumps:
        return convert
    known: dict[bytes, str] = {}

    def convert_once(value: Any) -> str:
        try:
            key = marshal.dumps(value, 2)  # of this version, the same for equal values of equal types alone
        except ValueError:
            return dumps(value)
        if key not in known:
            known[key] = dumps(value)
        return known[key]

    return convert_once

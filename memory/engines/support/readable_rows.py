"""Rows of a store that cannot give all of them, such as a damaged one."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from django.db import DatabaseError, models

from memory.db.fields import JSONTextField

# What a row raises that the database gives and Python cannot read.
UNREADABLE = (DatabaseError, ValueError, TypeError, OverflowError)
KINDS: list[tuple[Any, Any]] = [  # of columns, and what Python has for each; None for an empty one
    (models.IntegerField | models.BooleanField, int | None),
    (models.FloatField, float | int | None),
    (models.CharField | models.TextField, str | None),
]


def read_rows(rows: Any, keys: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the rows of these keys, and the keys of those that cannot be read."""
    if (every := try_read(rows.filter(pk__in=keys))) is not None:
        return every, []
    read, unread = list[Any](), list[Any]()
    for key in keys:
        if (found := try_read(rows.filter(pk=key))) is None:
            unread.append(key)
        else:
            read += found
    return read, unread


def try_read(rows: Any) -> list[Any] | None:
    """Return rows; None where one of them cannot be read, or has a value that is none of its column."""
    try:
        found = list(rows)
    except UNREADABLE:
        return None
    return found if all(map(fits_columns, found)) else None


def fits_columns(row: models.Model) -> bool:
    """Return whether the numbers and texts of a row are such: SQLite stores anything in any column."""
    values = row.__dict__
    return all(isinstance(values.get(name), kind) for name, kind in list_kinds(type(row)))


@cache
def list_kinds(model: type[models.Model]) -> list[tuple[str, Any]]:
    """Return the columns with numbers and with texts, each with what Python has for it."""
    fields = [field for field in model._meta.concrete_fields if not isinstance(field, JSONTextField)]
    targets = [(field.attname, getattr(field, "target_field", field)) for field in fields]
    return [(name, kind) for name, field in targets for columns, kind in KINDS if isinstance(field, columns)]

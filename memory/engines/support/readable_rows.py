"""Rows of a store that cannot give all of them, such as a damaged one."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django.db import DatabaseError

# What a row raises that the database gives and Python cannot read: a text that is no UTF-8, JSON, a time.
UNREADABLE = (DatabaseError, ValueError, TypeError, OverflowError)


def read_rows(rows: Any, keys: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the rows of these keys, and the keys of those that cannot be read."""
    with suppress(*UNREADABLE):
        return list(rows.filter(pk__in=keys)), []
    read, unread = list[Any](), list[Any]()
    for key in keys:
        try:
            read += rows.filter(pk=key)
        except UNREADABLE:
            unread.append(key)
    return read, unread

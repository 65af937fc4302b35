"""Cursors of SQLite, which refuse to write to a damaged store and read past its damage where they may."""

import re
import sqlite3
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from typing import Any

from django.db.backends.sqlite3 import base

from memory.db.damage import is_write, require_undamaged
from memory.db.sqlite.django_internals import SQLiteCursor
from memory.db.sqlite.storage import suppress_damage

READS = ("SELECT", "WITH", "PRAGMA", "EXPLAIN")
WRITES_WITHIN = re.compile(r"\)\s*(INSERT|UPDATE|DELETE|REPLACE)\b", re.IGNORECASE)  # behind WITH


class Cursor(SQLiteCursor):
    """Django's cursor, which keeps statements that it has rewritten for SQLite.

    It refuses to write in a snapshot, and outside of a transaction to a store that is damaged; see
    ``require_undamaged``.
    """

    wrapper: Any

    def close(self) -> None:
        with suppress(sqlite3.ProgrammingError):  # where it was closed with its connection
            super().close()

    def execute(self, query: Any, params: Any = None) -> Any:
        self._check_write(query)
        return super().execute(query, params)

    def executemany(self, query: Any, param_list: Any) -> Any:
        self._check_write(query)
        return super().executemany(query, param_list)

    def _check_write(self, query: Any) -> None:
        # SQLite's own query_only has every statement of the connection prepared anew, each time it is set.
        if self.wrapper.in_snapshot and not is_read(query):
            raise sqlite3.OperationalError("attempt to write a readonly database")
        if not self.connection.in_transaction and is_write(query):
            require_undamaged(self.wrapper.store)

    def convert_query(self, query: str, *, param_names: list[str] | None = None) -> str:
        is_named = param_names is not None
        return super().convert_query(query, param_names=param_names) if is_named else convert_marks(query)


def is_read(statement: str) -> bool:
    """Tell whether a statement only reads; False where that is not plain."""
    words = statement.lstrip()
    start = words[:7].upper()
    if not start.startswith(READS):
        return False
    return not (start.startswith("WITH") and WRITES_WITHIN.search(words)) and not (
        start.startswith("PRAGMA") and "=" in words
    )


class CursorPastDamage(Cursor):
    """A cursor whose rows end where the file cannot be read on."""

    def execute(self, query: Any, params: Any = None) -> Any:
        with suppress_damage():
            super().execute(query, params)
        return self

    def fetchone(self) -> Any:
        with suppress_damage():
            return super().fetchone()

    def fetchmany(self, size: int | None = None) -> list[Any]:
        return list(islice(iter(self.fetchone, None), size or self.arraysize))

    def fetchall(self) -> list[Any]:
        return list(iter(self.fetchone, None))


@lru_cache(maxsize=256)
def convert_marks(query: str) -> str:
    """Return a statement with SQLite's placeholders, as Django writes it."""
    return base.FORMAT_QMARK_REGEX.sub("?", query).replace("%%", "%")

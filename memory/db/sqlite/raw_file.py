"""A file whose list of tables SQLite cannot read: what is on its pages, from the roots of tables on."""

import sqlite3
import struct
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from functools import cached_property
from typing import Any, NamedTuple

from memory.db.sqlite.raw_pages import LEAF, PAGE_ONE_BYTES, PageFile, RawRow

INTERIOR = 5  # the first byte of a page with ways to other pages of a table
SCHEMA_COLUMNS = 5  # of the list of tables: type, name, table, first page, statement


class RawTable(NamedTuple):
    """A table as the list of tables has it."""

    root: int
    columns: list[str]
    alias: str  # the column that is the row id


class RawFile:
    """The tables of a file, as far as rows of the list of tables stand on some page."""

    def __init__(self, pages: PageFile) -> None:
        self.pages = pages

    @cached_property
    def tables(self) -> dict[str, RawTable]:
        found = {}
        for row in self.pages.find_rows(None):
            if len(row.values) == SCHEMA_COLUMNS and row.values[0] == "table":
                _, name, _, root, sql = row.values
                with suppress(sqlite3.Error, TypeError):
                    found[name] = read_statement(root, sql)
        return {name: table for name, table in sorted(found.items()) if table.columns}

    def read_rows(self, name: str) -> Iterator[RawRow | None]:
        """Yield the rows of a table; None where a page of it is gone."""
        waiting, seen = [self.tables[name].root], set[int]()
        while waiting:
            number = waiting.pop()
            if number in seen or not 0 < number <= self.pages.count:
                yield None
                continue
            seen.add(number)
            page, start = self.pages.read_page(number), PAGE_ONE_BYTES if number == 1 else 0
            if page[start] == LEAF:
                yield from self.pages.read_cells(page, start, None)
            elif page[start] == INTERIOR:
                waiting += reversed(list_children(page, start))
            else:
                yield None


def list_children(page: bytes, start: int) -> list[int]:
    """Return the pages to which a page leads, in the order of their rows."""
    (count,) = struct.unpack(">H", page[start + 3 : start + 5])
    cells = struct.unpack(f">{count}H", page[start + 12 : start + 12 + 2 * count])
    return [int.from_bytes(page[at : at + 4], "big") for at in (*cells, start + 8)]


def read_statement(root: Any, sql: str) -> RawTable:
    """Return what a statement says of the table that it makes. Raises sqlite3.Error for another one."""
    if not isinstance(root, int) or not sql.upper().startswith("CREATE TABLE"):
        return RawTable(0, [], "")
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(sql)
        (name,) = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchone()
        return describe_table(database, root, name)


def describe_table(database: sqlite3.Connection, root: int, table: str) -> RawTable:
    """Return the columns of a table, and which one is the row id itself and empty in the records."""
    columns = database.execute(f'PRAGMA table_info("{table}")').fetchall()
    keys = [row for row in columns if row[5]]
    is_alias = len(keys) == 1 and str(keys[0][2]).upper() == "INTEGER"
    return RawTable(root, [str(row[1]) for row in columns], str(keys[0][1]) if is_alias else "")


def name_values(columns: Sequence[str], alias: str, raw: RawRow) -> dict[str, Any] | None:
    """Return the values of a record by column; None where it has more than the table.

    A row that is older than the last columns has none for them.
    """
    if len(raw.values) > len(columns):
        return None
    missing = [None] * (len(columns) - len(raw.values))
    row = dict(zip(columns, [*raw.values, *missing], strict=True))
    return row | ({alias: raw.rowid} if alias else {})

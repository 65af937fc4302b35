"""Rows read from the pages of a database file itself, where no way through the tree leads to them.

The format is that of https://www.sqlite.org/fileformat2.html: pages whose first byte is 13 hold rows, each
with its row id and a record. Which of them are current is not written there, so that whoever asks compares
them with an index.
"""

import sqlite3
import struct
from collections.abc import Container, Iterator, Sequence
from contextlib import closing, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

LEAF = 13  # the first byte of a page with rows
PAGE_ONE_BYTES = 100  # of page 1, before its own header
INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # bytes of a whole number by its type
INTERIOR = 5  # the first byte of a page with ways to other pages of a table
SCHEMA_COLUMNS = 5  # of the list of tables: type, name, table, first page, statement


class RawRow(NamedTuple):
    """A row of some table: its id, and the values of its record."""

    rowid: int
    values: list[Any]


class PageFile:
    """The pages of a file that nobody writes."""

    def __init__(self, path: Path, page_bytes: int) -> None:
        self.data, self.size = path.open("rb"), page_bytes
        self.count = path.stat().st_size // page_bytes
        head = self.read_page(1).ljust(36, b"\0")  # a file may end within its header
        self.usable = page_bytes - head[20]
        self.free = set(self._list_free(struct.unpack(">I", head[32:36])[0]))

    def close(self) -> None:
        self.data.close()

    def read_page(self, number: int) -> bytes:
        self.data.seek((number - 1) * self.size)
        return self.data.read(self.size)

    def _list_free(self, trunk: int) -> Iterator[int]:
        """Yield the pages that are free; what stands on them is of former rows."""
        seen: set[int] = set()
        while 0 < trunk <= self.count and trunk not in seen:
            seen.add(trunk)
            page = self.read_page(trunk)
            following, count = struct.unpack(">II", page[:8])
            count = min(count, self.size // 4 - 2)
            yield trunk
            yield from struct.unpack(f">{count}I", page[8 : 8 + 4 * count])
            trunk = following

    # ---- rows ----------------------------------------------------------------------------------

    def find_rows(self, rowids: Container[int] | None) -> Iterator[RawRow]:
        """Yield the rows with one of these ids, or all, of whatever table, on pages that are in use."""
        for number in range(1, self.count + 1):
            if number in self.free:
                continue
            page, start = self.read_page(number), PAGE_ONE_BYTES if number == 1 else 0
            if len(page) > start + 8 and page[start] == LEAF:
                yield from self.read_cells(page, start, rowids)

    def read_cells(self, page: bytes, start: int, rowids: Container[int] | None) -> Iterator[RawRow]:
        """Yield the rows of a page with one of these ids, or all that can be read."""
        (count,) = struct.unpack(">H", page[start + 3 : start + 5])
        for place in range(start + 8, min(start + 8 + 2 * count, len(page) - 1), 2):
            try:
                (cell,) = struct.unpack(">H", page[place : place + 2])
                length, cell = read_varint(page, cell)
                rowid, cell = read_varint(page, cell)
                rowid = to_signed(rowid)
                if rowids is None or rowid in rowids:
                    yield RawRow(rowid, read_record(self._read_payload(page, cell, length)))
            except (IndexError, ValueError, struct.error):  # no cell of a row, or a damaged one
                continue

    def _read_payload(self, page: bytes, start: int, length: int) -> bytes:
        """Return the bytes of a record, with those on other pages. Raises ValueError for a broken chain."""
        local = self._count_local(length)
        parts, left = [page[start : start + local]], length - local
        following = struct.unpack(">I", page[start + local : start + local + 4])[0] if left else 0
        while left:
            if not 0 < following <= self.count:
                raise ValueError("the rest of the record is gone")
            page = self.read_page(following)
            following = struct.unpack(">I", page[:4])[0]
            parts.append(page[4 : min(self.usable, 4 + left)])
            left -= len(parts[-1])
        return b"".join(parts)

    def _count_local(self, length: int) -> int:
        """Return how many bytes of a record stand on the page of its row."""
        most, least = self.usable - 35, (self.usable - 12) * 32 // 255 - 23
        if length <= most:
            return length
        kept = least + (length - least) % (self.usable - 4)
        return kept if kept <= most else least


# ---- records ---------------------------------------------------------------------------------------


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of one to nine bytes, and the place behind it."""
    number = 0
    for _ in range(8):
        byte = data[at]
        at += 1
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, at
    return number << 8 | data[at], at + 1


def to_signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


def read_record(cell: bytes) -> list[Any]:
    """Return the values of a record. Raises ValueError where it is none."""
    end, at = read_varint(cell, 0)
    kinds = []
    while at < end:
        kind, at = read_varint(cell, at)
        kinds.append(kind)
    values = []
    for kind in kinds:
        value, at = read_value(cell, at, kind)
        values.append(value)
    if at != len(cell):
        raise ValueError("no record")
    return values


def read_value(cell: bytes, at: int, kind: int) -> tuple[Any, int]:
    if size := INTEGERS.get(kind):
        return int.from_bytes(cell[at : at + size], "big", signed=True), at + size
    if kind >= 12:
        size = (kind - 12) // 2
        data = cell[at : at + size]
        return (data.decode("utf-8", "surrogateescape") if kind % 2 else data), at + size
    if kind == 7:
        return struct.unpack(">d", cell[at : at + 8])[0], at + 8
    constants: dict[int, Any] = {0: None, 8: 0, 9: 1}
    if kind not in constants:
        raise ValueError("no type of a value")
    return constants[kind], at


# ---- a file without a table list ---------------------------------------------------------------------


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

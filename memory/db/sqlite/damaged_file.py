"""What can still be read of a damaged database file, without a write to it.

SQLite gives the rows before a page that it cannot read. Behind it the reading goes on with the row ids that
the indexes of the table have, one by one; without an index, from the other end of the table.
"""

import os
import shutil
import sqlite3
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from memory.db import atomic_files
from memory.db.sqlite.file_check import SHADOW, list_index_scans, open_read_only, read_header

BATCH_SIZE = 500
REPLACED = "\ufffd"  # in the place of bytes that are no UTF-8

Row = tuple[Any, ...]


@dataclass
class TableRead:
    """What was read of a table: rows, those of which a text had other bytes than text, and lost row ids."""

    name: str
    rows: int = 0
    mended: int = 0
    lost: list[int] = field(default_factory=list)
    gaps: list[tuple[int | None, int | None]] = field(
        default_factory=list
    )  # of unknown rows, between two ids


@contextmanager
def open_damaged(path: Path, folder: Path) -> Iterator["DamagedFile"]:
    """Open a damaged file. One whose end is missing is copied into the folder for as long, and filled up."""
    header = read_header(path)
    if header is None or not header.counts or os.stat(path).st_size >= header.file_bytes:
        with closing(open_read_only(path)) as database:
            yield DamagedFile(database)
        return
    draft = atomic_files.create_draft(folder / path.name)
    try:
        shutil.copyfile(path, draft)
        os.truncate(draft, header.file_bytes)  # SQLite reads nothing of a file that is shorter than it says
        with closing(open_read_only(draft)) as database:
            yield DamagedFile(database)
    finally:
        for file in draft.parent.glob(f"{draft.name}*"):
            file.unlink()


class DamagedFile:
    """A damaged file, table by table."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database
        database.text_factory = lambda data: data.decode("utf-8", "replace")

    @cached_property
    def tables(self) -> dict[str, list[str]]:
        """Return the columns of each table but those of full text. Raises sqlite3.Error where no table can be
        read.
        """
        sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY name"
        names = [name for (name,) in self.database.execute(sql) if not name.startswith("sqlite_")]
        full_text = {found[1] for name in names if (found := SHADOW.match(name))}
        own = [name for name in names if not ((found := SHADOW.match(name)) and found[1] in full_text)]
        return {name: self._list_columns(name) for name in own}

    def find_trouble(self) -> str:
        """Return why no table can be read; "" where some can."""
        try:
            return "" if self.tables else "there are no tables"
        except sqlite3.Error as error:
            return str(error)

    @staticmethod
    def begin_read(table: str) -> TableRead:
        return TableRead(table)

    @staticmethod
    def find_ranges(ids: Sequence[int]) -> list[tuple[int, int]]:
        return find_ranges(ids)

    def _list_columns(self, table: str) -> list[str]:
        return [row[1] for row in self.database.execute(f'PRAGMA table_info("{table}")')]

    def read_table(self, read: TableRead, columns: Sequence[str]) -> Iterator[list[Row]]:
        """Yield the rows of a table in batches, as far as they can be read, and note what was lost."""
        reader = TableReader(self.database, read, columns)
        for rows in reader.read_all():
            read.rows += len(rows)
            read.mended += sum(any(isinstance(v, str) and REPLACED in v for v in row) for row in rows)
            yield rows

    def name_lost(self, read: TableRead, column: str, limit: int) -> list[Any]:
        """Return the values of a column of lost rows, from an index that begins with it."""
        lost = set(read.lost)
        for scan in list_index_scans(self.database, read.name):
            first = scan[1].partition(", ")[2].partition(" FROM")[0].split(", ")[0]
            if first == f'"{column}"' and lost:
                rows = read_until_error(self.database, scan[1], [])[0]
                return [row[1] for row in rows if row[0] in lost][:limit]
        return []


class TableReader:
    """The reading of one table, past what cannot be read."""

    def __init__(self, database: sqlite3.Connection, read: TableRead, columns: Sequence[str]) -> None:
        self.database, self.read = database, read
        listed = ", ".join(["rowid", *(f'"{column}"' for column in columns)])
        self.select = f'SELECT {listed} FROM "{read.name}"'

    def read_all(self) -> Iterator[list[Row]]:
        last: int | None = None
        while True:
            rows, is_whole = self._read_after(last)
            if rows:
                yield [row[1:] for row in rows]
                last = rows[-1][0]
            if is_whole and not rows:
                return
            if not is_whole:
                if not self.known_ids:
                    yield from self._read_from_end(last)
                    return
                if (row := self._find_next(last)) is None:
                    return
                yield [row[1:]]
                last = row[0]

    def _read_after(self, last: int | None) -> tuple[list[Row], bool]:
        where, values = ("", []) if last is None else (" WHERE rowid > ?", [last])
        sql = f"{self.select} NOT INDEXED{where} ORDER BY rowid LIMIT {BATCH_SIZE}"
        rows, is_whole = read_until_error(self.database, sql, values)
        ordered = [row for row in rows if last is None or row[0] > last]
        return ordered, is_whole and len(ordered) == len(rows)

    @cached_property
    def known_ids(self) -> list[int]:
        """Return the row ids that the table's indexes have, as far as they can be read."""
        found: set[int] = set()
        for _, sql in list_index_scans(self.database, self.read.name):
            found.update(row[0] for row in read_until_error(self.database, sql, [])[0])
        return sorted(found)

    def _find_next(self, last: int | None) -> Row | None:
        """Return the next row that can be read; those before it that are known are lost."""
        start = 0 if last is None else bisect_right(self.known_ids, last)
        for rowid in self.known_ids[start:]:
            rows, _ = read_until_error(self.database, f"{self.select} NOT INDEXED WHERE rowid = ?", [rowid])
            if rows:
                return rows[0]
            self.read.lost.append(rowid)
        return None

    def _read_from_end(self, last: int | None) -> Iterator[list[Row]]:
        """Yield the rows from the end of the table back to what cannot be read."""
        rows, first = (
            read_until_error(self.database, f"{self.select} NOT INDEXED ORDER BY rowid DESC", [])[0],
            None,
        )
        if kept := [row for row in reversed(rows) if last is None or row[0] > last]:
            first = kept[0][0]
            yield [row[1:] for row in kept]
        self.read.gaps.append((last, first))


def read_until_error(database: sqlite3.Connection, sql: str, values: Sequence[Any]) -> tuple[list[Row], bool]:
    """Return the rows of a statement up to what cannot be read, and whether they are all."""
    rows: list[Row] = []
    try:
        for row in database.execute(sql, values):
            rows.append(row)
    except sqlite3.Error:
        return rows, False
    return rows, True


def find_ranges(ids: Sequence[int]) -> list[tuple[int, int]]:
    """Return ids in ranges of neighbours, first and last of each."""
    ranges: list[tuple[int, int]] = []
    for one in sorted(ids):
        if ranges and one == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], one)
        else:
            ranges.append((one, one))
    return ranges

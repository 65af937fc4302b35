"""What can still be read of a damaged database file, without a write to it.

SQLite gives the rows before a page that it cannot read. Behind it the reading goes on with the row ids that
the indexes of the table have, one by one; without an index, from the other end of the table. Rows to which
no way leads are looked for on all pages of the file.
"""

import os
import re
import shutil
import sqlite3
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any

from memory.db import atomic_files
from memory.db.sqlite.file_check import SHADOW, list_index_scans, open_read_only, read_header
from memory.db.sqlite.raw_pages import PageFile, RawFile, describe_table, name_values
from memory.db.sqlite.store_mark import measure_log

BATCH_SIZE = 500
USUAL_PAGE_BYTES = 4096
NO_TEXT = re.compile("[\udc80-\udcff]")  # bytes that are no UTF-8, as Python keeps them in a text
CUT = "\udcff"  # the end of a text that stands in the filling
FILL, FILL_BYTES = b"\xff", 2**20

Row = tuple[Any, ...]


@dataclass
class TableRead:
    """What was read of a table: rows, those with bytes that are no text (by column), and lost row ids."""

    name: str
    rows: int = 0
    broken: list[tuple[Row, dict[str, bytes]]] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    gaps: list[tuple[int | None, int | None]] = field(
        default_factory=list
    )  # of unknown rows, between two ids

    def take(self, rows: Sequence[Row], columns: Sequence[str]) -> list[Row]:
        """Count rows and note their broken texts; return them with a sign for each byte that is none."""
        self.rows += len(rows)
        return [self._replace_bytes(row, columns) if is_broken(row) else row for row in rows]

    def _replace_bytes(self, row: Row, columns: Sequence[str]) -> Row:
        texts = {name: value for name, value in zip(columns, row, strict=True) if is_broken([value])}
        data = {name: value.encode("utf-8", "surrogateescape") for name, value in texts.items()}
        whole = tuple(
            data[name].decode("utf-8", "replace") if name in data else value
            for name, value in zip(columns, row, strict=True)
        )
        self.broken.append((whole, data))
        return whole


@contextmanager
def open_damaged(path: Path, folder: Path) -> Iterator["DamagedFile"]:
    """Open a damaged file. One whose end is missing, or that has a log, is copied into the folder for as
    long: SQLite reads nothing of a file that is shorter than it says, and the log belongs to its pages.
    """
    header, log = read_header(path), Path(f"{path}-wal")
    is_short = header is not None and header.counts and os.stat(path).st_size < header.file_bytes
    if not is_short and not measure_log(path):
        with read_file(path) as damaged:
            yield damaged
        return
    draft = atomic_files.create_draft(folder / path.name)
    try:
        shutil.copyfile(path, draft)
        if log.exists():
            shutil.copyfile(log, f"{draft}-wal")
            put_log_into_file(draft)
        missing = header.file_bytes - os.stat(draft).st_size if header is not None else 0
        fill_end(draft, missing)
        with read_file(draft) as damaged:
            damaged.is_cut = missing > 0
            yield damaged
    finally:
        for file in draft.parent.glob(f"{draft.name}*"):
            file.unlink()


def fill_end(path: Path, missing: int) -> None:
    """Fill what is missing at the end of a copy with bytes that no text has, so that it is told from one."""
    with path.open("ab") as file:
        for start in range(0, missing, FILL_BYTES):
            file.write(FILL * min(FILL_BYTES, missing - start))


def put_log_into_file(path: Path) -> None:
    """Move the log of a copy into its file, page by page. A log that cannot be read is left out."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


@contextmanager
def read_file(path: Path) -> Iterator["DamagedFile"]:
    """Open a file that nobody writes."""
    header = read_header(path)
    page_bytes = header.page_bytes if header else USUAL_PAGE_BYTES
    with closing(open_read_only(path)) as database, closing(PageFile(path, page_bytes)) as pages:
        damaged = DamagedFile(database, pages)
        yield RawDamagedFile(database, pages) if damaged.find_trouble() else damaged


class DamagedFile:
    """A damaged file, table by table."""

    is_cut = False  # its end is missing, and filled

    def __init__(self, database: sqlite3.Connection, pages: PageFile) -> None:
        self.database, self.pages = database, pages
        database.text_factory = lambda data: data.decode("utf-8", "surrogateescape")

    @cached_property
    def tables(self) -> dict[str, list[str]]:
        """Return the columns of each table but those of full text. Raises sqlite3.Error where no table can be
        read.
        """
        sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY name"
        names = [name for (name,) in self.database.execute(sql)]
        return leave_out_full_text({name: self._list_columns(name) for name in names})

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
        read_rows = self._leave_out_cut(reader.read_all(), read)
        for rows in chain(read_rows, self._find_lost(reader, columns)):
            yield read.take(rows, columns)

    def _leave_out_cut(self, batches: Iterator[list[Row]], read: TableRead) -> Iterator[list[Row]]:
        """Yield rows without their ids; those whose rest stood on pages that are missing are lost."""
        for rows in batches:
            cut = [row[0] for row in rows if self.is_cut and is_cut(row)]
            read.lost += cut
            yield [row[1:] for row in rows if row[0] not in cut]

    def _find_lost(self, reader: "TableReader", columns: Sequence[str]) -> Iterator[list[Row]]:
        """Yield lost rows that stand on some page all the same, each proven by an index of the table."""
        if not (read := reader.read).lost:
            return
        expected, table = reader.list_indexed(), describe_table(self.database, 0, read.name)
        found: dict[int, Row] = {}
        for raw in self.pages.find_rows(expected):
            row = name_values(table.columns, table.alias, raw)
            if row is None or not row.items() >= expected[raw.rowid]:
                continue
            if not (self.is_cut and is_cut(row.values())):
                found[raw.rowid] = tuple(row[column] for column in columns)
        read.lost = [rowid for rowid in read.lost if rowid not in found]
        yield from map(list, batched(list(found.values()), BATCH_SIZE))

    def read_texts(self, full_text: str, rowid: int) -> list[str]:
        """Return what a full-text table has of a row."""
        sql = f'SELECT c0 FROM "{full_text}_content" WHERE id = ?'
        return [text for (text,) in read_until_error(self.database, sql, [rowid])[0] if not is_broken([text])]

    def name_lost(self, read: TableRead, column: str, limit: int) -> list[Any]:
        """Return the values of a column of lost rows, from an index that begins with it."""
        lost = set(read.lost)
        for scan in list_index_scans(self.database, read.name):
            first = scan[1].partition(", ")[2].partition(" FROM")[0].split(", ")[0]
            if first == f'"{column}"' and lost:
                rows = read_until_error(self.database, scan[1], [])[0]
                return [row[1] for row in rows if row[0] in lost][:limit]
        return []


class RawDamagedFile(DamagedFile):
    """A file whose list of tables SQLite cannot read. How many rows of a table are lost is not known."""

    @cached_property
    def raw(self) -> RawFile:
        return RawFile(self.pages)

    @cached_property
    def tables(self) -> dict[str, list[str]]:
        return leave_out_full_text({name: table.columns for name, table in self.raw.tables.items()})

    def read_table(self, read: TableRead, columns: Sequence[str]) -> Iterator[list[Row]]:
        rows = self._read_tree(read, columns)
        while batch := list(islice(rows, BATCH_SIZE)):
            yield read.take(batch, columns)

    def _read_tree(self, read: TableRead, columns: Sequence[str]) -> Iterator[Row]:
        table, last = self.raw.tables[read.name], None
        for raw in self.raw.read_rows(read.name):
            if raw is None:
                read.gaps.append((last, None))
            elif (row := name_values(table.columns, table.alias, raw)) is None:
                continue
            elif self.is_cut and is_cut(row.values()):
                read.lost.append(raw.rowid)
            else:
                yield tuple(row[column] for column in columns)
                last = raw.rowid

    def name_lost(self, read: TableRead, column: str, limit: int) -> list[Any]:
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
                yield rows
                last = rows[-1][0]
            if is_whole and not rows:
                return
            if not is_whole:
                if not self.known_ids:
                    yield from self._read_from_end(last)
                    return
                if (row := self._find_next(last)) is None:
                    return
                yield [row]
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

    def list_indexed(self) -> dict[int, Any]:
        """Return the values of the columns that the indexes have, of the rows that are lost, by row id."""
        lost, found = set(self.read.lost), defaultdict[int, dict[str, Any]](dict)
        for name, sql in list_index_scans(self.database, self.read.name):
            columns = [row[2] for row in self.database.execute(f'PRAGMA index_info("{name}")')]
            for rowid, *values in read_until_error(self.database, sql, [])[0]:
                if rowid in lost:
                    found[rowid] |= dict(zip(columns, values, strict=True))
        return {rowid: values.items() for rowid, values in found.items()}

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
            yield kept
        self.read.gaps.append((last, first))


def leave_out_full_text(tables: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the tables that hold what was written: full text and SQLite's own are made anew."""
    return {
        name: columns
        for name, columns in tables.items()
        if not name.startswith("sqlite_") and not SHADOW.match(name)
    }


def is_broken(values: Iterable[Any]) -> bool:
    """Return whether one of the values is a text with bytes that are none."""
    return any(isinstance(value, str) and NO_TEXT.search(value) for value in values)


def is_cut(values: Iterable[Any]) -> bool:
    """Return whether the end of a text or of bytes is the filling of a file whose own end is missing."""
    ends: dict[Any, Any] = {str: CUT, bytes: FILL * 4}
    return any(value[-len(end) :] == end for value in values if (end := ends.get(type(value))))


def batched(rows: Sequence[Row], size: int) -> Iterator[Sequence[Row]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


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

"""Damage of a database file: what SQLite itself finds in pages, tables and indexes, read-only."""

import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from memory.db.database_files import SQLITE_HEAD
from memory.db.errors import ForeignFile
from memory.db.sqlite.log_check import is_log_damaged
from memory.db.sqlite.online_backup import HEALTHY
from memory.db.sqlite.rebuilding import make_full_text_anew, rebuild_index
from memory.db.sqlite.store_mark import HEADER_BYTES, has_lost_log, measure_log, read_head, read_state
from memory.db.sqlite.structure import SHADOW_SUFFIXES, find_differences, make_part
from memory.db.store_copies import CopyFailed
from memory.db.temporary_database import temporary_alias
from memory.db.work_slots import work_slots

LOG_BYTES = 65_536  # of the smallest log and what SQLite keeps beside it
MIGRATIONS, OWN_APP = "django_migrations", "memory"
MAX_MESSAGES = 20  # of one table
INDEX = re.compile(r"(?:missing from|in|entries in) index (\S+)")
TREE = re.compile(r"(?:Tree|On tree page) (\d+)")
SHADOW = re.compile(rf"(\w+)_(?:{'|'.join(SHADOW_SUFFIXES)})$")

NO_COPY = (
    "{name} has a write-ahead log and stands where no file can be made, so it is read in a copy, which could"
    " not be made: {error}. Let TMPDIR name a folder with room for it."
)

_own_files: set[Path] = set()
Damage = tuple[str, str]  # the name of a kind, and where it is


@dataclass(frozen=True)
class Header:
    """The first bytes of a database file: size of a page, pages by its own count, and whether that counts."""

    page_bytes: int
    pages: int
    counts: bool

    @property
    def file_bytes(self) -> int:
        return self.page_bytes * self.pages


def read_header(path: Path) -> Header | None:
    """Return the header of a file; None where it is no database."""
    head = read_head(path)
    if len(head) < HEADER_BYTES or not head.startswith(SQLITE_HEAD):
        return None
    size = int.from_bytes(head[16:18], "big")
    # The count of pages is right where the counter of changes was written with it.
    return Header(
        65_536 if size == 1 else size, int.from_bytes(head[28:32], "big"), head[24:28] == head[92:96]
    )


def get_path(connection: Any) -> Path:
    """Return the file of a connection, whose name may be an address with options."""
    name = str(connection.settings_dict["NAME"])
    return Path(unquote(urlsplit(name).path) if name.startswith("file:") else name)


def open_read_only(path: Path) -> sqlite3.Connection:
    """Open a database that nothing of this connection can change, its log included."""
    return sqlite3.connect(build_address(path), uri=True)


def build_address(path: Path) -> str:
    """Return how SQLite opens a file to read it, also in a folder that takes no files beside it."""
    is_alone = path.is_file() and not measure_log(path) and is_on_closed_disk(path)
    return f"file:{quote(str(path))}?mode=ro{'&immutable=1' if is_alone else ''}"


def is_on_closed_disk(path: Path) -> bool:
    """Return whether a database stands where SQLite can make no file beside it, as it does to read it."""
    if not os.access(path.parent, os.W_OK):
        return True
    return shutil.disk_usage(path.parent).free < LOG_BYTES and not Path(f"{path}-shm").exists()


class FileCheck:
    """The check of a connection's database file."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    @property
    def path(self) -> Path:
        return get_path(self.connection)

    def refuse_foreign(self) -> None:
        """Look at the file before it is opened for the first time, which changes it. Raises ForeignFile."""
        path = self.path
        if path not in _own_files and path.is_file() and path.stat().st_size:
            if self.is_foreign():
                raise ForeignFile(path=path)
            _own_files.add(path)

    def is_foreign(self) -> bool:
        """Return whether the file has tables, and none of Day1's migrations, without changing it."""
        try:
            with closing(sqlite3.connect(self.address, uri=True)) as database:
                found = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
                if (MIGRATIONS,) not in found:
                    return bool(found)
                return (OWN_APP,) not in database.execute(f"SELECT app FROM {MIGRATIONS}").fetchall()
        except sqlite3.DatabaseError:  # damaged, or no database: whoever opens it is told
            return False

    @property
    def address(self) -> str:
        """Return how SQLite opens the file to read it, or the copy of it that ``read_alone`` made."""
        return str(self.connection.settings_dict["OPTIONS"].get("database") or build_address(self.path))

    def read_alone(self) -> None:
        """Read the store as it is from now on, where its disk takes no files; it cannot be written then.

        SQLite reads a log only with a file beside it: where there is none, both are copied to a folder of
        this process. Raises CopyFailed.
        """
        if not (self.path.is_file() and is_on_closed_disk(self.path)):
            return
        has_unread_log = measure_log(self.path) and not Path(f"{self.path}-shm").exists()
        address = build_address(self._copy_with_log() if has_unread_log else self.path)
        own = self.connection.settings_dict  # an option takes the place of the name, which tells the marks
        self.connection.settings_dict = own | {"OPTIONS": own["OPTIONS"] | {"database": address}}

    def _copy_with_log(self) -> Path:
        try:
            self._folder = tempfile.TemporaryDirectory(prefix="day1-check-")  # removed with this process
            copy = Path(self._folder.name) / self.path.name
            for end in ("", "-wal"):
                shutil.copy2(f"{self.path}{end}", f"{copy}{end}")
        except OSError as error:
            raise CopyFailed(NO_COPY.format(name=self.path.name, error=error.strerror)) from None
        return copy

    @contextmanager
    def open_alias(self) -> Iterator[str]:
        """Open the database under an alias that only reads, while others may be writing it."""
        options = {"init_command": "PRAGMA query_only = ON"}
        with temporary_alias({"NAME": self.address, "OPTIONS": options}) as alias:
            yield alias

    def read_state(self) -> dict[str, int]:
        """Return what tells this file from an older copy of it."""
        return read_state(self.path)

    def has_lost_log(self, before: dict[str, int]) -> bool:
        """Return whether the file is as it was in a former state, but for a log that it had then."""
        return has_lost_log(self.path, before)

    def has_damaged_log(self) -> bool:
        """Return whether the write-ahead log has a page that is not as it was written."""
        return is_log_damaged(self.path)

    def name_table(self, index: str) -> str:
        """Return the table of an index; "" for one that does not exist."""
        with closing(sqlite3.connect(self.address, uri=True)) as database:
            sql = "SELECT tbl_name FROM sqlite_master WHERE type = 'index' AND name = ?"
            return str((database.execute(sql, [index]).fetchone() or [""])[0])

    def rebuild_index(self, name: str) -> None:
        """Make an index anew from its table. Raises DatabaseError where the table is damaged too."""
        rebuild_index(self.connection, name)

    def make_full_text_anew(self) -> None:
        """Make all full-text tables anew, empty, also where their pages cannot be read."""
        make_full_text_anew(self.connection)

    def compare_structure(self, statements: Sequence[str]) -> list[Damage]:
        """Return where the tables, indexes and triggers differ from those that the statements make."""
        with closing(sqlite3.connect(self.address, uri=True)) as database:
            return list(find_differences(database, statements))

    def make_part(self, name: str, statement: str) -> None:
        """Make an index, trigger or view anew. Raises DatabaseError where rows contradict it."""
        make_part(self.connection, name, statement)

    def find_damage(self, tell: Callable[[int, int], None]) -> Iterator[Damage]:
        """Yield what is damaged, table by table in short reads; (done, total) tables are told."""
        with work_slots.leave_slot(), closing(sqlite3.connect(self.address, uri=True)) as database:
            found = list(find_file_damage(database, tell))
        if found and (text := describe_truncation(self.path)):
            yield "truncated_file", text
        yield from found


def find_file_damage(database: sqlite3.Connection, tell: Callable[[int, int], None]) -> Iterator[Damage]:
    try:
        tables, roots = list_tables(database), list_roots(database)
    except sqlite3.Error as error:
        is_foreign = getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_NOTADB
        yield "not_a_database" if is_foreign else "unreadable_schema", str(error)
        return
    for done, table in enumerate(tables):
        tell(done, len(tables))
        yield from find_table_damage(database, table, roots)


def describe_truncation(path: Path) -> str:
    """Return how much of a damaged file is there, where pages are missing at its end; "" where none are."""
    header, size = read_header(path), os.stat(path).st_size
    if header is None or not header.counts or size >= header.file_bytes:
        return ""
    return f"{path.name}: {size} of {header.file_bytes} bytes"


def list_tables(database: sqlite3.Connection) -> list[str]:
    sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY name"
    return ["sqlite_master", *(name for (name,) in database.execute(sql))]


def list_roots(database: sqlite3.Connection) -> dict[int, tuple[str, str]]:
    """Return kind and name of what begins at each page."""
    sql = "SELECT rootpage, type, name FROM sqlite_master WHERE rootpage > 0"
    return {page: (kind, name) for page, kind, name in database.execute(sql)}


def find_table_damage(
    database: sqlite3.Connection, table: str, roots: dict[int, tuple[str, str]]
) -> Iterator[Damage]:
    """Yield what of a table and its indexes is damaged, once each."""
    try:
        rows = database.execute(f'PRAGMA integrity_check("{table}")').fetchmany(MAX_MESSAGES)
    except sqlite3.Error:
        rows = [("",)]
    lines = {line for (text,) in rows if text != HEALTHY for line in text.split("\n")}
    found = {name_place(line, roots) for line in lines if line}
    if lines and (None in found or not found):  # SQLite says that something is wrong, and not where
        found |= set(find_broken_trees(database, table)) or {("table", table)}
    yield from sorted(name_damage(*place) for place in found if place)


def name_place(line: str, roots: dict[int, tuple[str, str]]) -> tuple[str, str] | None:
    """Return kind and name of what a message of SQLite's is about; None where it does not say so."""
    if found := INDEX.search(line):
        return "index", found[1]
    return roots.get(int(found[1])) if (found := TREE.search(line)) else None


def name_damage(kind: str, name: str) -> Damage:
    if shadow := SHADOW.match(name):
        return "damaged_full_text", shadow[1]
    return ("damaged_index" if kind == "index" else "damaged_table"), name


def find_broken_trees(database: sqlite3.Connection, table: str) -> Iterator[tuple[str, str]]:
    """Yield kind and name of a table and its indexes that cannot be read to their end."""
    if not can_read(database, f'SELECT * FROM "{table}" NOT INDEXED'):
        yield "table", table
    for name, sql in list_index_scans(database, table):
        if not can_read(database, sql):
            yield "index", name


def can_read(database: sqlite3.Connection, sql: str) -> bool:
    database.text_factory = bytes  # a text that is no UTF-8 is not what is asked here
    try:
        for _ in database.execute(sql):
            pass
    except sqlite3.Error:
        return False
    finally:
        database.text_factory = str
    return True


def list_index_scans(database: sqlite3.Connection, table: str) -> list[tuple[str, str]]:
    """Return the indexes of a table, each with a statement that reads all of it and nothing else."""
    indexes = database.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? ORDER BY name", [table]
    )
    return [(name, scan_index(database, table, name, sql or "")) for name, sql in indexes.fetchall()]


def scan_index(database: sqlite3.Connection, table: str, name: str, sql: str) -> str:
    columns = [row[2] for row in database.execute(f'PRAGMA index_info("{name}")')]
    listed = ", ".join(f'"{column}"' for column in columns)
    _, where, condition = sql.partition(" WHERE ")  # of an index of some rows
    return f'SELECT rowid, {listed} FROM "{table}" INDEXED BY "{name}"{where}{condition} ORDER BY {listed}'

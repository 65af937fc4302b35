"""SQLite files of other products: opened to be read alone, row by row, and refused in words."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conversations.capture.transcripts.records import Report
from day1site.cli.errors import CliError
from day1site.cli.importing.products.records import refuse_product
from memory.db.database_files import SQLITE_HEAD
from memory.texts import clean_value

WAIT_SECONDS = 3.0
TABLES = {  # table -> whose file has it
    "history": "mem0",
    "thought": "engrava",
    "store_migrations": "langgraph",
    "sdk_sessions": "claude-mem",
    "observation_rows": "claude-mem",
    "entity": "basic-memory",
}


@contextmanager
def open_store(path: Path, product: str, report: Report) -> Iterator["Store"]:
    """Open a file of a product to be read. Raises CliError for one that cannot be, in words."""
    if not path.is_file():
        raise CliError("invalid", f"{path.name} is no store of {product}: it is no file.")
    report.files += 1
    try:
        report.empty = report.empty and not path.stat().st_size
        with path.open("rb") as stream:
            head = stream.read(len(SQLITE_HEAD))
    except OSError as error:
        raise CliError("invalid", f"{path.name} may not be read: {error.strerror}.") from None
    if head and head != SQLITE_HEAD:
        raise refuse_product(path, product)
    try:
        with connect(path) as connection:
            yield Store(path, connection, product, report)
    except sqlite3.DatabaseError as error:
        raise CliError("invalid", f"{path.name} cannot be read, or ends half way: {error}.") from None


@contextmanager
def connect(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a file without changing it; where its folder takes no lock file, as it stands."""
    try:
        connection = open_mode(path, "mode=ro")
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise CliError(
                "locked", f"{path.name} is locked: end the program that uses it, or import a copy."
            ) from None
        if left := next((one for one in list_logs(path) if one.is_file() and one.stat().st_size), None):
            reason = f"is not whole without {left.name}, which cannot be used where it is"
            raise CliError("invalid", f"{path.name} {reason}: import a copy of both.") from None
        connection = open_mode(path, "immutable=1")
    try:
        yield connection
    finally:
        connection.close()


def list_logs(path: Path) -> list[Path]:
    """Return the files in which a program keeps what it has not yet written into a store."""
    return [path.with_name(f"{path.name}-{end}") for end in ("wal", "journal")]


def open_mode(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, timeout=WAIT_SECONDS)
    connection.row_factory = sqlite3.Row
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


class Store:
    """An open file of a product."""

    def __init__(self, path: Path, connection: sqlite3.Connection, product: str, report: Report) -> None:
        self.path, self.connection, self.product, self.report = path, connection, product, report
        rows = self.connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        self.tables = {name for (name,) in rows}

    def require(self, table: str, *columns: str) -> set[str]:
        """Return the columns of a table. Raises CliError for another product's file, or another version's."""
        if table not in self.tables:
            likeness = next((who for name, who in TABLES.items() if name in self.tables), "")
            raise refuse_product(self.path, self.product, "" if likeness == self.product else likeness)
        found = {row["name"] for row in self.connection.execute(f"PRAGMA table_info({table})")}
        if missing := set(columns) - found:
            raise CliError(
                "invalid",
                f"{self.path.name} is of a version of {self.product} that is not known:"
                f" {table} has no {min(missing)}.",
            )
        return found

    def read_rows(self, query: str, *values: Any) -> Iterator[Mapping[str, Any]]:
        """Yield rows one by one, with texts that can be stored."""
        for row in self.list_rows(query, *values):
            yield clean_value({name: decode(row[name]) for name in row.keys()})  # noqa: SIM118

    def list_rows(self, query: str, *values: Any) -> Iterator[sqlite3.Row]:
        """Yield rows as they are; of a damaged file what comes before is read, and the place named."""
        count = 0
        try:
            for row in self.connection.execute(query, values):
                count += 1
                yield row
        except sqlite3.DatabaseError as error:
            self.report.breaks(self.path, count + 1, f"cannot be read from this row on: {error}")


def decode(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


@contextmanager
def open_known_ids() -> Iterator[Callable[[str], bool]]:
    """Give a function that says of each id whether it is new: they stand in a file that goes by itself."""
    ids = sqlite3.connect("")
    ids.execute("CREATE TABLE known (id PRIMARY KEY) WITHOUT ROWID")
    try:
        yield lambda uid: bool(ids.execute("INSERT OR IGNORE INTO known VALUES (?)", (uid,)).rowcount)
    finally:
        ids.close()

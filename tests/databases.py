"""The database of a test run: backend-specific marks, and the settings of other processes."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.core.management.color import no_style
from django.db import connection

ON_SQLITE = connection.vendor == "sqlite"

only_on_sqlite = pytest.mark.skipif(not ON_SQLITE, reason="about the files or plans of SQLite")
only_on_matrixone = pytest.mark.skipif(ON_SQLITE, reason="needs a MatrixOne server: DAY1_TEST_DATABASE_URL")

beside: set[str] = set()  # databases of other processes, dropped when the run ends


def url(name: str = "") -> str:
    """Return the URL of this test's database, or of another one, for other processes."""
    known = connection.settings_dict
    if ON_SQLITE:
        return f"sqlite:///{known['NAME']}"
    user, password = quote(known["USER"], safe=""), quote(known["PASSWORD"], safe="")
    return f"matrixone://{user}:{password}@{known['HOST']}:{known['PORT']}/{name or known['NAME']}"


def of(folder: Path | str) -> dict[str, str]:
    """Return the settings that give processes on this data directory a database of their own."""
    if ON_SQLITE:
        return {}
    beside.add(name_of(folder))
    return {"DATABASE_URL": url(name_of(folder))}


def name_of(folder: Path | str) -> str:
    return f"{connection.settings_dict['NAME']}_{sha256(str(folder).encode()).hexdigest()[:8]}"


@cache
def list_tables() -> list[str]:
    return connection.introspection.django_table_names(only_existing=True)


def empty_tables() -> None:
    """Do what `flush` does, without the command's own work and its look at the schema."""
    connection.ops.execute_sql_flush(connection.ops.sql_flush(no_style(), list_tables()))


def rows(folder: Path, statement: str) -> list[tuple[Any, ...]]:
    """Query the database of a data directory directly, without the engines."""
    store: Any = sqlite3.connect(folder / "day1.sqlite3") if ON_SQLITE else server(name_of(folder))
    with closing(store), closing(store.cursor()) as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


def read_file(path: Path) -> bytes:
    """Read a file beside an open database in another process.

    A process that closes a file ends all its locks on it, those of SQLite too: another process then takes
    the database for unused, and removes the log that this one goes on writing.
    """
    return subprocess.run(["cat", str(path)], capture_output=True, check=True).stdout


def guard_files(store: str) -> None:
    """Refuse, until this process ends, to open a database's files but by SQLite, see ``read_file``."""
    files = {store, f"{store}-wal", f"{store}-shm"}

    def refuse_to_open(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and str(arguments[0]) in files:
            raise PermissionError(f"{arguments[0]} was opened: closed again, it loses SQLite's locks.")

    sys.addaudithook(refuse_to_open)


def forget_permissions(store: str) -> None:
    """Empty the tables that only a process of a user fills when it migrates, see ``no_permissions``."""
    with closing(sqlite3.connect(store)) as link, link:
        for table in ("auth_permission", "django_content_type"):
            link.execute(f"DELETE FROM {table}")


def server(name: str = "") -> Any:
    """Open a plain connection to the server of this run."""
    import MySQLdb

    known = connection.settings_dict
    where = {"host": known["HOST"], "port": int(known["PORT"]), "charset": "utf8mb4", "database": name}
    return MySQLdb.connect(user=known["USER"], password=known["PASSWORD"], autocommit=True, **where)


def drop_beside() -> None:
    if beside:
        with closing(server()) as link, closing(link.cursor()) as cursor:
            for name in beside:
                cursor.execute(f"DROP DATABASE IF EXISTS `{name}`")

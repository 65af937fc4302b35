"""The tables, indexes and triggers of a database file, against the statements that make an empty store."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any

Part = tuple[str, str]  # table, index, trigger or view, and its name
Structure = dict[Part, tuple[str, Any]]  # the table of each part, and what it is made of
Difference = tuple[str, str]  # the name of a kind, and where it is
MISSING = {"table": "missing_table", "index": "missing_index"}
# What FTS5 makes by itself beside each of its tables.
SHADOW_SUFFIXES = ("config", "content", "data", "docsize", "idx")
SUFFIXES = ("", *(f"_{suffix}" for suffix in SHADOW_SUFFIXES))


def find_differences(database: sqlite3.Connection, statements: Iterable[str]) -> Iterator[Difference]:
    """Yield what a store lacks of what the statements make, and triggers that are none of them."""
    found, expected = read_structure(database), build_structure(statements)
    full_text = {f"{name}{suffix}": name for name in list_full_text(statements) for suffix in SUFFIXES}
    lost = {full_text[name] for kind, name in expected.keys() - found.keys() if name in full_text}
    yield from (("missing_full_text", name) for name in sorted(lost))
    for (kind, name), (table, parts) in expected.items():
        if name in full_text:
            continue
        if (kind, name) not in found:
            if kind != "index" or ("table", table) in found:
                yield MISSING.get(kind, "missing_trigger"), name
        elif kind == "index" and found[kind, name] != (table, parts):
            yield "missing_index", name
        elif kind == "table":
            yield from (("changed_table", f"{name}: {part}") for part in sorted(parts - found[kind, name][1]))
    others = [name for kind, name in found.keys() - expected.keys() if kind == "trigger"]
    yield from (("foreign_trigger", name) for name in sorted(others))


def list_full_text(statements: Iterable[str]) -> list[str]:
    return [sql.split('"')[1] for sql in statements if sql.startswith("CREATE VIRTUAL TABLE")]


def build_structure(statements: Iterable[str]) -> Structure:
    """Return the structure that statements make."""
    with closing(sqlite3.connect(":memory:")) as database:
        for statement in statements:
            database.execute(statement)
        return read_structure(database)


def read_structure(database: sqlite3.Connection) -> Structure:
    """Return the parts of a database, without what SQLite itself keeps."""
    sql = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    return {
        (kind, name): (table, describe_part(database, kind, name, text))
        for kind, name, table, text in database.execute(sql).fetchall()
    }


def describe_part(database: sqlite3.Connection, kind: str, name: str, sql: str) -> Any:
    """Return what an index or a table is made of, however its statement is spelled."""
    if kind == "index":
        columns = [row[2:] for row in database.execute(f'PRAGMA index_xinfo("{name}")')]
        return sql.upper().startswith("CREATE UNIQUE"), sql.partition(" WHERE ")[2], columns
    return frozenset(describe_table(database, name)) if kind == "table" else None


def describe_table(database: sqlite3.Connection, name: str) -> Iterator[str]:
    for _, column, kind, is_required, _, _ in database.execute(f'PRAGMA table_info("{name}")'):
        yield f"column {column} {kind}{' NOT NULL' if is_required else ''}"
    for row in database.execute(f'PRAGMA foreign_key_list("{name}")'):
        yield f"reference of {row[3]} to {row[2]}"
    for _, index, is_unique, origin, _ in database.execute(f'PRAGMA index_list("{name}")').fetchall():
        if is_unique and origin != "c":
            columns = [row[2] for row in database.execute(f'PRAGMA index_info("{index}")')]
            yield f"unique {', '.join(columns)}"


def make_part(connection: Any, name: str, statement: str) -> None:
    """Make an index, trigger or view anew. Raises DatabaseError where rows contradict it."""
    with connection.schema_editor() as editor:
        if " INDEX " in statement.partition('"')[0]:  # it may be there, of other columns
            editor.execute(f'DROP INDEX IF EXISTS "{name}"', None)
        editor.execute(statement, None)


# ---- the tables of an empty store --------------------------------------------------------------------


class EmptyStore:
    """The tables of a connection's database, before anything is in them."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def has_no_tables(self) -> bool:
        """Return whether nothing was made in the database yet."""
        return not self.connection.introspection.table_names()

    def list_statements(self) -> list[str]:
        """Return the statements that make the tables and indexes, in the order in which they were made."""
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
            found = [(name, sql) for name, sql in cursor.fetchall() if not name.startswith("sqlite_")]
        full_text = [name for name, sql in found if "USING fts5" in sql]
        shadows = {f"{name}_{suffix}" for name in full_text for suffix in SHADOW_SUFFIXES}
        return [sql for name, sql in found if name not in shadows]

    def make_tables(self, statements: Iterable[str]) -> None:
        """Run the statements as a migration would: ranks of full text and first statistics are set too."""
        with self.connection.schema_editor() as editor:
            for statement in statements:
                editor.execute(statement, None)

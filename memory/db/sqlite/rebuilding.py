"""Indexes and full-text tables made anew, also where their own pages cannot be read or emptied."""

import sqlite3
from typing import Any

from django.db import DatabaseError

from memory.db.sqlite.empty_store import SHADOW_SUFFIXES
from memory.db.sqlite.schema import index_tables


def rebuild_index(connection: Any, name: str) -> None:
    """Make an index anew from its table."""
    try:
        run_statement(connection, f'REINDEX "{name}"')
    except DatabaseError:
        make_again(connection, [name])


def make_full_text_anew(connection: Any) -> None:
    """Make all full-text tables anew, empty."""
    full_text = [name for _, name in index_tables(connection)]
    make_again(
        connection, full_text, [f"{name}_{suffix}" for name in full_text for suffix in SHADOW_SUFFIXES]
    )


def make_again(connection: Any, names: list[str], parts: list[str] | None = None) -> None:
    """Forget tables or indexes without reading their pages, free those pages, and make them anew, empty.

    Not inside of a transaction: the file is written anew. Raises DatabaseError where a table is damaged too.
    """
    statements = forget(connection, names, parts or [])
    run_statement(connection, "VACUUM")  # the pages of what was forgotten belong to nothing
    with connection.schema_editor() as editor:
        for statement in statements:
            editor.execute(statement, None)


def forget(connection: Any, names: list[str], parts: list[str]) -> list[str]:
    """Take tables or indexes out of the list of tables; return the statements that made them."""
    marks = ", ".join(["%s"] * len(names))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT sql FROM sqlite_master WHERE name IN ({marks}) AND sql IS NOT NULL", names)
        statements = [sql for (sql,) in cursor.fetchall()]
    if len(statements) != len(names):
        raise DatabaseError("An index that is a part of its table cannot be made anew without the table.")
    link: sqlite3.Connection = connection.connection
    link.execute("PRAGMA writable_schema = ON")
    try:
        marks = ", ".join(["?"] * (len(names) + len(parts)))
        link.execute(f"DELETE FROM sqlite_master WHERE name IN ({marks})", [*names, *parts])
    finally:
        link.execute("PRAGMA writable_schema = RESET")
    connection.has_vocabularies = False
    return statements


def run_statement(connection: Any, statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)

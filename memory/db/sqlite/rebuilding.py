"""Indexes and full-text tables made anew, also where their own pages cannot be read or emptied."""

import sqlite3
from typing import Any

from django.apps import apps
from django.db import DatabaseError

from memory.db.indexes import full_text_index
from memory.db.sqlite.schema import full_text_table
from memory.db.sqlite.structure import SHADOW_SUFFIXES


def rebuild_index(connection: Any, name: str) -> None:
    """Make an index anew from its table."""
    try:
        run_statement(connection, f'REINDEX "{name}"')
    except DatabaseError:
        make_again(connection, read_statements(connection, name), [name])


def make_full_text_anew(connection: Any) -> None:
    """Make all full-text tables anew, empty, those that are gone too."""
    indexes = filter(None, map(full_text_index, apps.get_models()))
    names = [name for index in indexes for name in (index.name, index.closed)]
    parts = [f"{name}_{suffix}" for name in names for suffix in SHADOW_SUFFIXES]
    make_again(connection, [full_text_table(name) for name in names], [*names, *parts])


def make_again(connection: Any, statements: list[str], names: list[str]) -> None:
    """Forget tables or indexes without reading their pages, free those pages, and make them anew, empty.

    Not inside of a transaction: the file is written anew. Raises DatabaseError where a table is damaged too.
    """
    forget(connection, names)
    run_statement(connection, "VACUUM")  # the pages of what was forgotten belong to nothing
    with connection.schema_editor() as editor:
        for statement in statements:
            editor.execute(statement, None)


def read_statements(connection: Any, name: str) -> list[str]:
    """Return the statement that made an index."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT sql FROM sqlite_master WHERE name = %s AND sql IS NOT NULL", [name])
        if not (found := cursor.fetchall()):
            raise DatabaseError("An index that is a part of its table cannot be made anew without the table.")
    return [sql for (sql,) in found]


def forget(connection: Any, names: list[str]) -> None:
    """Take tables or indexes out of the list of tables."""
    marks = ", ".join(["?"] * len(names))
    link: sqlite3.Connection = connection.connection
    link.execute("PRAGMA writable_schema = ON")
    try:
        link.execute(f"DELETE FROM sqlite_master WHERE name IN ({marks})", names)
    finally:
        link.execute("PRAGMA writable_schema = RESET")
    connection.forget_temporary()


def run_statement(connection: Any, statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)

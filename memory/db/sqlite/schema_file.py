"""The tables of an empty store as a list of statements: to run all migrations takes ten seconds."""

from collections.abc import Iterable, Sequence
from typing import Any

# What FTS5 makes by itself beside each of its tables.
SHADOW_SUFFIXES = ("config", "content", "data", "docsize", "idx")


def list_statements(connection: Any) -> list[str]:
    """Return the statements that make the tables and indexes of a store, in the order they were made."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
        found = [(name, sql) for name, sql in cursor.fetchall() if not name.startswith("sqlite_")]
    shadows = {f"{name}_{suffix}" for name, sql in found if "USING fts5" in sql for suffix in SHADOW_SUFFIXES}
    return [sql for name, sql in found if name not in shadows]


def is_empty(connection: Any) -> bool:
    """Return whether the database has no tables yet."""
    return not connection.introspection.table_names()


def make_tables(connection: Any, statements: Iterable[str]) -> None:
    """Run the statements as a migration would: ranks of full text and first statistics are set too."""
    with connection.schema_editor() as editor:
        for statement in statements:
            editor.execute(statement, None)


def record_migrations(connection: Any, migrations: Sequence[tuple[str, str]]) -> None:
    """Write down that these migrations ran."""
    from django.db.migrations.recorder import MigrationRecorder

    recorder = MigrationRecorder(connection)
    for app, name in migrations:
        recorder.record_applied(app, name)

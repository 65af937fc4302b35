"""The tables of an empty store as a list of statements: to run all migrations takes ten seconds."""

from collections.abc import Iterable
from typing import Any

# What FTS5 makes by itself beside each of its tables.
SHADOW_SUFFIXES = ("config", "content", "data", "docsize", "idx")


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

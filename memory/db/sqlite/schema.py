"""A schema editor that creates the full-text tables, so that they survive Django's table remakes."""

from collections.abc import Iterable
from typing import Any

from django.db import models

from memory.db.bm25 import TOKENIZER
from memory.db.indexes import FullTextIndex, full_text_index
from memory.db.sqlite.django_internals import SQLiteSchemaEditor
from memory.db.sqlite.search_index import SearchIndex


class DatabaseSchemaEditor(SQLiteSchemaEditor):
    def full_text_sql(self, model: type[models.Model], index: FullTextIndex) -> str:
        return full_text_table(index.name)

    def drop_full_text_sql(self, model: type[models.Model], index: FullTextIndex) -> str:
        return f"DROP TABLE IF EXISTS {self.quote_name(index.name)}"

    def add_field(self, model: type[models.Model], field: Any) -> None:
        """Add a column; one of texts in place, where Django would copy the whole table."""
        is_text = type(field) is models.CharField and self.effective_default(field) == ""
        if not is_text or field.null or field.unique or field.db_index:
            return super().add_field(model, field)
        definition, _ = self.column_sql(model, field)
        table, column = self.quote_name(model._meta.db_table), self.quote_name(field.column)
        self.execute(f"ALTER TABLE {table} ADD COLUMN {column} {definition} DEFAULT ''", None)

    # ---- the table of closed versions ---------------------------------------------------------------

    def add_index(self, model: type[models.Model], index: models.Index) -> None:
        super().add_index(model, index)
        if isinstance(index, FullTextIndex):
            self.execute(full_text_table(index.closed), None)

    def _model_indexes_sql(self, model: type[models.Model]) -> list[Any]:
        index = full_text_index(model)
        return [*super()._model_indexes_sql(model), *([full_text_table(index.closed)] if index else [])]

    def remove_index(self, model: type[models.Model], index: models.Index) -> None:
        super().remove_index(model, index)
        if isinstance(index, FullTextIndex):
            self.execute(f"DROP TABLE IF EXISTS {self.quote_name(index.closed)}", None)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        super().__exit__(exc_type, exc_value, traceback)
        if exc_type is None and not self.collect_sql:
            # New tables have no statistics, and a remade one has lost them.
            SearchIndex(self.connection).seed_statistics()

    def execute(self, sql: Any, params: Any = ()) -> None:
        text = str(sql)
        if text.startswith(("ALTER TABLE", "DROP TABLE")) and not self.collect_sql:
            connection: Any = self.connection
            connection.drop_joined_views()
        super().execute(sql, params)
        if text.startswith("CREATE VIRTUAL TABLE"):
            name = text.split('"')[1]
            # Stored with the table: only the text is ranked, tokens have no weight.
            super().execute(
                f"INSERT INTO \"{name}\"(\"{name}\", rank) VALUES('rank', 'bm25(1.0, 0.0)')", None
            )

    def delete_model(self, model: type[models.Model], handle_autom2m: bool = True) -> None:
        super().delete_model(model, handle_autom2m=handle_autom2m)
        if handle_autom2m and (index := full_text_index(model)):  # False in a remake, which must keep it
            self.remove_index(model, index)


def full_text_table(name: str) -> str:
    # A table remake runs this again while the index and its rows still exist: hence IF NOT EXISTS.
    return f"CREATE VIRTUAL TABLE IF NOT EXISTS \"{name}\" USING fts5(text, tok, tokenize='{TOKENIZER}')"


def index_tables(connection: Any) -> list[tuple[str, str]]:
    """Return pairs of a table and its full-text table, which is named <table>_fts…, for those that exist."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%%USING fts5%%'")
        return [(name.rpartition("_fts")[0], name) for (name,) in cursor.fetchall()]


def list_filled(connection: Any, tables: Iterable[str]) -> list[str]:
    """Return those tables that have rows: after a test few of them, and to empty each other one costs too."""
    quote = connection.ops.quote_name
    parts = (f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM {quote(name)})" for name in tables)
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts))
        return [name for (name,) in cursor.fetchall()]

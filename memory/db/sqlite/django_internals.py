"""Django's classes for SQLite with the internal methods that we extend, which its type stubs leave out.

While the program runs they are Django's own classes.
"""

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.backends.sqlite3 import base, schema

if TYPE_CHECKING:

    class SQLiteWrapper(base.DatabaseWrapper):
        def _start_transaction_under_autocommit(self) -> None: ...
        def _commit(self) -> None: ...
        def _rollback(self) -> None: ...
        def _close(self) -> None: ...
        def create_cursor(self, name: str | None = None) -> Any: ...

    class SQLiteCursor(base.SQLiteCursorWrapper):
        def convert_query(self, query: str, *, param_names: list[str] | None = None) -> str: ...

    class SQLiteSchemaEditor(schema.DatabaseSchemaEditor):
        def _model_indexes_sql(self, model: type[models.Model]) -> list[Any]: ...

else:
    SQLiteWrapper = base.DatabaseWrapper
    SQLiteCursor = base.SQLiteCursorWrapper
    SQLiteSchemaEditor = schema.DatabaseSchemaEditor

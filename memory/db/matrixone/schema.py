"""DDL for MatrixOne: full-text indexes, and statements that its ALTER TABLE accepts."""

from typing import Any

from django.db import models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.mysql import schema

from memory.db.indexes import FullTextIndex


class DatabaseSchemaEditor(schema.DatabaseSchemaEditor):
    sql_rename_table = "ALTER TABLE %(old_table)s RENAME TO %(new_table)s"
    # Columns and constraints cannot be changed in one statement.
    sql_create_column_inline_fk: Any = None
    sql_delete_check = ""
    sql_rename_column = BaseDatabaseSchemaEditor.sql_rename_column
    _supports_limited_data_type_defaults = False

    def _model_indexes_sql(self, model: type[models.Model]) -> list[Any]:
        # Those that come with their table are chosen as those that come later.
        own: Any = self
        fields = [sql for field in model._meta.local_fields for sql in own._field_indexes_sql(model, field)]
        kept = [index for index in model._meta.indexes if serves_without_condition(index)]
        return fields + [index.create_sql(model, self) for index in kept]

    def add_index(self, model: type[models.Model], index: models.Index) -> None:
        if serves_without_condition(index):
            super().add_index(model, index)

    def remove_index(self, model: type[models.Model], index: models.Index) -> None:
        if serves_without_condition(index):
            super().remove_index(model, index)

    def full_text_sql(self, model: type[models.Model], index: FullTextIndex) -> str:
        column: Any = model._meta.get_field(index.fields[0])
        name, table, of = map(self.quote_name, (index.name, model._meta.db_table, column.column))
        return f"CREATE FULLTEXT INDEX {name} ON {table} ({of})"

    def drop_full_text_sql(self, model: type[models.Model], index: FullTextIndex) -> str:
        return f"DROP INDEX {self.quote_name(index.name)} ON {self.quote_name(model._meta.db_table)}"

    def _field_should_be_indexed(self, model: type[models.Model], field: Any) -> bool:
        # A foreign key has no constraint here that would bring an index, so it is indexed like any column.
        base: Any = BaseDatabaseSchemaEditor
        limited = field.db_type(self.connection) in self.connection._limited_data_types  # type: ignore[attr-defined]  # internal, so not in the stubs
        return base._field_should_be_indexed(self, model, field) and not limited

    def _create_missing_fk_index(self, model: Any, *, fields: Any, expressions: Any = None) -> None:
        """Do nothing: no index ever replaces that of a foreign key."""


def serves_without_condition(index: models.Index) -> bool:
    """Return whether an index is of use without its condition, which the server cannot keep.

    One whose condition is about other columns would hold all rows, for every writer to pay.
    """
    return index.condition is None or index.condition.referenced_base_fields <= set(index.fields)

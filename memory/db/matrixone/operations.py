"""Operations of the ORM, as MatrixOne writes them."""

from collections.abc import Sequence
from typing import Any

from django.db.backends.mysql import operations
from django.db.models.constants import OnConflict
from django.db.models.functions import Extract


class DatabaseOperations(operations.DatabaseOperations):
    connection: Any
    compiler_module = "memory.db.matrixone.compiler"
    cast_data_types = {**operations.DatabaseOperations.cast_data_types, "FloatField": "double"}
    integer_field_ranges = {
        **operations.DatabaseOperations.integer_field_ranges,
        "RowIdField": operations.DatabaseOperations.integer_field_ranges["BigIntegerField"],
    }

    def conditional_expression_supported_in_where_clause(self, expression: Any) -> bool:
        return True

    def lookup_cast(self, lookup_type: str, internal_type: str | None = None) -> str:
        text = ("contains", "startswith", "endswith", "regex", "iexact")
        if internal_type == "JSONField" and lookup_type.removeprefix("i") in (*text, "exact"[1:]):
            return "JSON_UNQUOTE(%s)"
        return super().lookup_cast(lookup_type, internal_type)

    def on_conflict_suffix_sql(
        self, fields: Any, on_conflict: Any, update_fields: Any, unique_fields: Any
    ) -> str:
        if on_conflict == OnConflict.UPDATE:  # the server does not know "AS new"
            names = [self.quote_name(name) for name in update_fields]
            return "ON DUPLICATE KEY UPDATE " + ", ".join(f"{name} = VALUES({name})" for name in names)
        return super().on_conflict_suffix_sql(fields, on_conflict, update_fields, unique_fields)

    def regex_lookup(self, lookup_type: str) -> str:
        return f"REGEXP_LIKE(%s, %s, '{'c' if lookup_type == 'regex' else 'i'}')"

    def explain_query_prefix(self, format: str | None = None, **options: Any) -> str:
        analyze = options.pop("analyze", False)
        return "EXPLAIN ANALYZE" if analyze else "EXPLAIN"

    def get_db_converters(self, expression: Any) -> list[Any]:
        found = super().get_db_converters(expression)
        return [extract_number, *found] if isinstance(expression, Extract) else found

    def sql_flush(
        self, style: Any, tables: Sequence[str], *, reset_sequences: bool = False, allow_cascade: bool = False
    ) -> list[str]:
        """Return statements that empty the tables, and with the vectors their copies."""
        copies = self.connection.index.vectors.list_tables() if "memory_vector" in tables else []
        return [
            f"{style.SQL_KEYWORD('DELETE FROM')} {style.SQL_FIELD(self.quote_name(table))};"
            for table in self._nonempty_tables([*tables, *copies])
        ]

    def _nonempty_tables(self, tables: Sequence[str]) -> list[str]:
        """Return the tables that have rows: checking costs less than deleting nothing from each."""
        names = [(table, self.quote_name(table)) for table in tables]
        requested = " UNION ALL ".join(f"(SELECT '{table}' FROM {name} LIMIT 1)" for table, name in names)
        with self.connection.cursor() as cursor:
            cursor.execute(requested)
            return [table for (table,) in cursor.fetchall()]

    def sequence_reset_by_name_sql(self, style: Any, sequences: Any) -> list[str]:
        return []  # the server cannot set them, and no code depends on them


def extract_number(value: Any, expression: Any, connection: Any) -> int | None:
    """Convert the text that EXTRACT returns to a number."""
    return None if value is None else int(value)

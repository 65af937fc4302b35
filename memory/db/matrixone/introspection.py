"""Introspection from the tables and statements that MatrixOne supports."""

from typing import Any

from django.db.backends.mysql import introspection
from django.db.models import Index

TYPES = {"BLOB": "BinaryField", "BOOL": "BooleanField"}


class DatabaseIntrospection(introspection.DatabaseIntrospection):
    def get_field_type(self, data_type: Any, description: Any) -> Any:
        """Return the field type by the column type's name: texts and bytes share one number on the wire."""
        ours = TYPES.get(description.data_type.upper())
        return ours or super().get_field_type(data_type, description)

    def get_relations(self, cursor: Any, table_name: str) -> dict[str, tuple[str, str]]:
        cursor.execute(
            "SELECT column_name, refer_column_name, refer_table_name FROM mo_catalog.mo_foreign_keys"
            " WHERE db_name = DATABASE() AND table_name = %s",
            [table_name.lower()],
        )
        return {column: (other, table) for column, other, table in cursor.fetchall()}

    def get_primary_key_columns(self, cursor: Any, table_name: str) -> list[str]:
        return self.get_constraints(cursor, table_name).get("PRIMARY", {}).get("columns", [])

    def get_constraints(self, cursor: Any, table_name: str) -> Any:
        """Return keys and indexes. The server stores no checks, and foreign keys are never created."""
        cursor.execute(f"SHOW INDEX FROM {self.connection.ops.quote_name(table_name)}")
        parts = sorted(cursor.fetchall(), key=lambda row: (row[2], row[3]))
        found: dict[str, dict[str, Any]] = {}
        for _, repeats, name, _, column, *rest in parts:
            kind = (rest[5] or "").lower()
            entry = found.setdefault(
                name,
                {
                    "columns": [],
                    "primary_key": name == "PRIMARY",
                    "unique": not repeats,
                    "index": True,
                    "check": False,
                    "foreign_key": None,
                    "type": kind or Index.suffix,
                },
            )
            entry["columns"].append(column)
        return found

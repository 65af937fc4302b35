"""The tables of an empty store, kept in ``schema.json`` beside this module."""

import json
from pathlib import Path
from typing import Any

from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from memory.db.backend import get_empty_store
from memory.engines.store.release import fold_replaced

FILE = Path(__file__).with_name("schema.json")


def create_store(connection: Any) -> bool:
    """Make all tables of the file in an empty database; return False, and do nothing, elsewhere.

    Migrations that are newer than the file are left to run. A file with a migration that is not installed is
    of other releases of the libraries, and is not used.
    """
    store = get_empty_store(connection.alias)
    if not store.has_no_tables():
        return False
    schema = json.loads(FILE.read_text(encoding="utf-8"))
    migrations = [(app, name) for app, name in schema["migrations"]]
    known = MigrationLoader(connection).disk_migrations
    if not set(migrations) <= known.keys():
        return False
    store.make_tables(schema["statements"])
    recorder = MigrationRecorder(connection)
    for app, name in migrations:
        for replaced in known[app, name].replaces or [(app, name)]:
            recorder.record_applied(*replaced)
    return True


def format_schema(connection: Any) -> str:
    """Return the tables of a migrated, empty store and its migrations as JSON, one a line."""
    parts: dict[str, list[Any]] = {
        "migrations": sorted(fold_replaced(MigrationRecorder(connection).applied_migrations())),
        "statements": get_empty_store(connection.alias).list_statements(),
    }
    return (
        "{\n" + ",\n".join(f'"{name}": [\n{format_rows(rows)}\n]' for name, rows in parts.items()) + "\n}\n"
    )


def format_rows(rows: list[Any]) -> str:
    return ",\n".join(json.dumps(row) for row in rows)

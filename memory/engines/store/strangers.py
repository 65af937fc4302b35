"""Files in a store's place that are no store: emptied ones, and databases of other programs."""

from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, connections

from memory.db.backend import get_features, get_file_check
from memory.engines.store.check.high_water import name_mark, read_mark
from memory.engines.store.release import APPS

MIGRATIONS = "django_migrations"
EMPTIED = (
    "{path} is empty, but {mark} says that it held a store: put a backup in its place, or remove both to"
    " begin anew."
)
FOREIGN = (
    "{path} is a database of another program: it has tables, and none of Day1's migrations. Name another data"
    " directory or database."
)


@dataclass(frozen=True)
class Stranger:
    """What is in the place of a store, by a stable code and a sentence."""

    code: str
    text: str


def find_stranger(alias: str = DEFAULT_DB_ALIAS) -> Stranger | None:
    """Return what is there instead of a store; None for a store, where one can be made, and for a server's
    database.
    """
    if not get_features(alias).has_online_backup:
        return None
    path = get_file_check(alias).path
    if not path.exists():
        return None
    if path.stat().st_size == 0:  # looked at before it is opened: SQLite removes the log of an empty file
        emptied = EMPTIED.format(path=path, mark=name_mark(path).name)
        return Stranger("truncated_file", emptied) if read_mark(path) else None
    is_foreign = is_of_another_program(connections[alias])
    return Stranger("no_store", FOREIGN.format(path=path)) if is_foreign else None


def is_of_another_program(connection: Any) -> bool:
    """Return whether Day1 did not make these tables, not even in a first start that was interrupted."""
    tables = connection.introspection.table_names()
    if MIGRATIONS not in tables:
        return bool(tables)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT DISTINCT app FROM {MIGRATIONS}")
        found = {app for (app,) in cursor.fetchall()}
    return not found & set(APPS) and not found <= {app.label for app in apps.get_app_configs()}

"""The first look at a store: one that a newer release has migrated is refused, and ids go on from its own."""

from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import DatabaseError
from django.db.models import Max

from memory.db.errors import NewerStore
from memory.models.nodes import continue_ids, new_rid

ROOT = Path(__file__).resolve().parents[3]
APPS = ("memory", "conversations", "curation", "analytics")

_checked: set[str] = set()


def check_release(connection: Any, **_: Any) -> None:
    """Refuse a store with migrations that are not on disk; once for each database. Raises NewerStore.

    Called for each new connection, so that no way into the store goes round it.
    """
    name = str(connection.settings_dict["NAME"])
    if connection.alias != "default" or name in _checked:
        return
    migrations = list_applied(connection)
    if unknown := [one for one in migrations if one not in list_known()]:
        connection.close()
        raise NewerStore(migration=".".join(unknown[0]), copy=describe_copy(name, unknown))
    if migrations:
        _checked.add(name)
        continue_ids(find_newest_rid(connection))


def find_newest_rid(connection: Any) -> int:
    """Return the greatest row id of the store, by the keys of its tables; one that is damaged is left out."""
    newest = 0
    for model in apps.get_models():
        if model._meta.pk.default is new_rid:
            with suppress(DatabaseError):
                found = model._base_manager.using(connection.alias).aggregate(newest=Max("pk"))
                newest = max(newest, found["newest"] or 0)
    return newest


def list_applied(connection: Any) -> list[tuple[str, str]]:
    """Return our migrations of a database in the order in which they ran; [] for an empty one."""
    if "django_migrations" not in connection.introspection.table_names():
        return []
    with connection.cursor() as cursor:
        cursor.execute("SELECT app, name FROM django_migrations ORDER BY id")
        return [(app, name) for app, name in cursor.fetchall() if app in APPS]


@cache
def list_known() -> frozenset[tuple[str, str]]:
    """Return the migrations of this code, by their files: to import them takes a tenth of a second."""
    files = [(app, path.stem) for app in APPS for path in (ROOT / app / "migrations").glob("0*.py")]
    return frozenset(files)


def name_copy(database: str, migration: str) -> Path:
    """Return the path of the copy of a store that is made before this migration."""
    return Path(f"{database}.before-{migration}")


def describe_copy(database: str, unknown: list[tuple[str, str]]) -> str:
    """Return which copy this code can go back to: that of before the first migration that it lacks."""
    copy = name_copy(database, unknown[0][1])
    return f"the copy {copy}" if copy.exists() else "a backup of before that upgrade"

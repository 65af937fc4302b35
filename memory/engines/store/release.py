"""The first look at a store: one that this code cannot go on with is refused, and ids go on from its own."""

from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import DatabaseError
from django.db.models import Max

from memory.db.errors import NewerStore, OlderStore
from memory.models.nodes import continue_ids, new_rid

ROOT = Path(__file__).resolve().parents[3]
APPS = ("memory", "conversations", "curation", "analytics")
FIRST = "0001_squashed"  # of each app, in the place of many
LAST_COMMIT = "9ceb925b"  # with the many: it completes a store that has only some of them
Migration = tuple[str, str]  # app and name

_checked: set[str] = set()


def check_release(connection: Any, **_: Any) -> None:
    """Refuse a store with unknown migrations or with a part of the replaced ones; once for each database.

    Called for each new connection: no way into the store goes round it. Raises NewerStore, OlderStore.
    """
    name = str(connection.settings_dict["NAME"])
    if connection.alias != "default" or name in _checked:
        return
    records = read_records(connection)
    if is_incomplete(records):
        connection.close()
        raise OlderStore(commit=LAST_COMMIT)
    migrations = list_own(records)
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


def list_applied(connection: Any) -> list[Migration]:
    """Return our migrations of a database in the order in which they ran; [] for an empty one."""
    return list_own(read_records(connection))


def list_own(records: list[Migration]) -> list[Migration]:
    return [one for one in fold_replaced(records) if one[0] in APPS]


def read_records(connection: Any) -> list[Migration]:
    """Return what a database has on record as applied, in that order."""
    if "django_migrations" not in connection.introspection.table_names():
        return []
    with connection.cursor() as cursor:
        cursor.execute("SELECT app, name FROM django_migrations ORDER BY id")
        return [(app, name) for app, name in cursor.fetchall()]


def has_all_migrations(connection: Any) -> bool:
    """Return whether each migration file of the installed apps is on record; where not, Django tells more.

    Django alone knows files that settings name elsewhere.
    """
    folders = {app.label: Path(app.path) / "migrations" for app in apps.get_app_configs()}
    files = {(label, path.stem) for label, folder in folders.items() for path in folder.glob("[!_~]*.py")}
    return not settings.MIGRATION_MODULES and files.issubset(fold_replaced(read_records(connection)))


def fold_replaced(records: Iterable[Migration]) -> list[Migration]:
    """Return migrations with the first one of an app in the place of all that it replaces.

    Django goes by these too: on record itself, it counts only with all of them.
    """
    found = [one for one in records if one not in list_replaced()]
    for first, replaced in list_replaced().items():
        if replaced.issubset(found):
            found = [first, *(one for one in found if one not in replaced)]
    return found


def is_incomplete(records: list[Migration]) -> bool:
    """Return whether a store has some of the replaced migrations.

    One that this code has migrated has the first of an app on record: there, apps may come one by one.
    """
    firsts, found = list_replaced(), set(fold_replaced(records))
    if any(found & replaced for replaced in firsts.values()):
        return True
    return firsts.keys().isdisjoint(records) and 0 < len(firsts.keys() & found) < len(firsts)


@cache
def list_replaced() -> dict[Migration, frozenset[Migration]]:
    """Return what the first migration of each app replaces."""
    names = {app: import_module(f"{app}.migrations").REPLACED for app in APPS}
    return {(app, FIRST): frozenset((app, name) for name in names[app]) for app in APPS}


@cache
def list_known() -> frozenset[Migration]:
    """Return the migrations of this code, by their files: to import them takes a tenth of a second."""
    files = [(app, path.stem) for app in APPS for path in (ROOT / app / "migrations").glob("0*.py")]
    return frozenset(files)


def name_copy(database: str, migration: str) -> Path:
    """Return the path of the copy of a store that is made before this migration."""
    return Path(f"{database}.before-{migration}")


def describe_copy(database: str, unknown: list[Migration]) -> str:
    """Return which copy this code can go back to: that of before the first migration that it lacks."""
    copy = name_copy(database, unknown[0][1])
    return f"the copy {copy}" if copy.exists() else "a backup of before that upgrade"

"""Provisioning of a new data directory: tables, and the file with the credentials of the first start."""

import json
import logging
from collections.abc import Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import connection

from day1site.server.process import CannotStart
from day1site.settings.first_key import find_file, name_store, read_file
from day1site.settings.paths import write_private
from memory.db.backend import get_backend, get_features
from memory.engines.access.provisioning import SLUG, USER, FirstStart, ProvisioningEngine
from memory.engines.store.maintenance import MaintenanceEngine
from memory.engines.store.release import has_all_migrations, name_copy, read_records
from memory.engines.store.strangers import find_stranger
from memory.exceptions import StoreDamaged

logger = logging.getLogger(__name__)

NOT_MIGRATED = (
    "The store is damaged, so it is not migrated. Repair it with the code that it is of (`day1 check` says"
    " how), go back to a backup, or save what can be read with `day1 salvage`."
)


def prepare(folder: Path, url: str, password: str = "") -> FirstStart | None:
    """Migrate the database, with a copy first; on the first start create the rest and return it.

    May be repeated.
    """
    migrate_store()
    _ = str(settings.SECRET_KEY)  # created now, not in a first request
    return ProvisioningEngine().provision(password=password, keep=partial(keep, folder, url))


def migrate_store() -> None:
    """Run the migrations that are due; a store that an earlier release has made is copied first.

    Where none is due, none is imported: that would take a twentieth of a start. Elsewhere than on SQLite
    Django's command makes the database too, and the database's own tools make copies.
    """
    if stranger := find_stranger():
        raise CannotStart(stranger.text)
    if get_features().has_online_backup:
        is_current = has_all_migrations(connection)
        if damage := get_backend().find_damage():
            logger.warning("The store is damaged since %s: it is served for reading.", damage.found_at)
        if is_current or not (pending := list_pending()):
            return
        if damage:
            raise StoreDamaged(NOT_MIGRATED)
        if read_records(connection):
            upgrade_store(pending)
            return
    call_command("migrate", verbosity=0, interactive=False)


def list_pending() -> list[str]:
    """Return the names of the migrations that are due, in their order."""
    from django.db.migrations.executor import MigrationExecutor  # it imports them all

    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [migration.name for migration, _ in plan]


def upgrade_store(pending: Sequence[str]) -> None:
    """Migrate a store of an earlier release, with a copy of it beside it, which that release can go back to.

    A migration that was interrupted has left the copy. Later code knows it by the name of the migration, see
    ``check_release``.
    """
    copy = name_copy(str(connection.settings_dict["NAME"]), pending[0])
    if not copy.exists():
        MaintenanceEngine().copy_store(copy)
        logger.warning("The store comes from an earlier release and is migrated; a copy of it is %s.", copy)
    call_command("migrate", verbosity=0, interactive=False)


def keep(folder: Path, url: str, made: FirstStart) -> None:
    """Write the file of a new store; one of an older store of the same name moves aside."""
    content = {"url": url, "project": SLUG, "user": made.user, "password": made.password, "key": made.key}
    file = find_first_key(folder)
    if file.exists():
        numbers = (file.with_suffix(f".old-{number}.json") for number in count(1))
        file.rename(next(other for other in numbers if not other.exists()))
    write(file, {**content, "store": name_store(settings.DATABASES["default"], folder)})


def find_first_key(folder: Path) -> Path:
    """Return the file with the credentials of this store's first start."""
    return find_file(folder, name_store(settings.DATABASES["default"], folder))


def write(file: Path, content: dict[str, Any]) -> None:
    write_private(file, json.dumps(content, indent=2) + "\n")


def refresh(folder: Path, **changes: str) -> None:
    """Update the server's address in the file, where programs look for it."""
    file = find_first_key(folder)
    content = read_file(file)
    if content and {**content, **changes} != content:
        write(file, {**content, **changes})


def set_password(folder: Path, password: str) -> None:
    """Set the admin user's password, and remove the old one from the file."""
    if not ProvisioningEngine().set_password(password=password):
        raise CannotStart(f"There is no user {USER} any more: leave --admin-password out.")
    refresh(folder, password="")

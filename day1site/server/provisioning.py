"""Provisioning of a new data directory: tables, a project, an admin user and a first API key."""

import json
import logging
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

from day1site.server.process import CannotStart
from day1site.settings.paths import write_private
from memory.actors import local_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.branches.manager import create_main
from memory.engines.store.maintenance import MaintenanceEngine
from memory.models import Membership, Project
from memory.models.nodes import next_rid

logger = logging.getLogger(__name__)

SLUG, USER = "default", "admin"
FILE = "first-key.json"


@dataclass(frozen=True)
class FirstStart:
    """Credentials of the first start, to be shown once. ``password`` is "" when the owner chose it."""

    user: str
    password: str
    key: str


def prepare(folder: Path, url: str, password: str = "") -> FirstStart | None:
    """Migrate the database, with a copy first; on the first start create the rest and return it.

    May be repeated.
    """
    copy_before_migration()
    call_command("migrate", verbosity=0, interactive=False)
    _ = str(settings.SECRET_KEY)  # created now, not in a first request
    next_rid.ready()
    # One transaction, with the file written inside: an interrupted start leaves nothing or everything.
    with transaction.atomic(savepoint=False):
        if Project.objects.exists():
            return None
        made = make_first(password)
        keep(folder, url, made)
    return made


def copy_before_migration() -> Path | None:
    """Copy a store that an earlier release has made to a file beside it; return the file.

    A migration that was interrupted leaves the copy of its first try. Elsewhere than on SQLite the database's
    own tools make copies.
    """
    if not connection.features.has_online_backup:  # type: ignore[attr-defined]
        return None  # without a look into the database, which the migration may have to make
    executor = MigrationExecutor(connection)
    pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    known = executor.loader.applied_migrations
    if not known or not pending:
        return None
    database = Path(str(connection.settings_dict["NAME"]))
    path = database.with_name(f"{database.name}.before-{pending[0][0].name}")
    if not path.exists():
        MaintenanceEngine().backup(path)
        logger.warning("The store comes from an earlier release and is migrated; a copy of it is %s.", path)
    return path


def make_first(password: str) -> FirstStart:
    project = Project.objects.create(name="Default", slug=SLUG)
    create_main(project)
    user, shown = admin_user(password)
    Membership.objects.create(project=project, user=user, role=Membership.Role.MAINTAINER)
    actor = local_actor(project.pk, label="first start")
    _, token = KeyEngine().create_key(label="first key", scopes=["admin"], actor=actor)
    return FirstStart(USER, shown, token)


def admin_user(password: str) -> tuple[Any, str]:
    """Return the admin user and the password to show; "" when the owner chose it, now or with
    createsuperuser.
    """
    users = get_user_model().objects
    if user := users.filter(username=USER).first():
        return user, ""
    chosen = password or secrets.token_urlsafe(12)
    return users.create_superuser(USER, password=chosen), "" if password else chosen


def keep(folder: Path, url: str, made: FirstStart) -> None:
    content = {"url": url, "project": SLUG, "user": made.user, "password": made.password, "key": made.key}
    write(folder, content)


def write(folder: Path, content: dict[str, Any]) -> None:
    write_private(folder / FILE, json.dumps(content, indent=2) + "\n")


def read(folder: Path) -> dict[str, Any]:
    """Return the content of the file; {} where its owner has removed it."""
    try:
        return json.loads((folder / FILE).read_text())
    except (OSError, ValueError):
        return {}


def refresh(folder: Path, **changes: str) -> None:
    """Update the server's address in the file, where programs look for it."""
    content = read(folder)
    if content and {**content, **changes} != content:
        write(folder, {**content, **changes})


def set_password(folder: Path, password: str) -> None:
    """Set the admin user's password, and remove the old one from the file."""
    user = get_user_model().objects.filter(username=USER).first()
    if user is None:
        raise CannotStart(f"There is no user {USER} any more: leave --admin-password out.")
    user.set_password(password)
    user.save(update_fields=["password"])
    refresh(folder, password="")

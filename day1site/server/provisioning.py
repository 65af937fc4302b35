"""What a new data directory gets: tables, a project, an admin user and a first API key."""

import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import transaction

from day1site.server import CannotStart
from day1site.settings.paths import write_private
from memory.actors import local_actor
from memory.engines.branches import create_main
from memory.engines.keys import KeyEngine
from memory.models import Membership, Project
from memory.models.nodes import next_rid

SLUG, USER = "default", "admin"
FILE = "first-key.json"


@dataclass(frozen=True)
class FirstStart:
    """What was made, to be shown once. ``password`` is "" when the owner chose it."""

    user: str
    password: str
    key: str


def prepare(folder: Path, url: str, password: str = "") -> FirstStart | None:
    """Bring the tables up to date; on the first start make the rest and return it. May run again."""
    call_command("migrate", verbosity=0, interactive=False)
    _ = str(settings.SECRET_KEY)  # kept now, not in somebody's first request
    next_rid.ready()
    # One transaction, and the file before its end: a start cut short leaves nothing or everything.
    with transaction.atomic(savepoint=False):
        if Project.objects.exists():
            return None
        made = make_first(password)
        keep(folder, url, made)
    return made


def make_first(password: str) -> FirstStart:
    project = Project.objects.create(name="Default", slug=SLUG)
    create_main(project)
    user, shown = admin_user(password)
    Membership.objects.create(project=project, user=user, role=Membership.Role.MAINTAINER)
    actor = local_actor(project.pk, label="first start")
    _, token = KeyEngine().create_key(label="first key", scopes=["admin"], actor=actor)
    return FirstStart(USER, shown, token)


def admin_user(password: str) -> tuple[Any, str]:
    """The admin user and the password to show, "" when the owner chose it, now or with createsuperuser."""
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
    """What the file says; {} where its owner has removed it."""
    try:
        return json.loads((folder / FILE).read_text())
    except (OSError, ValueError):
        return {}


def refresh(folder: Path, **changes: str) -> None:
    """Keep the address in the file true, for programs that look there for the server."""
    content = read(folder)
    if content and {**content, **changes} != content:
        write(folder, {**content, **changes})


def set_password(folder: Path, password: str) -> None:
    """Give the admin user another password; the file then no longer knows it."""
    user = get_user_model().objects.filter(username=USER).first()
    if user is None:
        raise CannotStart(f"There is no user {USER} any more: leave --admin-password out.")
    user.set_password(password)
    user.save(update_fields=["password"])
    refresh(folder, password="")

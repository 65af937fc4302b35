"""The first start of a store: a project, its admin user and a first key."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model

from memory.actors import local_actor
from memory.db.transactions import write_transaction
from memory.engines.access.keys import KeyEngine
from memory.engines.access.projects import open_project
from memory.models import Project

SLUG, USER = "default", "admin"


@dataclass(frozen=True)
class FirstStart:
    """Credentials of the first start, to be shown once. ``password`` is "" when the owner chose it."""

    user: str
    password: str
    key: str


class ProvisioningEngine:
    def provision(self, *, password: str = "", keep: Callable[[FirstStart], None]) -> FirstStart | None:
        """Create what a first start needs, and return its credentials; None where there is a project.

        ``keep`` stores the credentials within the transaction: an interrupted start leaves all or nothing.
        """
        if Project.objects.exists():  # a store that takes no writes can be served
            return None
        with write_transaction():
            if Project.objects.exists():
                return None
            first = create_first(password)
            keep(first)
        return first

    def set_password(self, *, password: str) -> bool:
        """Set the admin user's password; return False where that user is gone."""
        user = get_user_model().objects.filter(username=USER).first()
        if user is None:
            return False
        user.set_password(password)
        user.save(update_fields=["password"])
        return True


def create_first(password: str) -> FirstStart:
    project = Project.objects.create(name="Default", slug=SLUG)
    user, shown = get_or_create_admin(password)
    open_project(project, owners=[user])
    actor = local_actor(project.pk, label="first start")
    _, token = KeyEngine().create_key(label="first key", scopes=["admin"], actor=actor)
    return FirstStart(USER, shown, token)


def get_or_create_admin(password: str) -> tuple[Any, str]:
    """Return the admin user and the password to show; "" when the owner chose it, now or with
    createsuperuser.
    """
    users = get_user_model().objects
    if user := users.filter(username=USER).first():
        return user, ""
    chosen = password or secrets.token_urlsafe(12)
    return users.create_superuser(USER, password=chosen), "" if password else chosen

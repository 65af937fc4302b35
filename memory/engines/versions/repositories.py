"""Repositories that sessions worked in, so that the memory of another is not taken for that of this one."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from memory.actors import Actor
from memory.engines.support import validation as c
from memory.models import Session

ANY = "*"  # no repository in particular
MAX_LENGTH = 1000

_text = c.redact_stored(c.text_check(MAX_LENGTH))


def parse_repository(name: str, value: Any) -> str:
    """Return a repository as hooks name it: the remote's address without scheme and credentials, or a path.

    Raises Invalid.
    """
    address: str = _text(name, value).strip()
    _, scheme, rest = address.rpartition("://")
    host, _, path = rest.partition("/")
    if not scheme and ":" in host:  # git@host:path
        host, _, path = rest.partition(":")
    elif not scheme:
        return address
    return f"{host.rpartition('@')[2].lower()}/{path.strip('/').removesuffix('.git')}"


def list_repositories(project_id: UUID, session_ids: Iterable[str]) -> dict[str, str]:
    """Return the repositories of sessions, where they are known."""
    keys = {key for key in session_ids if key}
    rows = Session.objects.filter(project=project_id, key__in=keys).exclude(project_path="")
    return dict(rows.values_list("key", "project_path")) if keys else {}


def find_named_repository(actor: Actor) -> str:
    """Return the repository that the actor names, or an empty text."""
    return "" if actor.repository == ANY else actor.repository


def find_repository(actor: Actor) -> str:
    """Return the repository that the actor names, else that of its session, else an empty text."""
    if actor.repository or not actor.session_id:
        return find_named_repository(actor)
    return list_repositories(actor.project_id, [actor.session_id]).get(actor.session_id, "")


def select_sessions(project_id: UUID, repository: str) -> QuerySet[Session, str]:
    """Return the ids of a repository's sessions, as a query to filter by."""
    return Session.objects.filter(project=project_id, project_path=repository).values_list("key", flat=True)


def is_elsewhere(repository: str, own: str) -> bool:
    """Return whether a repository is known to be another than the own one."""
    return bool(own and repository and repository != own)

"""Repositories that sessions worked in, so that the memory of another is not taken for that of this one."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol
from uuid import UUID

from django.db.models import Q, QuerySet

from memory.actors import Actor
from memory.db.expressions import IndexCondition
from memory.db.querysets import VersionedQuerySet
from memory.db.raw_select import select_equal
from memory.engines.fields.types import Repository
from memory.engines.support import validation as c
from memory.models import Fact, Session
from memory.models.facts import REPOSITORY_INDEX
from memory.repository_names import ANY

NOT_IN = "not_in"  # in a memory's metadata: repositories whose sessions are not told it, ``*`` for all
_check = c.redact_stored(Repository(any=True).build_check())


class Located(Protocol):
    """A row that may name its repository, and the session that it comes from."""

    @property
    def repository(self) -> str: ...

    @property
    def session_id(self) -> str: ...


def parse_repository(name: str, value: Any) -> str:
    """Return a repository in the form in which it is stored. Raises Invalid."""
    repository: str = _check(name, value)
    return repository


def find_repositories(project_id: UUID, rows: Sequence[Located]) -> list[str]:
    """Return the repository of each row: its own, else that of its session, else an empty text."""
    known = list_repositories(project_id, (row.session_id for row in rows if not row.repository))
    return [row.repository or known.get(row.session_id, "") for row in rows]


def name_repositories(facts: Sequence[Fact], project_id: UUID) -> Sequence[Fact]:
    """Set the repository of each fact that names none to that of its session; return the facts."""
    for fact, repository in zip(facts, find_repositories(project_id, facts), strict=True):
        fact.repository = repository
    return facts


class Described(Protocol):
    """A row with metadata."""

    metadata: Any


def list_left_out(row: Described) -> list[str]:
    """Return the repositories whose sessions are not told a memory, as a curator said; ``*`` for all."""
    named = row.metadata.get(NOT_IN)
    return [name for name in named if isinstance(name, str)] if isinstance(named, list) else []


def is_left_out(row: Described, repository: str) -> bool:
    return bool(repository) and not {repository, ANY}.isdisjoint(list_left_out(row))


def list_repositories(project_id: UUID, session_ids: Iterable[str]) -> dict[str, str]:
    """Return the repositories of sessions, where they are known."""
    keys = {key for key in session_ids if key}
    if not keys:
        return {}  # without a query to build: every write asks
    rows = select_equal(Session, ("key", "project_path"), project=[project_id], key=keys)
    return {key: path for key, path in rows if path}


def find_named_repository(actor: Actor) -> str:
    """Return the repository that the actor names, or an empty text."""
    return "" if actor.repository == ANY else actor.repository


def find_repository(actor: Actor) -> str:
    """Return the repository that the actor names, else that of its session, else an empty text."""
    if actor.repository or not actor.session_id:
        return find_named_repository(actor)
    return list_repositories(actor.project_id, [actor.session_id]).get(actor.session_id, "")


def filter_sessions(rows: VersionedQuerySet, repository: str) -> VersionedQuerySet:
    """Filter the rows of a branch that come from sessions in a repository; ``*`` is any."""
    return rows if repository == ANY else rows.filter(session_id__in=select_sessions(rows, repository))


def filter_named(rows: VersionedQuerySet, repository: str) -> VersionedQuerySet:
    """Filter the facts that name a repository themselves, by their index."""
    return rows.filter(IndexCondition(REPOSITORY_INDEX), repository=repository)


def filter_repository(rows: VersionedQuerySet, repository: str) -> VersionedQuerySet:
    """Filter the rows of a branch that name a repository, or none and come from its sessions."""
    if repository == ANY:
        return rows
    own, inherited = Q(repository=repository), Q(session_id__in=select_sessions(rows, repository))
    return rows.filter(own | Q(repository="") & inherited)


def select_sessions(rows: VersionedQuerySet, repository: str) -> QuerySet[Session, str]:
    """Return the ids of a repository's sessions in the project of these rows, as a query to filter by."""
    branch, _ = rows.named_lineage[0]
    sessions = Session.objects.filter(project__branches=branch, project_path=repository)
    return sessions.values_list("key", flat=True)


def is_elsewhere(repository: str, own: str) -> bool:
    """Return whether a repository is known to be another than the own one."""
    return bool(own and repository and repository != own)

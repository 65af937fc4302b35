"""The session that a program works in, where its calls over MCP name none: its hooks bring the events of it.

Both have the same key. A session that was not heard of since a newer one began is idle or was killed: who
calls a tool has just been asked something. Where several are left, the one that was heard of within half an
hour is meant, if there is one alone; else what they have in common, which is their repository at most.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import NamedTuple

from django.db.models.functions import Coalesce
from django.utils import timezone

from memory.actors import Actor
from memory.db.bulk_sql import update_one
from memory.models import Session

OPEN, HEARD = timedelta(hours=12), timedelta(minutes=30)  # since when a session was last heard of
MAX_OPEN = 20  # sessions that are looked at


class Origin(NamedTuple):
    """Where a call comes from, as far as it is known."""

    repository: str = ""
    session_id: str = ""


class OpenSession(NamedTuple):
    """A session that runs, and when it was last heard of."""

    key: str
    project_path: str
    started_at: datetime
    heard_at: datetime


NOWHERE = Origin()


def note_key(session: Session, actor: Actor) -> None:
    """Keep with a session which key brings its events."""
    if actor.kind == "key" and session.brought_by != actor.id:
        session.brought_by = actor.id
        update_one(session, "brought_by", unless="erased_at")


def find_origin(actor: Actor, repository: str = "") -> Origin:
    """Return the repository and session that the actor's key works in; in the repository, if one is named."""
    if actor.kind != "key":
        return NOWHERE
    found = drop_idle([one for one in list_open(actor) if repository in ("", one.project_path)])
    now = timezone.now()
    heard = [one for one in found if now - one.heard_at < HEARD]
    chosen = heard if len(heard) == 1 else found
    return Origin(join_paths(chosen), chosen[0].key if len(chosen) == 1 else "")


def list_open(actor: Actor) -> list[OpenSession]:
    """Return the sessions that the key brings events of and that run."""
    rows = Session.objects.filter(project=actor.project_id, brought_by=actor.id, status=Session.Status.ACTIVE)
    rows = rows.filter(hidden=False, erased_at=None, deleted_at=None)
    since = timezone.now() - OPEN
    heard = rows.annotate(heard_at=Coalesce("active_at", "started_at")).filter(heard_at__gte=since)
    columns = heard.order_by("-heard_at").values_list(*OpenSession._fields)
    return [OpenSession(*row) for row in columns[:MAX_OPEN]]


def drop_idle(sessions: Sequence[OpenSession]) -> list[OpenSession]:
    """Return the newest session, and those that were heard of since it began."""
    newest = max(sessions, key=attrgetter("started_at"), default=None)
    return [one for one in sessions if newest and (one is newest or one.heard_at > newest.started_at)]


def join_paths(sessions: Sequence[OpenSession]) -> str:
    paths = {one.project_path for one in sessions}
    return paths.pop() if len(paths) == 1 else ""

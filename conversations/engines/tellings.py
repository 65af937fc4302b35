"""What the sessions of a branch were told last, whichever session it was."""

from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter
from typing import NamedTuple
from uuid import UUID

from conversations.engines.told import Entry, ToldTime, describe_told, list_entries, load_memories
from conversations.models import Message
from memory.actors import Actor
from memory.engines.sessions.manager import set_titles
from memory.models import Branch, RecallLog, Session

MAX_SESSIONS = 20  # begun last, and as many recalls after which one that began long ago is known
MAX_RECALLS = 100
SURFACE = "hook"  # of what is told with events


class Telling(NamedTuple):
    """What a session was told at once, and when; the session has its title."""

    session: Session
    at: datetime
    content: ToldTime


class DatedEntry(NamedTuple):
    """A telling whose memories were not read yet."""

    session: Session
    at: datetime
    entry: Entry


def list_tellings(*, actor: Actor, branch: Branch, limit: int, now: datetime) -> list[Telling]:
    """Return what the last sessions of a branch were told, the newest first: only what is still known.

    A session in quarantine, an erased one, and those of other branches are left out.
    """
    actor.require_scope("read", branch.name)
    dated = date_entries(branch, list_last_sessions(branch), 2 * limit)  # of some nothing is known any more
    found = load_memories(branch, [one.entry for one in dated], now)
    described = (
        Telling(one.session, one.at, describe_told(one.session, found, one.entry, now)) for one in dated
    )
    shown = [one for one in described if one.content.lines][:limit]
    set_titles([one.session for one in shown])
    return shown


def list_last_sessions(branch: Branch) -> list[Session]:
    """Return the sessions that began last, and older ones that were told something lately."""
    rows = Session.objects.filter(
        branch=branch, hidden=False, erased_at=None, deleted_at=None
    ).select_related("branch")
    newest = list(rows.order_by("-pk")[:MAX_SESSIONS])
    recalls = RecallLog.objects.filter(project=branch.project_id).order_by("-id")
    logged = recalls.values_list("session_id", "surface")[:MAX_RECALLS]
    others = {key for key, surface in logged if surface == SURFACE} - {one.key for one in newest}
    return newest + (list(rows.filter(key__in=others)) if others else [])


def date_entries(branch: Branch, sessions: Sequence[Session], limit: int) -> list[DatedEntry]:
    """Return the newest tellings with their times: a start's is the session's, a prompt's its message's."""
    entries = [(one, entry) for one in sessions for entry in list_filled(one, limit)]
    prompts = {prompt for _, (_, prompt, _) in entries if prompt}
    rows = Message.objects.in_lineage(branch.lineage())
    times = dict(rows.select_by_key(("uid", "created_at"), "uid", prompts))
    dated: list[DatedEntry] = []
    for session, entry in entries:
        before = dated[-1].at if dated and dated[-1].session is session else session.started_at
        dated.append(DatedEntry(session, find_time(times, entry, before), entry))
    dated.reverse()  # of one time the later comes first
    return sorted(dated, key=attrgetter("at"), reverse=True)[:limit]


def list_filled(session: Session, limit: int) -> list[Entry]:
    return [entry for entry in list_entries(session) if entry[2]][-limit:]


def find_time(times: dict[UUID, datetime], entry: Entry, before: datetime) -> datetime:
    """Return when something was told: what put a failed call right came after what was told before."""
    return times.get(entry[1], before) if entry[1] else before

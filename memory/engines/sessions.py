"""Sessions of agents. One that is named for the first time begins there."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from memory.actors import Actor
from memory.engines import cleaning as c
from memory.engines.audit import record
from memory.exceptions import NotFound
from memory.models import Branch, Session
from memory.models.nodes import next_rid

SUMMARY_BYTES = 64 * 1024


def begin_sessions(branch: Branch, at: datetime, named: Mapping[str, tuple[str, str]]) -> None:
    """Make the sessions that are not known yet, from their ids to (task, agent), in the running commit."""
    known = Session.objects.filter(project=branch.project_id, key__in=named).values_list("key", flat=True)
    missing = sorted(set(named) - set(known))
    new = [
        Session(
            project_id=branch.project_id, key=key, branch=branch, started_at=at,
            task_id=named[key][0], agent_id=named[key][1],
        )
        for key in missing
    ]  # fmt: skip
    # Another branch's writer may begin the same session at this moment: either row will do.
    Session.objects.bulk_create(new, ignore_conflicts=True)


class SessionEngine:
    def end_session(
        self,
        *,
        session_id: str,
        actor: Actor,
        status: str = Session.Status.COMPLETED,
        summary: str = "",
    ) -> Session:
        """Note that a session is over, how, and what came of it. Ending it again changes nothing.

        Raises NotFound, Invalid, TooLarge; a session on a branch that is out of reach is refused.
        """
        over = [Session.Status.COMPLETED.value, Session.Status.ABANDONED.value]
        status = c.one_of(over)("status", status)
        summary = c.long_text(SUMMARY_BYTES)("summary", summary) if summary else ""
        next_rid.ready()
        with transaction.atomic(savepoint=False):
            session = _find(actor, session_id)
            running = Session.objects.filter(pk=session.pk, status=Session.Status.ACTIVE)
            if running.update(status=status, summary=summary, ended_at=actor.now()):
                record(actor, "session.end", session.key, {"status": status})
        session.refresh_from_db()
        return session


def _find(actor: Actor, session_id: str) -> Session:
    actor.require("write")
    found = Session.objects.select_related("branch").filter(project=actor.project_id, key=session_id).first()
    if found is None:
        raise NotFound()
    actor.require("write", found.branch.name)
    return found

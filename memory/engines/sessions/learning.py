"""Learning from sessions: what does it, at their end and behind each prompt and answer."""

from time import sleep
from typing import Protocol
from uuid import UUID

from django.utils.module_loading import import_string

from memory.actors import Actor
from memory.conf import conf
from memory.engines.sessions.context import narrow_branch
from memory.exceptions import Conflict, QuotaExceeded
from memory.models import Session
from memory.models.end_users import get_owner
from memory.queue.producer import enqueue

CLAIM_WAIT_SECONDS = 0.5  # until a session is tried again that another worker learns from


class SessionConsolidator(Protocol):
    """Interface of the consolidator; DAY1["consolidator"] names the class."""

    def consolidate_session(self, *, session: Session, actor: Actor) -> int:
        """Extract facts from a session; return how many are new. A repeated run reads only what came
        since. Raises Conflict while another worker has the session.
        """

    def learn_running(self, *, session: Session, actor: Actor) -> int:
        """Extract facts from what came since the last time, while the session runs: quickly, without a model.
        Raises as ``consolidate_session``.
        """


def load_consolidator() -> SessionConsolidator | None:
    """Return the configured consolidator, or None."""
    path = conf().consolidator
    return import_string(path)() if path else None


def find_learnable(session_pk: int) -> Session | None:
    """Return a session from which may be learned, None for any other."""
    rows = Session.objects.select_related("branch").filter(
        erased_at=None, deleted_at=None, branch__archived_at=None
    )
    session = rows.filter(pk=session_pk).first()
    if session:
        narrow_branch(session)
    return session


def system_actor(session: Session) -> Actor:
    """Return the server's own actor for work on a session."""
    return Actor(
        session.project_id,
        "system",
        label="day1",
        scopes=frozenset({"admin"}),
        surface="task",
        end_user=get_owner(session),
        session_id=session.key,
        task_id=session.task_id,
        agent_id=session.agent_id,
    )


def enqueue_learning(session: Session, *, is_over: bool = False) -> None:
    """Queue what a session said and did: all of it where it is over, else what came since the last time."""
    if conf().consolidator and not session.branch.archived_at:
        enqueue("memory.consolidate" if is_over else "memory.learn", session.pk)


def read_again(session: Session, uid: UUID) -> None:
    """Have a session read again from a message or observation on, which came late."""
    later = Session.objects.filter(pk=session.pk, compared_to__gte=uid)
    later.update(compared_to=UUID(int=uid.int - 1))
    enqueue_learning(session)


def learn_running(session_pk: int) -> int:
    """Learn from a session that runs; return how many facts are new.

    One that ended meanwhile is learned from as a whole: whoever does that may have found it claimed.
    """
    session, engine = find_learnable(session_pk), load_consolidator()
    if session is None or engine is None:
        return 0
    count = 0
    if session.status == Session.Status.ACTIVE:
        try:
            count = engine.learn_running(session=session, actor=system_actor(session))
        except QuotaExceeded:
            return 0
        except Conflict:  # another worker has it
            sleep(CLAIM_WAIT_SECONDS)
            enqueue("memory.learn", session_pk)
            return 0
        session.refresh_from_db(fields=["status", "consolidated_at"])
    if session.status != Session.Status.ACTIVE and not session.consolidated_at:
        enqueue_learning(session, is_over=True)
    return count

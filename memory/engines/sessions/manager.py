"""Sessions of agents: begun when first named, ended once, and what is known of one at a glance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Protocol

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.module_loading import import_string

from memory.actors import Actor
from memory.conf import conf
from memory.db.rerun import rerunning
from memory.engines import cleaning as c
from memory.engines.audit import record
from memory.engines.branches import MAIN, find_branch
from memory.engines.buffers import buffer
from memory.engines.pages import Page, check_limit, page_of
from memory.engines.session_context import facts_of, observed
from memory.exceptions import BranchArchived, NotFound
from memory.models import Branch, Session
from memory.models.nodes import next_rid
from memory.queue import enqueue

IDLE = timedelta(hours=24)  # without a word: abandoned
SWEPT = timedelta(days=7)  # back to which the sweep looks for sessions that were not learned from
CHUNK = 200
S = Session.Status

CHECKS: dict[str, c.Check] = {
    "session_id": c.text(200, least=1),
    "project_path": c.text(1000),
    "parent_session": c.text(200),
    "task_id": c.text(200),
    "agent_id": c.text(200),
    "summary": c.long_text(64 * 1024),
}


class SessionPart(Protocol):
    """What another app keeps of a session; DAY1["session_parts"] names the classes."""

    def close(self, session: Session, actor: Actor) -> None:
        """The session ends: end what belongs to it, in the caller's transaction."""

    def context(self, session: Session, actor: Actor, limits: Mapping[str, int]) -> dict[str, Any]:
        """What this app adds to the session's context."""


class SessionConsolidator(Protocol):
    """What learns from a session; DAY1["consolidator"] names the class."""

    def consolidate_session(self, *, session: Session, actor: Actor) -> int:
        """Facts from a session; returns how many are new. Again, it learns only what came since."""


@dataclass(frozen=True)
class Begun:
    """A session as stored; ``created`` is False where it was known."""

    session: Session
    created: bool


@dataclass
class SessionContext:
    """What the next one should know of a session."""

    session: Session
    facts: Sequence[Any] = ()
    observations: dict[str, Any] = field(default_factory=dict)
    parent_summary: str = ""
    parts: dict[str, Any] = field(default_factory=dict)


# ---- the manager -----------------------------------------------------------------------------------


@rerunning
class SessionManager:
    def create_session(
        self, *, session_id: str, actor: Actor, branch_name: str = MAIN, **fields: Any
    ) -> Begun:
        """Begin a session, or find the one of this id: what it did not say yet is added, nothing changes.

        Raises Invalid and its kin, BranchNotFound, BranchArchived, scope and branch refusals.
        """
        actor.require("write", branch_name)
        given = c.clean({"session_id": session_id, **fields}, CHECKS)
        actor = actor.stating(agent_id=given.pop("agent_id", ""), task_id=given.pop("task_id", ""))
        values = {**given, "agent_id": actor.agent_id, "task_id": actor.task_id}
        key = values.pop("session_id")
        next_rid.ready()
        with transaction.atomic(savepoint=False):
            branch = find_branch(actor, branch_name)
            if branch.archived_at:
                raise BranchArchived(name=branch_name)
            session, created = Session.objects.get_or_create(
                project_id=actor.project_id, key=key,
                defaults={"branch": branch, "started_at": actor.now(), **values},
            )  # fmt: skip
            if created:
                record(actor, "session.create", key)
            else:
                _complete(session, values)
        return Begun(session, created)

    def get_session(self, *, session_id: str, actor: Actor) -> Session:
        """Raises NotFound, BranchForbidden."""
        actor.require("read")
        return _find(actor, session_id)

    def get_recent_sessions(
        self, *, actor: Actor, branch_name: str = "", status: str = "", agent_id: str = "",
        task_id: str = "", limit: int = 50, cursor: str = "",
    ) -> Page[Session]:  # fmt: skip
        """Those that the actor may see, the last begun first."""
        actor.require("read", branch_name or None)
        sessions = _visible(actor)
        wanted = {"branch__name": branch_name, "status": status, "agent_id": agent_id, "task_id": task_id}
        if status:
            c.one_of(S.values)("status", status)
        sessions = sessions.filter(**{name: value for name, value in wanted.items() if value})
        return page_of(sessions, key="-id", limit=limit, cursor=cursor)

    def get_session_context(
        self, *, session_id: str, actor: Actor, message_limit: int = 50, fact_limit: int = 20
    ) -> SessionContext:
        """What was said, learned and done in a session. Raises NotFound, BranchForbidden, Invalid."""
        actor.require("read")
        check_limit(message_limit)
        check_limit(fact_limit)
        session = _find(actor, session_id)
        parent = _visible(actor).filter(key=session.parent_session or None).first()
        limits = {"messages": message_limit, "facts": fact_limit}
        parts: dict[str, Any] = {}
        for part in session_parts():
            parts |= part.context(session, actor, limits)
        return SessionContext(
            session, facts_of(session, actor, fact_limit), observed(session),
            parent.summary if parent else "", parts,
        )  # fmt: skip

    def end_session(
        self, *, session_id: str, actor: Actor, status: str = S.COMPLETED, summary: str = ""
    ) -> Session:
        """It is over, and its conversations with it. Ending it again changes nothing, but a summary is
        added where there is none.

        Raises NotFound, Invalid, TooLarge; a session on a branch that is out of reach is refused.
        """
        actor.require("write")
        status = c.one_of([S.COMPLETED.value, S.ABANDONED.value])("status", status)
        text = c.clean({"summary": summary}, CHECKS)["summary"] if summary else ""
        next_rid.ready()
        with transaction.atomic(savepoint=False):
            session = _find(actor, session_id)
            actor.require("write", session.branch.name)
            _end(session, actor, status, text)
        return session

    def follow(self, *, session_id: str, actor: Actor, branch_name: str, project_path: str) -> Session:
        """Begin or find a session; a new one follows the last session before it on the same path."""
        known = Session.objects.filter(project=actor.project_id, key=session_id).first()
        if known and (known.project_path or not project_path):
            return known  # nothing is added: most events of a session end here
        where = {"session_id": session_id, "branch_name": branch_name, "project_path": project_path}
        begun = self.create_session(actor=actor, **where)
        if begun.created and project_path:
            others = Session.objects.filter(branch=begun.session.branch, project_path=project_path)
            last = others.exclude(pk=begun.session.pk).order_by("-pk").first()
            if last:
                self.create_session(actor=actor, parent_session=last.key, **where)
        return begun.session

    def resume_session(self, *, session_id: str, actor: Actor) -> Session:
        """An ended session goes on; one that is active stays as it is. Raises NotFound."""
        actor.require("write")
        next_rid.ready()
        with transaction.atomic(savepoint=False):
            session = _find(actor, session_id)
            actor.require("write", session.branch.name)
            over = Session.objects.filter(pk=session.pk).exclude(status=S.ACTIVE)
            if over.update(status=S.ACTIVE, ended_at=None):
                record(actor, "session.resume", session.key)
        return session

    def summarise(self, *, session_id: str, actor: Actor, summary: str) -> None:
        """Put a newer summary in the place of the one that there was. Raises NotFound, TooLarge."""
        actor.require("write")
        session = _find(actor, session_id)
        actor.require("write", session.branch.name)
        if summary.strip():
            text = c.clean({"summary": summary}, CHECKS)["summary"]
            Session.objects.filter(pk=session.pk).update(summary=text)

    def learn_from(self, *, session_id: str, actor: Actor) -> None:
        """Have a session that still runs consolidated. Raises NotFound."""
        actor.require("write")
        _consolidate(_find(actor, session_id))

    def consolidate(self, session_pk: int) -> int:
        """Let the consolidator that the settings name learn from a session; returns how many facts are new.

        Again, it learns only what came since.
        """
        session = Session.objects.select_related("branch").filter(pk=session_pk).first()
        engine = consolidator()
        if session is None or engine is None or session.branch.archived_at:
            return 0
        started = timezone.now()
        count = engine.consolidate_session(session=session, actor=system_actor(session))
        Session.objects.filter(pk=session.pk).update(consolidated_at=started)
        return count

    def consolidate_ended(self) -> None:
        """The sessions of the last week that ended and were not learned from since."""
        if consolidator() is None:
            return
        ended = Session.objects.filter(ended_at__gte=timezone.now() - SWEPT, branch__archived_at=None)
        waiting = ended.filter(Q(consolidated_at=None) | Q(consolidated_at__lt=F("ended_at")))
        for pk in waiting.order_by("pk").values_list("pk", flat=True)[:CHUNK]:
            self.consolidate(pk)

    def abandon_orphans(self, now: datetime | None = None) -> int:
        """End, as abandoned, what has not been heard of for 24 hours; returns how many."""
        buffer.flush()
        before = (now or timezone.now()) - IDLE
        heard = Session.objects.filter(status=S.ACTIVE).annotate(heard=Coalesce("active_at", "started_at"))
        idle = heard.filter(heard__lt=before).select_related("branch").order_by("pk")
        count = 0
        for session in idle.iterator(CHUNK):
            actor = system_actor(session)
            next_rid.ready()
            with transaction.atomic(savepoint=False):
                _end(session, actor, S.ABANDONED, "")
            count += 1
        return count


# ---- pieces ----------------------------------------------------------------------------------------


@cache
def session_parts() -> tuple[SessionPart, ...]:
    """What the other apps keep of a session, as the settings name it."""
    return tuple(import_string(path)() for path in conf().session_parts)


def consolidator() -> SessionConsolidator | None:
    """What learns from sessions, as the settings name it."""
    path = conf().consolidator
    return import_string(path)() if path else None


def system_actor(session: Session) -> Actor:
    """The server itself, at work on a session."""
    return Actor(
        session.project_id, "system", label="day1", scopes=frozenset({"admin"}), surface="task",
        session_id=session.key, task_id=session.task_id, agent_id=session.agent_id,
    )  # fmt: skip


def _visible(actor: Actor) -> Any:
    sessions = Session.objects.filter(project=actor.project_id).select_related("branch")
    if actor.branch_patterns:
        names = Branch.objects.filter(project=actor.project_id).values_list("name", flat=True)
        sessions = sessions.filter(branch__name__in=[name for name in names if actor.may_use(name)])
    return sessions


def _find(actor: Actor, session_id: str) -> Session:
    key = c.plain_text("session_id", session_id)
    session = Session.objects.select_related("branch").filter(project=actor.project_id, key=key).first()
    if session is None:
        raise NotFound("There is no session with this id.")
    actor.require("read", session.branch.name)
    return session


def _complete(session: Session, values: Mapping[str, Any]) -> None:
    """What the session's row did not say yet; what it says stays."""
    news = {name: value for name, value in values.items() if value and not getattr(session, name)}
    if news:
        Session.objects.filter(pk=session.pk).update(**news)
        for name, value in news.items():
            setattr(session, name, value)


def _consolidate(session: Session) -> None:
    if conf().consolidator and not session.branch.archived_at:
        enqueue("memory.consolidate", session.pk)


def _end(session: Session, actor: Actor, status: str, summary: str) -> None:
    if summary:
        Session.objects.filter(pk=session.pk, summary="").update(summary=summary)
    if Session.objects.filter(pk=session.pk, status=S.ACTIVE).update(status=status, ended_at=actor.now()):
        if not session.branch.archived_at:
            for part in session_parts():
                part.close(session, actor)
        record(actor, "session.end", session.key, {"status": status})
        _consolidate(session)
    session.refresh_from_db()

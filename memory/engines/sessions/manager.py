"""Agents' sessions: created on first use, ended once, with a context for the next session."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Any, ClassVar, Protocol, Self, Unpack
from uuid import UUID

from django.db.models import F, Min, Q
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.text import Truncator

from memory.actors import Actor, own_session
from memory.conf import conf
from memory.db.querysets import Lineage
from memory.db.raw_select import build_instances, fetch_each
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.fields.base import Use
from memory.engines.fields.capture import FACT_LIMIT, MESSAGE_LIMIT, SESSION, SessionFields
from memory.engines.fields.common import ANY_BRANCH
from memory.engines.fields.orders import SESSIONS
from memory.engines.sessions import learning
from memory.engines.sessions.context import (
    MAX_PREVIOUS,
    filter_visible,
    find_session,
    observation_counts,
    plan_previous,
    read_summary,
    require_scope,
    session_facts,
)
from memory.engines.sessions.creation import CreatedSession, refuse_erased_session, store_session
from memory.engines.support import validation as c
from memory.engines.support.idempotency import retry_on_conflict
from memory.engines.support.pagination import Page, Sorting, check_limit, paginate
from memory.engines.support.write_buffer import buffer
from memory.engines.versions.lookup import MAIN, find_branch
from memory.engines.versions.repositories import is_elsewhere
from memory.exceptions import Conflict, NotFound, QuotaExceeded
from memory.extensions import load_classes
from memory.models import Branch, BranchedModel, Fact, Session
from memory.queue.producer import enqueue
from memory.repository_names import ANY
from memory.texts import OWN_SUMMARY

IDLE = timedelta(hours=24)  # of inactivity: abandoned
MAX_TITLE = 120  # characters
SWEPT = timedelta(days=7)  # age limit of sessions that the sweep still consolidates
BATCH_SIZE = 200
Status = Session.Status

CHECKS = SESSION.field_checks(Use.CREATE) | {"summary": SESSION["summary"].check}


@dataclass(frozen=True)
class Utterance:
    """When something was said, and by whom; "" for what nobody said, such as a tool's output."""

    PERSON: ClassVar = "a person"
    AGENT: ClassVar = "the agent"

    at: datetime
    speaker: str = ""
    author: str = ""  # kind and id of the person whose words they are; "" where several brought them
    name: str = ""

    def is_same_person(self, other: Self) -> bool:
        """Return whether one person said both, as far as is known: see ``find_holder``."""
        return not (self.author and other.author) or self.author == other.author


class SessionPart(Protocol):
    """Interface of another app's part of a session; DAY1["session_parts"] names the classes."""

    def close(self, session: Session, actor: Actor) -> None:
        """Close the app's part of an ending session, in the caller's transaction."""

    def context(self, session: Session, actor: Actor, limits: Mapping[str, int]) -> dict[str, Any]:
        """Return the app's part of the session's context."""

    def find_last_events(self, branch: Branch, sessions: Sequence[Session]) -> Mapping[str, datetime]:
        """Return when something last happened in the app's part of each session, where anything did."""

    def find_titles(self, branch: Branch, sessions: Sequence[Session]) -> Mapping[str, str]:
        """Return what a person first asked for in each session, where anybody did."""

    def find_utterances(self, lineage: Lineage, message_ids: Sequence[UUID]) -> Mapping[UUID, Utterance]:
        """Return when each of the messages was said and by whom, where it is visible on the lineage."""

    def summarise(self, session: Session, lineage: Lineage, rows: Sequence[BranchedModel]) -> str | None:
        """Return Day1's own summary of a session whose rows were deleted or came back; None where it quotes
        none of them.
        """


@dataclass
class SessionContext:
    """Context of a session, for its successor."""

    session: Session
    facts: Sequence[Any] = ()
    observations: dict[str, Any] = field(default_factory=dict)
    parent_summary: str = ""
    parts: dict[str, Any] = field(default_factory=dict)


@retry_methods
class SessionManager:
    def create_session(
        self, *, session_id: str, actor: Actor, branch_name: str = MAIN, **fields: Unpack[SessionFields]
    ) -> CreatedSession:
        """Create a session, or find the one with this id: missing fields are filled in, present ones stay.

        Raises Invalid and its subclasses, BranchNotFound, BranchArchived, BranchReadOnly, scope and branch
        refusals; BranchForbidden for a known session on a branch that the actor may not use.
        """
        actor.require_scope("write", branch_name)
        checked = c.validate({"session_id": session_id, **fields}, CHECKS)
        actor = actor.with_origin(agent_id=checked.pop("agent_id", ""), task_id=checked.pop("task_id", ""))
        values = {**checked, "agent_id": actor.agent_id, "task_id": actor.task_id, **asdict(actor.end_user)}
        key = own_session(values.pop("session_id"), actor.end_user)
        values["parent_session"] = own_session(values.get("parent_session", ""), actor.end_user)
        return retry_on_conflict(partial(store_session, actor, branch_name, key, values))

    def get_session(self, *, session_id: str, actor: Actor) -> Session:
        """Return a session. Raises NotFound, also for one in quarantine; BranchForbidden."""
        actor.require_scope("read")
        return get_session(actor, session_id, is_shown=True)

    def get_recent_sessions(
        self,
        *,
        actor: Actor,
        branch_name: Annotated[str, ANY_BRANCH] = "",
        status: str = "",
        agent_id: str = "",
        task_id: str = "",
        repository: str = "",
        **paging: Unpack[Sorting],
    ) -> Page[Session]:
        """List the sessions that the actor may see, most recently created first."""
        actor.require_scope("read", branch_name or None)
        sessions = filter_visible(actor)
        requested = {"branch__name": branch_name, "status": status, "agent_id": agent_id, "task_id": task_id}
        requested["project_path"] = "" if repository == ANY else repository
        if status:
            c.one_of(Status.values)("status", status)
        sessions = sessions.filter(**c.drop_empty(requested))
        return paginate(sessions, SESSIONS, **paging)

    def get_session_context(
        self,
        *,
        session_id: str,
        actor: Actor,
        message_limit: Annotated[int, MESSAGE_LIMIT] = 50,
        fact_limit: Annotated[int, FACT_LIMIT] = 20,
    ) -> SessionContext:
        """Return a session's messages, facts and observations. Raises NotFound, BranchForbidden, Invalid."""
        actor.require_scope("read")
        check_limit(message_limit)
        check_limit(fact_limit)
        session = get_session(actor, session_id, is_shown=True)
        parent = filter_visible(actor).filter(key=session.parent_session or None).first()
        limits = {"messages": message_limit, "facts": fact_limit}
        parts: dict[str, Any] = {}
        is_told = parent and not is_elsewhere(parent.project_path, session.project_path)
        for part in session_parts():
            parts |= part.context(session, actor, limits)
        return SessionContext(
            session,
            session_facts(session, actor, fact_limit),
            observation_counts(session),
            read_summary(parent, session.branch.lineage(), timezone.now()) if is_told else "",
            parts,
        )

    def end_session(
        self, *, session_id: str, actor: Actor, status: str = Status.COMPLETED, summary: str = ""
    ) -> Session:
        """End a session and its conversations. Ending it again adds a summary where there is none, or Day1's
        own, and has what was said since learned.

        Raises NotFound, Invalid, TooLarge, and BranchForbidden where the actor may not use its branch.
        """
        actor.require_scope("write", grows=False)
        status = c.one_of([Status.COMPLETED.value, Status.ABANDONED.value])("status", status)
        text = c.validate({"summary": summary}, CHECKS)["summary"] if summary else ""
        with write_transaction():
            session = get_session(actor, session_id)
            require_scope(actor, "write", session)
            if text:
                refuse_erased_session(session)
            end_session(session, actor, status, text)
        return session

    def get_or_create(self, *, session_id: str, actor: Actor, branch_name: str, project_path: str) -> Session:
        """Create or find a session; a new one follows the last one on its path in which something happened.

        Raises BranchForbidden for a known session on a branch that the actor may not use.
        """
        known = find_session(actor.project_id, session_id)
        if known and (known.project_path or not project_path or known.erased_at or known.deleted_at):
            require_scope(actor, "write", known)
            return known  # nothing to add: the common case for events of a session
        fields: SessionFields = {"project_path": project_path}
        if known is None and project_path:
            branch = find_branch(actor, branch_name)
            stored_path = clean_path(project_path)
            last = find_previous(Session(key=session_id, branch=branch, project_path=stored_path))
            fields["parent_session"] = last.key if last else ""
        where = {"session_id": session_id, "branch_name": branch_name}
        return self.create_session(actor=actor, **where, **fields).session

    def resume_session(self, *, session_id: str, actor: Actor) -> Session:
        """Resume an ended session; an active one stays as it is. Raises NotFound."""
        actor.require_scope("write")
        with write_transaction():
            session = get_session(actor, session_id)
            require_scope(actor, "write", session)
            over = Session.objects.filter(pk=session.pk).exclude(status=Status.ACTIVE)
            if over.update(status=Status.ACTIVE, ended_at=None):
                session.status, session.ended_at = Status.ACTIVE, None
                record_entry(actor, "session.resume", session.key)
        return session

    def replace_summary(self, *, session_id: str, actor: Actor, summary: str) -> None:
        """Replace the session's summary; an erased one gets none. Raises NotFound, TooLarge."""
        actor.require_scope("write")
        session = get_session(actor, session_id)
        require_scope(actor, "write", session)
        if summary.strip():
            text = c.validate({"summary": summary}, CHECKS)["summary"]
            Session.objects.filter(pk=session.pk, erased_at=None).update(summary=text)

    def request_consolidation(self, *, session_id: str, actor: Actor) -> None:
        """Queue the consolidation of a session that still runs. Raises NotFound."""
        actor.require_scope("write")
        learning.enqueue_learning(get_session(actor, session_id), is_over=True)

    def consolidate_session(self, session_pk: int) -> int:
        """Consolidate a session with the configured consolidator; return how many facts are new.

        A repeated run reads only what came since.
        """
        session = learning.find_learnable(session_pk)
        engine = learning.load_consolidator()
        if session is None or engine is None:
            return 0
        started = timezone.now()
        try:
            count = engine.consolidate_session(session=session, actor=learning.system_actor(session))
        except (Conflict, QuotaExceeded):  # another worker has it, or there is no room: the sweep looks again
            return 0
        Session.objects.filter(pk=session.pk).update(consolidated_at=started)
        return count

    def consolidate_ended(self) -> None:
        """Queue the sessions that ended in the last week and were not consolidated since.

        Each is a task of its own: one that crashes its worker is set aside without the others.
        """
        if learning.load_consolidator() is None:
            return
        recent = {"ended_at__gte": timezone.now() - SWEPT, "branch__archived_at": None}
        ended = Session.objects.filter(**recent, erased_at=None, deleted_at=None)
        waiting = ended.filter(Q(consolidated_at=None) | Q(consolidated_at__lt=F("ended_at")))
        for pk in waiting.order_by("pk").values_list("pk", flat=True)[:BATCH_SIZE]:
            enqueue("memory.consolidate", pk)

    def abandon_orphans(self, now: datetime | None = None) -> int:
        """End, as abandoned, the sessions without activity for 24 hours; return how many."""
        buffer.flush()
        before = (now or timezone.now()) - IDLE
        heard = Session.objects.filter(status=Status.ACTIVE, deleted_at=None).annotate(
            heard=Coalesce("active_at", "started_at")
        )
        idle = heard.filter(heard__lt=before)
        count = 0
        for session in idle.select_related("branch").order_by("pk").iterator(BATCH_SIZE):
            actor = learning.system_actor(session)
            with write_transaction():  # it may have been heard of since it was read
                if idle.select_for_update().filter(pk=session.pk).first():
                    end_session(session, actor, Status.ABANDONED, "")
                    count += 1
        return count


# ---- pieces ----------------------------------------------------------------------------------------


def session_parts() -> tuple[SessionPart, ...]:
    """Return the configured session parts of other apps."""
    return load_classes(tuple(conf().session_parts))


def find_previous(session: Session) -> Session | None:
    """Return the last session on the same path in which something happened, live or imported."""
    plan = plan_previous(session.branch_id, session.project_path)
    rows = build_instances(Session, Session.objects.db, fetch_each([plan]))
    others = [row for row in rows if row.key != session.key][:MAX_PREVIOUS]
    dated = find_last_events(session.branch, others)
    happened = [(dated[other.key], other.pk, other) for other in others if other.key in dated]
    return max(happened, key=lambda entry: entry[:2])[2] if happened else None


def clean_path(project_path: str) -> str:
    """Return a repository as it is stored, a remote's address in one form. Raises Invalid."""
    return str(c.validate({"project_path": project_path}, CHECKS)["project_path"])


def find_last_events(branch: Branch, sessions: Sequence[Session]) -> dict[str, datetime]:
    """Return when something last happened in each session, where anything did."""
    summarized = {one.key: one.ended_at or one.started_at for one in sessions if one.summary}
    found: dict[str, datetime] = {}
    for part in session_parts():
        for key, at in part.find_last_events(branch, sessions).items():
            found[key] = max(at, found.get(key, at))
    return {**summarized, **found}


def set_titles(sessions: Sequence[Session]) -> None:
    """Set the title of each session: its first prompt, summary or first fact, else its agent and time."""
    per_branch: dict[Branch, list[Session]] = defaultdict(list)
    for session in sessions:
        per_branch[session.branch].append(session)
    for branch, rows in per_branch.items():
        titles = {row.key: row.summary for row in rows if row.summary}
        for part in session_parts():
            titles |= {key: text for key, text in part.find_titles(branch, rows).items() if text}
        titles |= find_first_facts(branch, [row.key for row in rows if row.key not in titles])
        for row in rows:
            text = " ".join(titles.get(row.key, "").split())
            row.title = Truncator(text).chars(MAX_TITLE) or describe_start(row)


def describe_start(session: Session) -> str:
    """Return who began a session and when, in the reader's time zone."""
    return f"{session.agent_id} {timezone.localtime(session.started_at):%Y-%m-%d %H:%M}".strip()


def find_first_facts(branch: Branch, keys: Sequence[str]) -> dict[str, str]:
    """Return the first fact that each of some sessions wrote, where it stands on the branch."""
    if not keys:
        return {}
    written = Fact.objects.on(branch).filter(session_id__in=keys).rows().order_by().values_list("session_id")
    first = [rid for _, rid in written.annotate(first=Min("rid"))]
    return dict(Fact.objects.on(branch).filter(rid__in=first).rows().values_list("session_id", "fact_text"))


def list_named(actor: Actor, keys: Iterable[str]) -> dict[str, Session]:
    """Return the sessions with these keys that the actor may see, with their titles."""
    named = list(filter_visible(actor).filter(key__in={key for key in keys if key}))
    set_titles(named)
    return {session.key: session for session in named}


def get_session(actor: Actor, session_id: str, is_shown: bool = False) -> Session:
    """Return a session; with ``is_shown`` one in quarantine is not there. Raises NotFound."""
    stated = c.plain_text("session_id", session_id)
    key = own_session(stated, actor.end_user)
    session = find_session(actor.project_id, key)
    if session is None and key != stated:  # of one of her apps, or of one of the app's users, as it is listed
        session = find_session(actor.project_id, stated)
    is_gone = session is None or session.deleted_at or (is_shown and session.hidden)
    if session is None or is_gone or not actor.end_user.owns(session):
        raise NotFound("There is no session with this id.")
    require_scope(actor, "read", session)
    return session


def end_session(session: Session, actor: Actor, status: str, summary: str) -> None:
    if summary and (not session.summary or session.summary.startswith(OWN_SUMMARY)):
        before = Session.objects.filter(pk=session.pk, summary=session.summary, erased_at=None)
        before.update(summary=summary)
    if Session.objects.filter(pk=session.pk, status=Status.ACTIVE).update(
        status=status, ended_at=actor.write_time()
    ):
        if not session.branch.archived_at:
            closer = replace(actor, session_id="") if session.erased_at else actor
            for part in session_parts():
                part.close(session, closer)
        record_entry(actor, "session.end", session.key, {"status": status})
    learning.enqueue_learning(session, is_over=True)  # again, when an import added to it
    session.refresh_from_db()

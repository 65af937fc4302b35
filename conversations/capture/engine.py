"""Ingestion of hook events: they become sessions, messages and observations."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from conversations.capture.backfill import fill_gaps, find_record_faults, has_gaps, read_batches
from conversations.capture.events import STARTS, HookEvent, clean_text, find_event_fault, read_event
from conversations.capture.reading import read_ahead
from conversations.capture.rows import EventRows, StoredEvent, get_event_actor, get_project_path
from conversations.capture.text_cleaning import cut_middle
from conversations.capture.transcripts.records import Turn
from conversations.engines.prompt_choice import PromptRecall
from conversations.engines.prompt_recall import prepare_query, recall_for_prompt, recall_repair
from conversations.engines.sessions import summarise_messages
from conversations.engines.told import AT_START
from memory.actors import Actor
from memory.conf import conf
from memory.db.backend import get_backend
from memory.db.bulk_sql import build_row, insert_all, update_one
from memory.db.raw_select import select_equal
from memory.db.transactions import retry_transaction, write_transaction
from memory.engines.access.key_activity import TEST_SURFACE
from memory.engines.facts.recall_log import log_recall
from memory.engines.search.candidates import PreparedQuery
from memory.engines.sessions.briefing import start_context
from memory.engines.sessions.context import find_session
from memory.engines.sessions.learning import enqueue_learning, read_again
from memory.engines.sessions.manager import SessionManager
from memory.engines.sessions.observations import build_observation
from memory.engines.support.foreground import FOREGROUND
from memory.engines.support.idempotency import ConcurrentRequest, retry_on_conflict
from memory.engines.support.usage import count_rows
from memory.engines.versions.commits import open_commit
from memory.engines.versions.erased import closed_sessions
from memory.engines.versions.lookup import MAIN, find_branch
from memory.engines.versions.policies import Write
from memory.exceptions import TooLarge
from memory.models import IngestedEvent, Session
from memory.texts import OWN_SUMMARY

MAX_EVENTS = 1000
MAX_NAMED = 100  # of what is left out
MAX_SUMMARY_BYTES = 16384  # of a program's own summary
SURFACE = "hook"
# Programs that call the hook of a compaction before every request of their model.
COMPACT_EACH_REQUEST = frozenset({"gemini"})
RESUME_WITH_CONTEXT = frozenset({"codex"})  # whose resumed sessions hold the context of their start already
NO_CONTEXT_ON_PROMPT = frozenset({"cursor", "copilot"})  # that read none in the answer to a prompt


@dataclass(frozen=True)
class Ingested:
    """What a program is answered, and how many events and records of transcripts say nothing for their form,
    with the reasons of the first 100; None where there is none.
    """

    answer: dict[str, Any] | None
    left_out: dict[str, Any] | None


class IngestEngine:
    def ingest(self, **options: Any) -> dict[str, Any] | None:
        """Store events; return the response for the last one's program alone."""
        return self.ingest_events(**options).answer

    def ingest_events(
        self,
        *,
        events: Sequence[Any],
        actor: Actor,
        branch_name: str = MAIN,
        client: str = "",
        answered: bool = False,
    ) -> Ingested:
        """Store up to 1,000 events, in order, all or none; unknown and repeated ones are ignored, and those
        of an erased session.

        What transcripts among them have besides follows in transactions of its own.

        With ``answered``, return the response for the last event's program: the context at the start of a
        session or subagent, what memory knows of a person's prompt; None where there is none.

        Raises TooLarge, BranchNotFound, BranchArchived, scope and branch refusals.
        """
        actor.require_scope("write", branch_name)
        if len(events) > MAX_EVENTS:
            raise TooLarge(what="The list", limit=f"{MAX_EVENTS} events")
        whole = [read_event(raw, client) for raw in events]
        read_ahead([event for event in whole if event], actor, branch_name)
        gone = _find_closed(actor.project_id, {event.session for event in whole if event})
        read = [event for event in whole if event and event.session not in gone]
        is_test = bool(read) and all(event.name == "Test" for event in read)
        actor = replace(actor, surface=TEST_SURFACE if is_test else SURFACE)
        others = [event for event in read if event.name != "Transcript"]
        answer = self._store(others, actor, branch_name, answered) if others else None
        for event in read:
            if event.name == "Transcript":
                _fill_session(event, actor, branch_name)
        faults = list(_find_faults(events, whole))
        left_out = {"left_out_count": len(faults), "left_out": faults[:MAX_NAMED]} if faults else None
        return Ingested(answer, left_out)

    def read_answer(
        self, *, event: Any, actor: Actor, branch_name: str, client: str
    ) -> dict[str, Any] | None:
        """Return what an event's program is answered where the project takes no more: nothing is stored."""
        read = read_event(event, client)
        in_transaction = transaction.get_connection().in_atomic_block  # no provider is asked there
        if read is None or in_transaction or not actor.has_scope("read"):
            return None
        if read.name == "UserPromptSubmit":
            question = _prepare_query(read, actor)
            return _format_answer(read, _recall(StoredEvent(read), question, actor, branch_name))
        return _format_answer(read, _read_context(read, actor, branch_name)) if read.name in STARTS else None

    def _store(
        self, read: Sequence[HookEvent], actor: Actor, branch_name: str, answered: bool
    ) -> dict[str, Any] | None:
        store = partial(retry_on_conflict, partial(self._ingest, read, actor, branch_name, answered))
        if answered and read and read[-1].name == "PostToolUseFailure":
            return _format_answer(read[-1], _recall_repair(store()[0], actor, branch_name))
        if not (answered and read and read[-1].name == "UserPromptSubmit"):
            return _format_answer(read[-1], store()[1])
        with FOREGROUND:  # the prompt's own text is embedded after its answer
            question = _prepare_query(read[-1], actor)
            return _format_answer(read[-1], _recall(store()[0], question, actor, branch_name))

    @staticmethod
    @retry_transaction  # not the whole request: other transactions of it were committed
    @write_transaction()
    def _ingest(
        events: Sequence[HookEvent], actor: Actor, branch_name: str, answered: bool
    ) -> tuple[StoredEvent, str]:
        """Return the last event as it was stored, and the context of the session that it starts.

        Raises ConcurrentRequest when another transaction stores one of them now.
        """
        last = StoredEvent(events[-1])
        try:
            with get_backend().join_writes():
                last = _store_new(events, actor, branch_name) or last
        except IntegrityError as error:
            raise ConcurrentRequest from error
        last = last if last.event is events[-1] else StoredEvent(events[-1])
        starts = answered and events[-1].name in STARTS
        return last, _load_context(last, actor, branch_name) if starts else ""


def _find_faults(events: Sequence[Any], read: Sequence[HookEvent | None]) -> Iterator[dict[str, Any]]:
    for number, (raw, event) in enumerate(zip(events, read, strict=True), 1):
        if fault := find_event_fault(raw):
            yield {"event": number, "reason": fault}
        elif event and event.name == "Transcript":
            for place, reason in find_record_faults(event):
                yield {"event": number, "record": place, "reason": reason}


def _find_closed(project_id: UUID, keys: Set[str]) -> Set[str]:
    """Return those of the sessions that take no events: they were erased or deleted. What is read of a single
    one is read for its events.
    """
    if len(keys) != 1:
        return closed_sessions(project_id, keys)
    session = find_session(project_id, *keys)
    return keys if session and (session.erased_at or session.deleted_at) else frozenset()


def _find_new(events: Iterable[HookEvent], actor: Actor) -> tuple[list[HookEvent], list[str]]:
    """Return the events that were not stored before, and the keys to record of them."""
    keys = [(event, event.key(actor.project_id)) for event in events]
    known = {key for (key,) in select_equal(IngestedEvent, ("id",), id={key for _, key in keys if key})}
    fresh: list[HookEvent] = []
    new: list[str] = []
    for event, key in keys:
        if not key or key not in known:
            fresh.append(event)
            new += [key] * bool(key)
            known.add(key)
    return fresh, sorted(new)


def _store_new(events: Sequence[HookEvent], actor: Actor, branch_name: str) -> StoredEvent | None:
    """Store the events that were not stored before, and return the last of those that are no end."""
    last, (fresh, keys) = None, _find_new(events, actor)
    for ends, batch in groupby(fresh, lambda event: event.name == "SessionEnd"):
        if ends:
            _end_sessions(batch, actor)
        else:
            last = _store_events(list(batch), actor, branch_name)
    _record_keys(keys, actor)
    return last


def _record_keys(keys: Sequence[str], actor: Actor) -> None:
    """Record the keys of stored events, behind what is read for them."""
    now = timezone.now()
    rows = [build_row(IngestedEvent, {"id": key, "project_id": actor.project_id, "at": now}) for key in keys]
    insert_all(rows)  # waits for a concurrent transaction
    count_rows(actor.project_id, rows)


def _store_events(events: Sequence[HookEvent], actor: Actor, branch_name: str) -> StoredEvent:
    """Store events that begin a session or become rows, in one commit; return the last one."""
    keys = {event.session for event in events}
    who = actor.with_origin(session_id=events[0].session) if len(keys) == 1 else actor
    with open_commit(who, branch_name, "hook.ingest", write=Write.EXEMPT) as commit:
        rows = EventRows(commit, actor)
        for event in events:
            rows.take(event)
        rows.write()
        for session in rows.list_telling():
            enqueue_learning(session)
    for event in events:
        if event.name == "PreCompact" and event.client not in COMPACT_EACH_REQUEST:
            SessionManager().request_consolidation(session_id=event.session, actor=actor)
        elif event.name == "PostCompact":
            summary = cut_middle(clean_text(event.summary), MAX_SUMMARY_BYTES)
            SessionManager().replace_summary(session_id=event.session, actor=actor, summary=summary)
        elif event.name == "Test":
            SessionManager().end_session(session_id=event.session, actor=actor)
    return rows.describe(events[-1])


def _end_sessions(events: Iterable[HookEvent], actor: Actor) -> None:
    """End the events' sessions; a session without earlier events does not exist."""
    for event in events:
        found = _find_session(event, actor)
        if found and not (found.erased_at or found.deleted_at):  # since it was asked whether it takes events
            _renew_summary(found, event, actor)
            SessionManager().end_session(session_id=found.key, actor=actor)


def _fill_session(event: HookEvent, actor: Actor, branch_name: str) -> None:
    """Add what a transcript has and no event brought. Most have nothing: those wait for no other writer."""
    for turns in read_batches(event):
        if has_gaps(event, turns, actor, branch_name):
            _fill_batch(event, turns, actor, branch_name)


@retry_transaction
@write_transaction()
def _fill_batch(event: HookEvent, turns: Sequence[Turn], actor: Actor, branch_name: str) -> None:
    """Fill gaps in one transaction; a session that has ended is learned from again."""
    first = fill_gaps(event, turns, actor, branch_name)
    found = _find_session(event, actor) if first else None
    if found and first and found.status == Session.Status.ACTIVE:
        read_again(found, first)
    elif found:
        _renew_summary(found, event, actor)
        SessionManager().request_consolidation(session_id=found.key, actor=actor)


def _find_session(event: HookEvent, actor: Actor) -> Session | None:
    return find_session(actor.project_id, event.session)


def _renew_summary(session: Session, event: HookEvent, actor: Actor) -> None:
    """Make Day1's own summary anew, which a resume may have outdated; a program's stays."""
    if not session.summary or session.summary.startswith(OWN_SUMMARY):
        agent = get_event_actor(actor, replace(event, agent="")).agent_id
        # Whoever began it may have given it another agent than the program that tells of it.
        summary = summarise_messages(session.branch.lineage(), session.key, agent)
        SessionManager().replace_summary(session_id=session.key, actor=actor, summary=summary)


def _load_context(stored_event: StoredEvent, actor: Actor, branch_name: str) -> str:
    """Return the context for the start of a session; the same text again while what it told still holds.

    It is stored for the session's own branch only: its readers may lack access to another.
    """
    event, session = stored_event.event, stored_event.load_session(actor)
    assert session is not None
    # What was told before may be in quarantine by now: it is told anew, and not stored.
    own = session.branch.name == branch_name and not session.branch.masked
    has_stored = event.client in RESUME_WITH_CONTEXT and event.source == "resume"
    stored = "" if has_stored or not own else session.context
    if not actor.has_scope("read"):
        return stored
    now = actor.write_time()
    found = start_context(session, actor, stored_event.load_lineage(actor, branch_name), now)
    started = set(session.recalled.get(AT_START, ()))
    if own and session.context and started <= {str(uid) for uid in found.fact_ids}:
        return stored
    if found.text and own and found.is_storable:
        session.context = found.text
        session.recalled = {**session.recalled, AT_START: [str(uid) for uid in found.fact_ids]}
        update_one(session, "context", "recalled", unless="erased_at")
    if found.text:
        who = actor.with_origin(session_id=session.key)
        log_recall(who, [branch_name], "", found.fact_ids)
    return found.text


def _read_context(event: HookEvent, actor: Actor, branch_name: str) -> str:
    """Return the context for the start of a session that is not stored."""
    branch = find_branch(actor, branch_name)
    actor.require_scope("read", branch_name)
    path = get_project_path(event)
    session = _find_session(event, actor) or Session(
        project_id=actor.project_id, key=event.session, branch=branch, project_path=path
    )
    return start_context(session, actor, branch.lineage(), timezone.now()).text


def _prepare_query(event: HookEvent, actor: Actor) -> Future[PreparedQuery] | None:
    """Begin to prepare a prompt for recall; None where there is none."""
    is_wanted = conf().recall_on_prompt and event.client not in NO_CONTEXT_ON_PROMPT
    return prepare_query(event.prompt, actor.project_id) if is_wanted else None


@retry_transaction
def _recall(
    stored: StoredEvent, question: Future[PreparedQuery] | None, actor: Actor, branch_name: str
) -> str:
    """Return what memory knows of a prompt; nothing twice in a session, the same for a repeated event.

    It is outside of the event's transaction, which other writers wait for: an embedder may be asked.
    """
    event, session = stored.event, stored.load_session(actor) if question else None
    if question is None or session is None:
        return ""
    key, earlier = _list_earlier(event, session, actor)
    lineage = stored.load_lineage(actor, branch_name)
    found = recall_for_prompt(
        question.result(), session, lineage, actor.write_time(), chain(*earlier.values())
    )
    name = f"{key} {stored.name_prompt(session)}" if found.ids else key
    _keep_recall(session, {**earlier, name.strip(): found.ids})
    return _count_recall(found, event.prompt, session, actor, branch_name)


@retry_transaction
def _recall_repair(stored: StoredEvent, actor: Actor, branch_name: str) -> str:
    """Return what put a call right before that has failed; nothing twice in a session."""
    event, session = stored.event, stored.load_session(actor)
    if session is None or not actor.has_scope("read") or event.client in NO_CONTEXT_ON_PROMPT:
        return ""
    key, earlier = _list_earlier(event, session, actor)
    call = build_observation({"tool_name": event.tool or "tool", "raw_input": clean_text(event.input)}, actor)
    lineage = stored.load_lineage(actor, branch_name)
    found = recall_repair(call, session, lineage, timezone.now(), chain(*earlier.values()))
    _keep_recall(session, {**earlier, key: found.ids})
    return _count_recall(found, call.summary, session, actor, branch_name)


def _list_earlier(event: HookEvent, session: Session, actor: Actor) -> tuple[str, dict[str, list[str]]]:
    """Return the key of an event, and what came with others in its session."""
    key = event.key(actor.project_id) or str(len(session.recalled))
    return key, {name: ids for name, ids in session.recalled.items() if name.partition(" ")[0] != key}


def _keep_recall(session: Session, recalled: Mapping[str, Sequence[str]]) -> None:
    """Keep what came with events of a session, the last one among them; what came before stays."""
    if [*recalled.values()][-1] and len(recalled) > len(session.recalled):
        session.recalled = dict(recalled)
        update_one(session, "recalled", unless="erased_at")


def _count_recall(found: PromptRecall, query: str, session: Session, actor: Actor, branch_name: str) -> str:
    """Count what is told on its facts, and return its text."""
    if found.fact_ids:
        log_recall(actor.with_origin(session_id=session.key), [branch_name], query, found.fact_ids)
    return found.text


def _format_answer(event: HookEvent, context: str) -> dict[str, Any] | None:
    """Return the output for the event's program, and nothing else: some refuse unknown fields."""
    if not context:
        return None
    if event.client == "cursor":
        return {"additional_context": context}
    output: Mapping[str, str] = {"hookEventName": event.spelled, "additionalContext": context}
    return {"hookSpecificOutput": output}

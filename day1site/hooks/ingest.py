"""Events of agents' programs become memory: sessions, messages and observations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from conversations.models import Message
from day1site.hooks import texts
from day1site.hooks.events import STARTS, HookEvent, read_event
from day1site.hooks.rows import Rows
from memory.actors import Actor
from memory.db.rerun import rerunning
from memory.engines.branches import MAIN, find_branch
from memory.engines.commits import committing
from memory.engines.idempotency import Twin, after_twins
from memory.engines.recalls import log_recall
from memory.engines.session_manager import SessionManager
from memory.engines.start_context import start_context
from memory.exceptions import TooLarge
from memory.models import IngestedEvent, Session
from memory.models.nodes import next_rid

BULK = 1000
SUMMARY = 300  # characters of what was asked, and of what was answered, in a session's summary
SURFACE = "hook"


@rerunning
class IngestEngine:
    def ingest(
        self, *, events: Sequence[Any], actor: Actor, branch_name: str = MAIN, client: str = "",
        answered: bool = False,
    ) -> dict[str, Any] | None:  # fmt: skip
        """Take in up to 1,000 events, in their order, all or none. What is unknown, or came already, is
        left out. With ``answered`` the answer is what the last event's program wants to read: the context
        at the start of a session or of a subagent; None where there is nothing to say.

        Raises TooLarge, BranchNotFound, BranchArchived, scope and branch refusals.
        """
        actor.require("write", branch_name)
        if len(events) > BULK:
            raise TooLarge(what="The list", limit=f"{BULK} events")
        actor = replace(actor, surface=SURFACE)
        read = [event for raw in events if (event := read_event(raw, client))]
        next_rid.ready()
        return after_twins(partial(self._ingest, read, actor, branch_name, answered))

    @staticmethod
    @transaction.atomic(savepoint=False)
    def _ingest(
        events: Sequence[HookEvent], actor: Actor, branch_name: str, answered: bool
    ) -> dict[str, Any] | None:
        fresh = _fresh(events, actor)
        for ends, some in groupby(fresh, lambda event: event.name == "SessionEnd"):
            if ends:
                for event in some:
                    _end(event, actor)
            else:
                _take(list(some), actor, branch_name)
        if not answered or not events or events[-1].name not in STARTS:
            return None
        return _answer(events[-1], _context(events[-1], actor, branch_name))


def _fresh(events: Iterable[HookEvent], actor: Actor) -> list[HookEvent]:
    """Those that did not come before; they are known from now on. Raises Twin for one that comes at once."""
    keys = [(event, event.key(actor.project_id)) for event in events]
    wanted = {key for _, key in keys if key}
    known = set(IngestedEvent.objects.filter(pk__in=wanted).values_list("pk", flat=True))
    fresh: list[HookEvent] = []
    for event, key in keys:
        if not key or key not in known:
            fresh.append(event)
            known.add(key)
    new = wanted & {event.key(actor.project_id) for event in fresh}
    now = timezone.now()
    rows = [IngestedEvent(pk=key, project_id=actor.project_id, at=now) for key in sorted(new)]
    try:
        IngestedEvent.objects.bulk_create(rows)  # waits for the other transaction where there is one
    except IntegrityError as error:
        raise Twin from error
    return fresh


def _take(events: Sequence[HookEvent], actor: Actor, branch_name: str) -> None:
    """Events that begin a session or become rows, in one commit."""
    keys = {event.session for event in events}
    who = actor.stating(session_id=events[0].session) if len(keys) == 1 else actor
    with committing(who, branch_name, "hook.ingest") as commit:
        rows = Rows(commit, actor)
        for event in events:
            rows.take(event)
        rows.write()
    for event in events:
        if event.name == "PreCompact":
            SessionManager().learn_from(session_id=event.session, actor=actor)
        elif event.name == "PostCompact":
            SessionManager().summarise(
                session_id=event.session, actor=actor, summary=texts.within(texts.clean(event.summary), 16384)
            )


def _end(event: HookEvent, actor: Actor) -> None:
    """End a session that is known; one that never said anything is none."""
    session = Session.objects.filter(project=actor.project_id, key=event.session)
    if found := session.select_related("branch").first():
        summary = "" if found.summary else _summary(found)
        SessionManager().end_session(session_id=found.key, actor=actor, summary=summary)


def _summary(session: Session) -> str:
    """What was asked first and what was answered last."""
    said = Message.objects.on(session.branch).filter(session_id=session.key)
    first = said.filter(role=Message.Role.USER).lowest(1, "uid")
    last = said.filter(role=Message.Role.ASSISTANT).newest(1)
    parts = [("Asked", row) for row in first] + [("Last answer", row) for row in last]
    return " ".join(f"{name}: {_short(row.content)}" for name, row in parts)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SUMMARY else line[: SUMMARY - 1] + "…"


def _context(event: HookEvent, actor: Actor, branch_name: str) -> str:
    """What the session is told at its start; the same text whenever it is asked for again."""
    session = Session.objects.get(project=actor.project_id, key=event.session)
    if session.context or not actor.can("read"):
        return session.context
    now = timezone.now()
    found = start_context(session, actor, find_branch(actor, branch_name).lineage(), now)
    if found.text:
        Session.objects.filter(pk=session.pk).update(context=found.text)
        who = actor.stating(session_id=session.key)
        log_recall(who, [branch_name], "", found.fact_ids)
    return found.text


def _answer(event: HookEvent, context: str) -> dict[str, Any] | None:
    """The output that the program of this event reads, and nothing else: some refuse unknown fields."""
    if not context:
        return None
    if event.client == "cursor":
        return {"additional_context": context}
    told: Mapping[str, str] = {"hookEventName": event.spelled, "additionalContext": context}
    return {"hookSpecificOutput": told}

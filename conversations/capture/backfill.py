"""What a program's transcript has of a session and no event brought: it is added in its place, once."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from conversations.capture import text_cleaning
from conversations.capture.events import HookEvent, clean_id, clean_text
from conversations.capture.record_forms import name_kind
from conversations.capture.rows import EventRows, get_event_actor
from conversations.capture.transcripts import claude_code, codex
from conversations.capture.transcripts.records import Turn
from conversations.engines.messages import MessageEngine, Neighbour
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.db.querysets import Lineage
from memory.engines.sessions.observations import ObservationEngine
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.lookup import find_branch, select_tombstones
from memory.engines.versions.policies import Write
from memory.models import BranchedModel, Observation
from memory.models.hashes import content_hash
from memory.models.nodes import uuid7_near

READERS: dict[str, Callable[..., list[Turn]]] = {
    "claude-code": claude_code.read_part,
    "codex": codex.read_part,
}
FAULTS = {"claude-code": claude_code.find_fault, "codex": codex.find_fault}
MAX_TURNS = 500  # in one commit
SKEW = timedelta(days=1)  # between the clocks of a client and of the server
SAME_TIME = timedelta(minutes=10)  # within which equal texts are one, where the prompt is not known
Role = Message.Role


@dataclass(frozen=True)
class StoredMessage:
    """What is known of a message of the session without reading its text."""

    uid: UUID
    conversation_id: UUID
    role: str
    content_hash: str
    tool_calls: list[Any]
    metadata: dict[str, Any]
    said_at: datetime | None
    deleted: bool


def read_batches(event: HookEvent) -> list[list[Turn]]:
    """Return the turns that a transcript's part tells of, as many at once as one commit adds."""
    turns = read_turns(event)
    # Each batch begins with the last turn before it: what follows that one has its place.
    return [turns[max(0, start - 1) : start + MAX_TURNS] for start in range(0, len(turns), MAX_TURNS)]


def has_gaps(event: HookEvent, turns: Sequence[Turn], actor: Actor, branch_name: str) -> bool:
    """Return whether ``fill_gaps`` may have something to do; reads only, without a lock."""
    lineage = find_branch(actor, branch_name).lineage()
    known = StoredSession(lineage, event, get_event_actor(actor, event).agent_id)
    stored = match_turns(turns, known.read_messages(turns))
    return None in stored or bool(known.find_failures(turns, stored))


def fill_gaps(event: HookEvent, turns: Sequence[Turn], actor: Actor, branch_name: str) -> UUID | None:
    """Add what is missing of a batch of a session's transcript; return the first id of it, None for nothing.

    A call that an event told as a success, and that failed by its exit code, is marked as failed.
    """
    who = actor.with_origin(session_id=event.session)
    with open_commit(who, branch_name, "hook.transcript", write=Write.EXEMPT) as commit:
        changed = Backfill(commit, actor, event, turns).run()
        return min(changed, default=None)


def read_turns(event: HookEvent) -> list[Turn]:
    """Return the turns of a transcript's part, with ids as events store them; calls without one stay out."""
    records = [record for record in event.records if isinstance(record, dict)]
    reader = READERS.get(event.client)
    turns = reader(records, event.session, event.agent, clean_text) if reader else []
    for turn in turns:
        turn.source, turn.prompt = clean_id(turn.source), clean_id(turn.prompt)
        if turn.call:
            turn.call.id = clean_id(turn.call.id)
        else:
            turn.content = _read_text(turn)
    return [turn for turn in turns if (turn.call.id if turn.call else turn.content)]


def _read_text(turn: Turn) -> str:
    strip = text_cleaning.strip_prompt if turn.role == Role.USER else text_cleaning.strip_answer
    return strip(clean_text(turn.content))


def find_record_faults(event: HookEvent) -> Iterator[tuple[int, str]]:
    """Yield number and fault of the records of a transcript's part of which not all can be read."""
    find_fault = FAULTS.get(event.client, lambda record: "")
    for number, record in enumerate(event.records, 1):
        fault = find_fault(record) if isinstance(record, dict) else f"is {name_kind(record)}, not an object"
        if fault:
            yield number, fault


class StoredSession:
    """What a lineage has of one agent in a session."""

    def __init__(self, lineage: Lineage, event: HookEvent, agent: str) -> None:
        self.lineage, self.session, self.agent = lineage, event.session, agent
        own = self._read(Conversation).filter(session_id=event.session, agent_id=agent)
        self.conversations = {row.uid: row for row in own.fetch_all()}

    def read_messages(self, turns: Sequence[Turn]) -> list[StoredMessage]:
        """Return the agent's messages since the first turn, as far as clocks can be trusted: those that are
        shown, and those that were deleted.
        """
        times = [at for turn in turns if (at := _parse_time(turn.at))]
        recent = Q(said_at__gte=min(times) - SKEW) | Q(said_at=None) if times else Q()
        columns = StoredMessage.__dataclass_fields__
        found = list(self._list_deleted().filter(recent).values_list(*columns))
        if self.conversations:
            rows = self._read(Message).filter(conversation_id__in=list(self.conversations))
            found += rows.filter(recent).gather_values(*columns)
        # One that was restored on a branch comes last.
        by_uid = {row.uid: row for row in (StoredMessage(*values) for values in found)}
        return [by_uid[uid] for uid in sorted(by_uid)]

    def _list_deleted(self) -> Any:
        """Return the tombstones of the agent's messages: a program that tells them again brings none back."""
        return select_tombstones(self.lineage, Message).filter(session_id=self.session, agent_id=self.agent)

    def find_failures(self, turns: Sequence[Turn], stored: Sequence[StoredMessage | None]) -> list[UUID]:
        """Return the observations of calls that failed and are stored as successes."""
        pairs = zip(turns, stored, strict=True)
        failed = [row.uid for turn, row in pairs if row and turn.call and turn.call.failed]
        known = [self.observed[uid] for uid in failed if uid in self.observed]
        return [uid for uid, outcome in known if outcome == Observation.Outcome.SUCCESS]

    @cached_property
    def observed(self) -> dict[UUID, tuple[UUID, str]]:
        """Observation and outcome of each message that has one."""
        rows = self._read(Observation).filter_indexed(session_id=self.session)
        found = rows.gather_values("message_id", "uid", "outcome")
        return {message: (uid, outcome) for message, uid, outcome in found if message}

    def _read(self, model: type[BranchedModel]) -> Any:
        return model.objects.in_lineage(self.lineage)


class Backfill:
    """Comparison of a transcript's turns with what is stored of one agent in a session."""

    def __init__(self, commit: CommitWriter, actor: Actor, event: HookEvent, turns: Sequence[Turn]) -> None:
        self.commit, self.event, self.turns = commit, event, turns
        self.agent = get_event_actor(actor, event).agent_id
        self.rows = EventRows(commit, actor, late=True)
        self.known = StoredSession(commit.lineage, event, self.agent)
        self.placed: dict[UUID, list[Neighbour]] = defaultdict(list)

    def run(self) -> list[UUID]:
        """Add and mark what is missing; return the ids of all that was added or marked."""
        rows = self.known.read_messages(self.turns)
        stored = match_turns(self.turns, rows)
        for first, end in _find_gaps(stored):
            before = next((row for row in reversed(stored[:first]) if row and not row.deleted), None)
            after = next((row for row in stored[end:] if row and not row.deleted), None)
            if before is None and after is None:  # a part of a part, without a turn that is known
                after = _find_later(rows, self.turns[end - 1])
            self._fill(self.turns[first:end], before, after)
        for uid, neighbours in self.placed.items():
            MessageEngine().make_room(self.commit, self.known.conversations[uid], neighbours)
        self.rows.write()
        ObservationEngine().mark_repairs(self.commit, self.rows.observations)
        marked = self._mark_failures(stored)
        messages = [row for rows in self.rows.messages.values() for row in rows]
        return [*marked, *(row.uid for row in (*messages, *self.rows.observations))]

    def _fill(self, turns: Sequence[Turn], before: StoredMessage | None, after: StoredMessage | None) -> None:
        """Add turns that follow each other, behind what was said before them or before what follows."""
        is_behind = before is not None and (
            after is None or before.conversation_id == after.conversation_id or turns[0].role != Role.USER
        )
        other = before if is_behind else after
        if other:
            pair = (self.event.session, self.agent)
            self.rows.conversations[pair] = self.known.conversations[other.conversation_id]
        added = [rows for turn in turns if (rows := self._add_turn(turn))]
        if other:
            self._place(added, other, is_behind)

    def _add_turn(self, turn: Turn) -> tuple[Message, list[Observation]] | None:
        """Return the rows of a turn, as its event would have made them."""
        count = len(self.rows.observations)
        self.rows.take(make_event(self.event, turn))
        if self.rows.newest is None:
            return None
        return self.rows.newest, self.rows.observations[count:]

    def _place(
        self, added: Sequence[tuple[Message, list[Observation]]], other: StoredMessage, is_behind: bool
    ) -> None:
        """Give rows the place that they had in the session, in the conversation and by their ids."""
        near = other.uid
        if is_behind and other.uid in self.known.observed:
            near = max(near, self.known.observed[other.uid][0])
        step = 1 if is_behind else -sum(1 + len(observations) for _, observations in added)
        for message, observations in added:
            message.uid = uuid7_near(near, step)
            for number, observation in enumerate(observations, 1):
                observation.uid = uuid7_near(near, step + number)
                observation.message_id = message.uid
            step += 1 + len(observations)
            self.placed[other.conversation_id].append(Neighbour(message, other.uid, is_behind))

    def _mark_failures(self, stored: Sequence[StoredMessage | None]) -> list[UUID]:
        wrong = self.known.find_failures(self.turns, stored)
        if wrong:
            self.commit.touch_session(self.event.session)
            ObservationEngine().mark_failed(self.commit, wrong)
        return wrong


# ---- which turns are stored --------------------------------------------------------------------


def match_turns(turns: Sequence[Turn], rows: Sequence[StoredMessage]) -> list[StoredMessage | None]:
    """Return the stored message of each turn: by its id, its text, or the prompt that it belongs to."""
    left = {row.uid: row for row in rows}
    matched: list[StoredMessage | None] = [None] * len(turns)
    for list_keys, find_keys in (
        (_list_ids, _find_id),
        (_list_text, _find_text),
        (_list_prompt, _find_prompt),
    ):
        index: dict[Any, list[StoredMessage]] = defaultdict(list)
        for row in left.values():
            for key in list_keys(row):
                index[key].append(row)
        for place, turn in enumerate(turns):
            if matched[place] is None:
                offered = [row for key in find_keys(turn) for row in index.get(key, ()) if row.uid in left]
                matched[place] = fitting = next((row for row in offered if _fits(turn, row)), None)
                if fitting:
                    del left[fitting.uid]
    return matched


def _list_ids(row: StoredMessage) -> Iterable[Any]:
    ids = [row.metadata.get("source_id"), *(call.get("id") for call in row.tool_calls or ())]
    return {clean_id(uid) for uid in ids} - {""}


def _find_id(turn: Turn) -> Iterable[Any]:
    return [turn.source] if turn.source else []


def _list_text(row: StoredMessage) -> Iterable[Any]:
    return [] if row.tool_calls else [(row.role, row.content_hash)]


def _find_text(turn: Turn) -> Iterable[Any]:
    """Return a text as an event stores it, in full and as a very long session keeps it."""
    text = text_cleaning.cut_middle(turn.content)
    stored = (text, text_cleaning.cut_middle(text, text_cleaning.LONG_TEXT_BYTES))
    return [] if turn.call else [(turn.role, content_hash(one)) for one in stored]


def _list_prompt(row: StoredMessage) -> Iterable[Any]:
    """Return the prompt of a text: a program may write one otherwise than it tells it."""
    prompt = "" if row.tool_calls else clean_id(row.metadata.get("prompt_id"))
    return [(row.role, prompt)] if prompt else []


def _find_prompt(turn: Turn) -> Iterable[Any]:
    return [(turn.role, turn.prompt)] if turn.prompt and not turn.call else []


def _fits(turn: Turn, row: StoredMessage) -> bool:
    """Return whether both may be the same word: of one prompt, else of about the same time."""
    if turn.call or clean_id(row.metadata.get("source_id")) == turn.source:
        return True
    prompt, at = clean_id(row.metadata.get("prompt_id")), _parse_time(turn.at)
    if prompt and turn.prompt:
        return bool(prompt == turn.prompt)
    return not (at and row.said_at) or abs(at - row.said_at) <= SAME_TIME


def _find_gaps(stored: Sequence[StoredMessage | None]) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each row of turns that are not stored."""
    first = None
    for place, row in enumerate([*stored, "end"]):
        if row is None and first is None:
            first = place
        elif row is not None and first is not None:
            yield first, place
            first = None


def _find_later(rows: Sequence[StoredMessage], turn: Turn) -> StoredMessage | None:
    """Return the first message that was said after a turn."""
    at = _parse_time(turn.at)
    later = (row for row in rows if at and row.said_at and row.said_at > at)
    return next((row for row in later if not row.deleted), None)


def make_event(event: HookEvent, turn: Turn) -> HookEvent:
    """Return the event that would have told of a turn."""
    common: dict[str, Any] = {
        "said_at": _parse_time(turn.at),
        "prompt_id": turn.prompt,
        "model": clean_text(turn.model)[:200],
    }
    if turn.call is None and turn.role == Role.USER:
        return replace(event, name="UserPromptSubmit", prompt=turn.content, **common)
    if turn.call is None:
        return replace(event, name="Stop", answer=turn.content, **common)
    common |= {"call": turn.call.id, "tool": clean_text(turn.call.name)[:200], "input": turn.call.input}
    if turn.call.failed:
        return replace(event, name="PostToolUseFailure", error=turn.content, **common)
    output = {"content": turn.content} if turn.content else ""
    return replace(event, name="PostToolUse", output=output, **common)


def _parse_time(text: str) -> datetime | None:
    """Return the time of a turn; one that is still to come is now, as it is stored."""
    return min(datetime.fromisoformat(text), timezone.now()) if text else None

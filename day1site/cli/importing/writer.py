"""What was read becomes sessions, conversations, messages and observations; a second time adds nothing."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from conversations.capture.text_cleaning import (
    LONG_TEXT_BYTES,
    MAX_TEXT_BYTES,
    clean,
    cut_middle,
    cut_texts,
)
from conversations.capture.transcripts.records import Dialogue, Report, Turn
from day1site.cli.client import Client
from day1site.cli.errors import CliError
from day1site.cli.transport.rest import Answer, iterate_rows
from day1site.hooks.client.capture import find_repository
from memory.redaction import count_marks
from memory.texts import summarise_session

BATCH_SIZE = 200  # messages in one request
BATCH_BYTES = 3 * 1024 * 1024
OVER = timedelta(hours=1)  # without a word: the session has ended
REFUSALS = ("invalid", "unknown_field", "too_large", "reserved_value")  # of a row: others can be stored
LIVE = "captured already while it was said"
Key = tuple[bytes, ...]


class TranscriptWriter:
    """One run. ``counts`` holds what is new and known of each kind."""

    def __init__(self, client: Client, branch: str, report: Report, dry_run: bool) -> None:
        self.client, self.branch, self.report, self.dry_run = client, branch, report, dry_run
        self.counts: Counter[tuple[str, str]] = Counter()

    def take(self, dialogues: Sequence[Dialogue]) -> None:
        """Store the conversations of one session."""
        session = dialogues[0].session
        known, stored = self._known(session), 0
        known.match_calls([turn for dialogue in dialogues for turn in dialogue.messages if turn.call])
        for dialogue in dialogues:
            fresh = [turn for turn in dialogue.messages if self._is_fresh(turn, known)]
            self.counts["conversations", "new"] += bool(fresh)
            self.counts["messages", "new"] += len(fresh)
            self.counts["observations", "new"] += sum(bool(turn.call) for turn in fresh)
            stored += len(fresh)
            if not self.dry_run and not self._store_unless_erased(dialogue, fresh, known):
                return
        if stored and not self.dry_run and max(dialogue.last for dialogue in dialogues) < ago(OVER):
            self._end(session, dialogues)

    def _end(self, session: str, dialogues: Sequence[Dialogue]) -> None:
        self.client.call("sessions.end", session_id=session, summary=_summarise(dialogues))

    # ---- what is there -----------------------------------------------------------------------------

    def _known(self, session: str) -> "Known":
        known = Known()
        where = {"session_id": [session]}
        page = partial(self.client.call, "conversations.list", branch=self.branch, **where)
        for dialogue in iterate_rows(lambda paging: page(**paging)):
            known.add(dialogue, self._read_messages(dialogue["id"]))
        page = partial(self.client.call, "messages.deleted", branch=self.branch, session_id=session)
        gone = list(iterate_rows(lambda paging: page(**paging)))
        known.read_messages(iter(gone))
        if known.messages:
            page = partial(self.client.call, "observations.list", branch=self.branch, **where)
            found = iterate_rows(lambda paging: page(**paging))
            known.observed = {row["message_id"] for row in found} | {row["id"] for row in gone}
        return known

    def _read_messages(self, uid: str) -> Iterator[Answer]:
        page = partial(self.client.call, "conversations.messages", conversation_id=uid, branch=self.branch)
        return iterate_rows(lambda paging: page(**paging))

    def _is_fresh(self, turn: Turn, known: "Known") -> bool:
        """Tell whether neither an import nor the hooks brought it."""
        if turn.source in known.messages:
            self.counts["messages", "known"] += 1
            return False
        if known.take_captured(turn):
            self.report.skip(LIVE)
            return False
        return True

    # ---- writing -----------------------------------------------------------------------------------

    def _store_unless_erased(self, dialogue: Dialogue, fresh: Sequence[Turn], known: "Known") -> bool:
        """Store what is new; return False for a session that was erased, which takes nothing more."""
        try:
            self._store(dialogue, fresh, known)
        except CliError as error:
            if error.code != "conflict":
                raise
            self.report.skip(error.text)
            return False
        return True

    def _store(self, dialogue: Dialogue, fresh: Sequence[Turn], known: "Known") -> None:
        sources = {turn.source for turn in dialogue.messages}
        stored = {source: uid for source, uid in known.messages.items() if source in sources}
        if fresh:
            conversation = known.open.get(dialogue.agent) or self._begin(dialogue)
            for batch in _batches(fresh):
                stored |= self._write_messages(conversation, dialogue, batch)
        missing = [
            turn
            for turn in dialogue.messages
            if turn.call and turn.source in stored and stored[turn.source] not in known.observed
        ]
        for batch in _batches(missing):
            self._write_observations(dialogue, batch, stored)

    def _write_messages(self, conversation: str, dialogue: Dialogue, turns: Sequence[Turn]) -> dict[str, str]:
        """Store messages and return their ids by their sources; one that is refused stops no other."""
        messages = [_message(turn, dialogue) for turn in turns]
        try:
            where = {"conversation_id": conversation, "branch": self.branch}
            rows = self.client.call("conversations.batch", **where, messages=messages)["results"]
        except CliError as error:
            if error.code not in REFUSALS:
                raise
            if len(turns) > 1:
                parts = [self._write_messages(conversation, dialogue, [turn]) for turn in turns]
                return {source: uid for part in parts for source, uid in part.items()}
            self._report_refusal("messages", dialogue, turns[0], error)
            return {}
        self.report.redacted += count_marks(messages)
        return {turn.source: row["id"] for turn, row in zip(turns, rows, strict=True)}

    def _write_observations(
        self, dialogue: Dialogue, turns: Sequence[Turn], stored: Mapping[str, str]
    ) -> None:
        seen = [_observation(turn, dialogue, stored[turn.source]) for turn in turns]
        try:
            self.client.streams.write_observations(self.branch, seen)
        except CliError as error:
            if error.code not in REFUSALS:
                raise
            if len(turns) == 1:
                return self._report_refusal("observations", dialogue, turns[0], error)
            for turn in turns:
                self._write_observations(dialogue, [turn], stored)

    def _report_refusal(self, kind: str, dialogue: Dialogue, turn: Turn, error: CliError) -> None:
        self.counts[kind, "new"] -= 1
        self.report.breaks(Path(dialogue.session), 0, f"{turn.source}: {error.text}")

    def _begin(self, dialogue: Dialogue) -> str:
        who = {"session_id": dialogue.session, "agent_id": dialogue.agent}
        path = clean(find_project(dialogue.path))[:1000]
        self.client.call("sessions.create", branch=self.branch, **who, project_path=path)
        title = " ".join(clean(dialogue.title).split())[:300]
        names = {"title": title, "model": clean(dialogue.model)[:200]}
        begun = self.client.call("conversations.create", branch=self.branch, **who, **names)
        return str(begun["id"])


class Known:
    """What the store has of one session."""

    def __init__(self) -> None:
        self.messages: dict[str, str] = {}  # id in the file -> id of the message
        self.observed: set[str] = set()  # ids of messages that have their observation
        self.open: dict[str, str] = {}  # agent -> conversation of an import that takes more
        self.calls: set[str] = set()  # ids of calls that hooks brought
        self.texts: Counter[bytes] = Counter()  # digests of roles and texts that hooks brought
        self.unnamed: list[Key] = []  # input and result of calls that hooks brought without an id
        self.matched: set[str] = set()  # ids in the file of calls that are one of these

    def add(self, dialogue: Answer, messages: Iterator[Answer]) -> None:
        if self.read_messages(messages) and dialogue["status"] == "active":
            self.open[dialogue["agent_id"]] = dialogue["id"]

    def read_messages(self, messages: Iterator[Answer]) -> bool:
        """Note messages that are there, or were deleted; return whether an import brought any."""
        imported = False
        for row in messages:
            if source := row["metadata"].get("source_id"):
                self.messages[source] = row["id"]
                imported = True
            else:
                self._add_calls(row)
                self.texts[digest_text(row["role"], row["content"])] += not row["tool_calls"]
        return imported

    def _add_calls(self, row: Answer) -> None:
        for call in row["tool_calls"] or ():
            if call.get("id"):
                self.calls.add(call["id"])
            else:
                made = digest_call(call.get("name", ""), call.get("input"))
                self.unnamed.append((made, digest_text("call", row["content"])))

    def match_calls(self, turns: Sequence[Turn]) -> None:
        """Find the calls that hooks brought without an id: of equal ones first those with the same result."""
        keys = {turn.source: digest_turn(turn) for turn in turns} if self.unnamed else {}
        left = self._match(keys, Counter(self.unnamed))
        made = {source: key[:1] for source, key in keys.items()}
        self._match(made, Counter(key[:1] for key in left.elements()))

    def _match(self, keys: dict[str, Key], left: Counter[Key]) -> Counter[Key]:
        for source, key in keys.items():
            if source not in self.matched and left[key] > 0:
                left[key] -= 1
                self.matched.add(source)
        return left

    def take_captured(self, turn: Turn) -> bool:
        """Tell whether hooks brought a turn; each captured text stands for one."""
        if turn.call:
            return turn.call.id in self.calls or turn.source in self.matched
        text = cut_middle(clean(turn.content))
        for kept in (text, cut_middle(text, LONG_TEXT_BYTES)):  # the hooks of a very long session keep less
            key = digest_text(turn.role, kept)
            if self.texts[key] > 0:
                self.texts[key] -= 1
                return True
        return False


def digest_text(role: str, text: str) -> bytes:
    """Return what is equal for equal texts of a role, whatever their white space.

    Gemini's hook has a space wherever the answer came in pieces, also within words.
    """
    return hashlib.sha256(f"{role} {''.join(text.split())}".encode()).digest()


def digest_call(name: str, arguments: Any) -> bytes:
    """Return what is equal for calls of a tool with equal input."""
    return hashlib.sha256(f"{name} {json.dumps(arguments, sort_keys=True)}".encode()).digest()


def digest_turn(turn: Turn) -> Key:
    """Return what is equal for a call with equal input, and what for an equal result."""
    assert turn.call is not None
    made = digest_call(turn.call.name, cut_texts(clean(turn.call.input)))
    return made, digest_text("call", cut_middle(clean(turn.content)))


def _batches(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    batch: list[Turn] = []
    size = 0
    for turn in turns:
        length = count_bytes(turn)
        if batch and (len(batch) == BATCH_SIZE or size + length > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(turn)
        size += length
    if batch:
        yield batch


def count_bytes(turn: Turn) -> int:
    """Return about how long the turn is in a request."""
    sizes = (len(text.encode("utf-8", "replace")) for text in (turn.content, turn.thinking))
    return sum(min(size, MAX_TEXT_BYTES) for size in sizes)


def _summarise(dialogues: Sequence[Dialogue]) -> str:
    """Return the summary of a session: the program's, else what live capture makes, else its title."""
    stated = next((dialogue.summary for dialogue in dialogues if dialogue.summary), "")
    turns = [turn for dialogue in dialogues if "/" not in dialogue.agent for turn in dialogue.messages]
    turns.sort(key=lambda turn: turn.at)
    prompts = [turn.content for turn in turns if turn.role == "user"]
    answers = [turn.content for turn in turns if turn.role == "assistant"]
    made = summarise_session(clean("".join(prompts[:1])), clean("".join(answers[-1:])))
    title = next((dialogue.title for dialogue in dialogues if dialogue.title), "")
    return str(clean(stated)[:16000] or made or clean(title)[:16000])


def _message(turn: Turn, dialogue: Dialogue) -> Answer:
    call = turn.call
    fields: Answer = {
        "role": turn.role,
        "content": cut_middle(clean(turn.content)),
        "thinking": cut_middle(clean(turn.thinking)),
        "model": turn.model[:200],
        "said_at": turn.at or None,
        "metadata": {"source_id": turn.source, "source": dialogue.agent.partition("/")[0]},
    }
    if call:
        fields["tool_calls"] = [{"id": call.id, "name": call.name, "input": cut_texts(clean(call.input))}]
    return {name: value for name, value in fields.items() if value not in (None, "")} | {
        "content": fields["content"]
    }


def _observation(turn: Turn, dialogue: Dialogue, message: str) -> Answer:
    assert turn.call is not None
    arguments, output = clean(turn.call.input), clean(turn.content)
    failed = {"is_error": True} if turn.call.failed else {}
    return {
        "tool_name": turn.call.name[:200],
        "raw_input": arguments if isinstance(arguments, str | dict) else json.dumps(arguments),
        "raw_output": {**failed, "content": cut_texts(output)},
        "message_id": message,
        "metadata": {"source_id": turn.source, **({"said_at": turn.at} if turn.at else {})},
        "session_id": dialogue.session,
        "agent_id": dialogue.agent,
    }


def find_project(folder: str) -> str:
    """Return the project as the hook client names it: the git remote, else the root of the work tree.

    It is the folder itself where that is not on this machine.
    """
    return str(find_repository(folder)) or folder


def ago(span: timedelta) -> str:
    return (datetime.now(UTC) - span).isoformat()

"""Sessions of Gemini CLI: files below tmp/PROJECT/chats, one a session, one each time a subagent is called.

The files are JSON lines; those of older versions are one JSON object. A message that changes is written
again with its id, and what the program rewrites for its model (``$set``) says nothing new.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conversations.capture.record_forms import (
    find_content_fault,
    find_field_fault,
    find_first,
    name_kind,
)
from conversations.capture.text_cleaning import (
    find_exit_code,
    is_own_call,
    strip_injected,
    strip_output,
    strip_prompt,
)
from conversations.capture.transcripts import records
from conversations.capture.transcripts.records import Call, Dialogue, Report, Turn
from day1site.cli.importing.writer import OVER, ago

AGENT = "gemini"
DONE = ("success", "error", "cancelled")
WORKSPACE = re.compile(r"\*\*Workspace Directories:\*\*\s*\n\s*- (\S[^\n]*)")
CONTEXT = "<session_context>"  # begins the history that the model is given
PREFACES = (  # of what the program says in a person's place
    CONTEXT,
    "- **Workspace Directories:**",
    "Here is the user's editor context as a JSON object",
    "Here is a summary of changes in the user's editor context",
    "I ran the following shell command:",
    "Plan approved. Switching to",
    "System: Potential loop detected.",
    "User has manually exited Plan Mode.",
    "User steering update:",
)
CONTINUE = "Please continue."  # what the program says when the model is to go on


@dataclass
class Session:
    """What the files of one session hold; ``messages`` and ``nested`` in the order of their first line."""

    key: str
    folder: str = ""
    title: str = ""
    messages: dict[str, dict[str, Any]] = field(default_factory=dict)
    nested: dict[str, dict[str, Any]] = field(default_factory=dict)  # of its subagents


def read(path: Path, report: Report) -> Iterator[Dialogue]:
    """Yield one conversation a session, of the words and calls that its hooks would have brought."""
    sessions: dict[str, Session] = {}
    for file in records.find_files(path, "*.jsonl", "*.json"):
        if file == path or "chats" in file.parts or file.name.startswith("session-"):
            _File(file, report).add_to(sessions)
    for session in sessions.values():
        if messages := _Turns(session, report).build():
            yield Dialogue(session.key, AGENT, messages, title=session.title, path=session.folder)


def find_fault(record: dict[str, Any]) -> str:
    """Return why not all of a record can be read; "" where it can, or where nobody speaks in it."""
    for name, kind, named in (("$rewindTo", str, "a text"), ("$set", dict, "an object")):
        if name in record:
            return find_field_fault(record, name, kind, named)
    if "type" in record:
        return _find_message_fault(record)
    if any(name.startswith("$") for name in record):
        return ""
    messages = record.get("messages", [])
    if not isinstance(messages, list):
        return f"its messages are {name_kind(messages)}"
    return find_field_fault(record, "sessionId", str, "a text") or find_first(
        "message", messages, _find_message_fault
    )


def _find_message_fault(record: Any) -> str:
    if not isinstance(record, dict):
        return f"is {name_kind(record)}"
    if fault := find_field_fault(record, "type", str, "a text"):
        return fault
    if record["type"] not in ("user", "gemini"):
        return ""
    calls = record.get("toolCalls") or []
    if not isinstance(calls, list):
        return f"its toolCalls are {name_kind(calls)}"
    has_words = "content" in record or not calls
    fault = find_field_fault(record, "id", str, "a text") or find_first("call", calls, _find_call_fault)
    return fault or (find_content_fault(record, is_typed=False) if has_words else "")


def _find_call_fault(call: Any) -> str:
    is_call = isinstance(call, dict)
    return find_field_fault(call, "status", str, "a text") if is_call else f"is {name_kind(call)}"


# ---- the files ---------------------------------------------------------------------------------------


class _File:
    def __init__(self, path: Path, report: Report) -> None:
        self.path, self.report = path, report
        self.session, self.kind, self.folder, self.title = "", "", _find_root(path), ""
        self.messages: dict[str, dict[str, Any]] = {}
        self.is_copy = False  # what comes now is the history so far, written again
        for number, record in _records(path, report):
            self._take(number, record)

    def add_to(self, sessions: dict[str, Session]) -> None:
        """Add it to its session, a subagent's to the one that called it."""
        if not self.session:
            return
        nested = self.kind == "subagent"
        key = self.path.parent.name if nested else self.session
        session = sessions.setdefault(key, Session(key))
        session.folder = session.folder or self.folder
        session.title = self.title or session.title
        (session.nested if nested else session.messages).update(self.messages)

    def _take(self, number: int, record: dict[str, Any]) -> None:
        if isinstance(record.get("$rewindTo"), str):
            self._rewind(record["$rewindTo"])
        elif isinstance(record.get("$set"), dict):
            self._take_header(record["$set"])
            self._take_history(record["$set"].get("messages"))
        elif isinstance(record.get("id"), str) and isinstance(record.get("type"), str):
            self._take_message(record)
        elif isinstance(record.get("sessionId"), str):
            self._take_header(record)
            for message in _dicts(record.get("messages")):
                self._take(number, message)
        else:
            self.report.skip("records of the program")

    def _take_header(self, record: dict[str, Any]) -> None:
        self.session = self.session or _text(record.get("sessionId"))
        self.kind = _text(record.get("kind")) or self.kind
        self.title = _text(record.get("summary")) or self.title

    def _take_message(self, record: dict[str, Any]) -> None:
        """Take a message; not the history that the program writes again when it shortens it."""
        self.is_copy = self.is_copy or _is_context(record)
        if not self.is_copy:
            self.messages[record["id"]] = record
        else:
            self.report.skip("copies of messages")

    def _take_history(self, messages: Any) -> None:
        """Take the folder from the history of the model: its messages have lines of their own."""
        if isinstance(messages, list):
            self.is_copy = False
        for message in [] if self.folder else _dicts(messages)[:1]:
            found = WORKSPACE.search(records.text_in(message.get("content")))
            self.folder = found[1].strip() if found else ""

    def _rewind(self, uid: str) -> None:
        """Take back the message with this id and what came after it; all, where there is none."""
        ids = list(self.messages)
        gone = ids[ids.index(uid) if uid in self.messages else 0 :]
        for one in gone:
            del self.messages[one]
        self.report.skip("messages that were taken back", len(gone))


def _is_context(record: dict[str, Any]) -> bool:
    return record["type"] == "user" and _read_text(record.get("content")).startswith(CONTEXT)


def _records(path: Path, report: Report) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the records of a file, in whichever form it is."""
    if path.suffix != ".json":
        yield from records.lines(path, report, find_fault)
    elif records.is_readable(path, report):
        with path.open("rb") as stream:
            raw = stream.read(records.MAX_LINE_BYTES + 1)
        if raw.strip():
            report.empty = False
            whole = records.parse_object(raw, path, 1, report)
            if whole is not None and (fault := find_fault(whole)):
                report.breaks(path, 1, fault)
            yield from [] if whole is None else [(1, whole)]


def _find_root(path: Path) -> str:
    """Return the folder that a project's sessions belong to, which the program notes beside them."""
    for parent in path.parents:
        note = parent / ".project_root"
        if parent.name == "chats" and (note := parent.parent / ".project_root").is_file():
            return note.read_text(encoding="utf-8", errors="replace")[:1000].strip()
    return ""


# ---- what they say -----------------------------------------------------------------------------------


class _Turns:
    """The messages of a session: a person's prompts, the calls, and the whole answer at the end of a turn."""

    def __init__(self, session: Session, report: Report) -> None:
        self.session, self.report = session, report
        self.turns: list[Turn] = []
        self.answer: list[tuple[dict[str, Any], str]] = []  # messages of the turn with their texts
        self.is_open = False  # the agent's turn has not ended

    def build(self) -> list[Turn]:
        for message in self.session.messages.values():
            self._take(message)
        self._end_turn(is_last=True)
        nested = [turn for message in self.session.nested.values() for turn in self._read_calls(message)]
        return sorted([*self.turns, *nested], key=lambda turn: turn.at) if nested else self.turns

    def _take(self, message: dict[str, Any]) -> None:
        if message["type"] == "gemini":
            self._take_answer(message)
        elif message["type"] != "user":
            self.report.skip("words of the program")
        elif text := _read_text(message.get("content")):
            self._take_prompt(message, text)
        else:
            self.is_open = True  # results of calls, which the model answers

    def _take_prompt(self, message: dict[str, Any], text: str) -> None:
        words = strip_prompt(text)
        if not words or words == CONTINUE or words.startswith(PREFACES):
            return self.report.skip("words of the program")
        self._end_turn()
        self.turns.append(Turn(message["id"], "user", words, _at(message)))

    def _take_answer(self, message: dict[str, Any]) -> None:
        calls = self._read_calls(message)
        self.is_open = bool(_dicts(message.get("toolCalls")))
        if text := strip_injected(_read_text(message.get("content"))):
            self.answer.append((message, text))
        self.turns += calls

    def _end_turn(self, is_last: bool = False) -> None:
        """Add the answer. The program's hook brings it as one text, when the turn is over.

        It has the id of its first message: a turn that goes on after it was imported is not taken twice.
        """
        if self.answer and is_last and self.is_open and _at(self.answer[-1][0]) > ago(OVER):
            self.report.skip("answers that are not complete yet")
        elif self.answer:
            (first, _), (last, _) = self.answer[0], self.answer[-1]
            text = "\n".join(part for _, part in self.answer)
            model = _text(last.get("model"))
            self.turns.append(Turn(first["id"], "assistant", text, _at(last), model))
        self.answer, self.is_open = [], False

    def _read_calls(self, message: dict[str, Any]) -> list[Turn]:
        found = [
            _read_call(message, place, one) for place, one in enumerate(_dicts(message.get("toolCalls")))
        ]
        done = [turn for turn in found if turn is not None]
        self.report.skip("calls without a result", len(found) - len(done))
        others = [turn for turn in done if turn.call and not is_own_call(turn.call.name, turn.call.input)]
        self.report.skip("calls of Day1 itself", len(done) - len(others))
        return others


def _read_call(message: dict[str, Any], place: int, record: dict[str, Any]) -> Turn | None:
    if record.get("status") not in DONE:
        return None
    uid = _text(record.get("id")) or f"{message['id']}#{place}"
    call = Call(uid, _text(record.get("name")) or "tool", record.get("args"))
    content = strip_output(strip_injected(_read_result(record)))
    call.failed = record["status"] != "success" or find_exit_code(content, AGENT) not in (None, 0)
    at = records.moment(record.get("timestamp")) or _at(message)
    return Turn(uid, "tool_result", content, at, call=call)


def _read_result(record: dict[str, Any]) -> str:
    """Return what the model was told of a call; what the person saw where that is missing."""
    parts = [part.get("functionResponse", part) for part in records.blocks(record.get("result"))]
    found = [_read_response(part) for part in _dicts(parts)]
    return "\n".join(text for text in found if text) or _text(record.get("resultDisplay"))


def _read_response(part: dict[str, Any]) -> str:
    response = part.get("response", part.get("text"))
    if isinstance(response, dict):
        response = response.get("output", response.get("error", response))
    return response if isinstance(response, str) else json.dumps(response) if response else ""


def _read_text(content: Any) -> str:
    """Return the words of a message, as its parts follow each other; not what the model thought."""
    parts = [part for part in records.blocks(content) if not part.get("thought")]
    return "".join(_text(part.get("text")) for part in parts).strip()


def _at(message: dict[str, Any]) -> str:
    return records.moment(message.get("timestamp"))


def _dicts(value: Any) -> list[dict[str, Any]]:
    found: Iterable[Any] = value if isinstance(value, list) else ()
    return [one for one in found if isinstance(one, dict)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""

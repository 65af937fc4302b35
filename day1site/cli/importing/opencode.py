"""Sessions of opencode: its database, opencode.db, with a row each for sessions, messages and their parts."""

import json
import math
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from conversations.capture.record_forms import find_field_fault
from conversations.capture.text_cleaning import is_own_call, strip_injected, strip_output, strip_prompt
from conversations.capture.transcripts import records
from conversations.capture.transcripts.records import Call, Dialogue, Report, Turn
from day1site.cli.importing.writer import OVER, ago
from memory.texts import clean_value

AGENT = "opencode"
PATTERN = "opencode*.db"  # a version that is tried out has a database of its own
MAX_ROW_BYTES = 64 * records.MIB
# Names as the plugin gives them, see hooks/client/opencode.js.
TOOL_NAMES = {
    "bash": "Bash",
    "edit": "Edit",
    "glob": "Glob",
    "grep": "Grep",
    "read": "Read",
    "task": "Task",
    "webfetch": "WebFetch",
    "write": "Write",
}
FIELD_NAMES = {"filePath": "file_path", "oldString": "old_string", "newString": "new_string"}
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.S)  # `opencode run` puts a prompt of several words into quotes

SESSIONS = "SELECT id, parent_id, directory, title, revert FROM session ORDER BY time_created, id"
MESSAGES = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
PARTS = "SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id"
Record = dict[str, Any]


def read(path: Path, report: Report) -> Iterator[Dialogue]:
    """Yield a conversation a session, and one a subagent, which has a session of its own."""
    for file in records.find_files(path, PATTERN):
        if records.is_readable(file, report, max_bytes=math.inf):  # it is read session by session
            report.empty = False
            try:
                yield from _Database(file, report).dialogues()
            except sqlite3.Error as error:
                report.breaks(file, 0, f"is no database of opencode: {error}")


class _Database:
    def __init__(self, file: Path, report: Report) -> None:
        self.file, self.report = file, report

    def dialogues(self) -> Iterator[Dialogue]:
        with closing(sqlite3.connect(f"file:{quote(str(self.file.absolute()))}?mode=ro", uri=True)) as link:
            link.text_factory = lambda raw: raw.decode(errors="replace")
            sessions = link.execute(SESSIONS).fetchall()
            parents = {uid: parent for uid, parent, *_ in sessions}
            for uid, parent, folder, title, revert in sessions:
                turns = _Turns(self.report, is_nested=bool(parent))
                turns.take(self._read_messages(link, uid, revert))
                if turns.turns:
                    agent = f"{AGENT}/{uid}" if parent else AGENT
                    name, root = "" if parent else str(title or ""), records.find_root(uid, parents)
                    names = {"title": name, "summary": "" if parent else turns.summary}
                    yield Dialogue(root, agent, turns.turns, path=str(folder or ""), **names)

    def _read_messages(self, link: sqlite3.Connection, session: str, revert: Any) -> list[Record]:
        """Return the messages with their parts; without those that were taken back."""
        messages = {
            uid: {**data, "id": uid, "parts": []} for uid, data in self._rows(link, MESSAGES, session)
        }
        for uid, message, data in self._rows(link, PARTS, session):
            if message in messages:
                messages[message]["parts"].append({**data, "id": uid})
            else:
                self._break(uid, "belongs to no message that can be read")
        first = _parse(revert).get("messageID") if revert else None
        kept = [one for one in messages.values() if not isinstance(first, str) or one["id"] < first]
        self.report.skip("messages that were taken back", len(messages) - len(kept))
        return kept

    def _rows(self, link: sqlite3.Connection, query: str, session: str) -> Iterator[tuple[Any, ...]]:
        """Yield rows whose data is a JSON object."""
        for *ids, data in link.execute(query, [session]):
            value = _parse(data)
            if fault := find_fault(value) if value else "holds no JSON object":
                self._break(ids[0], fault)
            if value:
                yield *ids, value

    def _break(self, uid: Any, fault: str) -> None:
        self.report.breaks(self.file, 0, f"the row {str(uid)[:100]}: {fault}")


def find_fault(data: Record) -> str:
    """Return why not all of a message or a part can be read; "" where it can, or where nobody speaks."""
    if "role" in data:
        return find_field_fault(data, "role", str, "a text")
    if fault := find_field_fault(data, "type", str, "a text"):
        return fault
    needed = {"text": ("text", str, "a text"), "tool": ("state", dict, "an object")}.get(data["type"])
    return find_field_fault(data, *needed) if needed else ""


def _parse(data: Any) -> Record:
    try:
        value = json.loads(data) if isinstance(data, str) and len(data) <= MAX_ROW_BYTES else None
    except (ValueError, RecursionError):
        value = None
    return clean_value(value) if isinstance(value, dict) else {}


# ---- what they say -----------------------------------------------------------------------------------


class _Turns:
    """The prompts, the calls, and the last text of each turn: what the plugin brings of a session."""

    def __init__(self, report: Report, is_nested: bool) -> None:
        self.report, self.is_nested = report, is_nested
        self.turns: list[Turn] = []
        self.calls: set[str] = set()
        self.summary = ""  # of the last compaction
        self.answer: Turn | None = None
        self.is_open = False  # the agent's turn has not ended

    def take(self, messages: list[Record]) -> None:
        for message in messages:
            if message.get("role") == "assistant":
                self._take_answer(message)
            elif message.get("role") == "user":
                self._take_prompt(message)
        self._end_turn(is_last=True)

    def _take_prompt(self, message: Record) -> None:
        words = strip_prompt(_read_prompt(message["parts"]))
        if not words:
            return self.report.skip("words of the program")
        self._end_turn()
        if self.is_nested:
            return self.report.skip("orders to subagents")
        self.turns.append(Turn(message["id"], "user", words, _moment(message, "created")))

    def _take_answer(self, message: Record) -> None:
        self.turns += [turn for part in message["parts"] if (turn := self._read_call(part))]
        texts = [part["text"] for part in message["parts"] if _is_text(part) and part["text"].strip()]
        if message.get("summary"):
            self.summary = "\n\n".join(texts)
            return self.report.skip("summaries of a compaction")
        if self.answer and self.answer.content:
            self.report.skip("texts between the calls of a turn")
        at = _moment(message, "completed") or _moment(message, "created")
        model = str(message.get("modelID") or "")
        self.answer = Turn(message["id"], "assistant", strip_injected("\n\n".join(texts)), at, model)
        self.is_open = not _moment(message, "completed") or message.get("finish") == "tool-calls"

    def _end_turn(self, is_last: bool = False) -> None:
        if self.answer and is_last and self.is_open and self.answer.at > ago(OVER):
            self.report.skip("answers that are not complete yet")
        elif self.answer and self.answer.content:
            self.turns.append(self.answer)
        self.answer, self.is_open = None, False

    def _read_call(self, part: Record) -> Turn | None:
        state = part.get("state")
        if part.get("type") != "tool" or not isinstance(state, dict):
            return None
        tool, uid = str(part.get("tool") or "tool"), str(part.get("callID") or part["id"])
        call = Call(uid, TOOL_NAMES.get(tool, tool), _rename_fields(state.get("input")))
        if reason := self._why_not(call, state):
            self.report.skip(reason)
            return None
        self.calls.add(uid)
        content, call.failed = _read_outcome(state)
        return Turn(uid, "tool_result", content, _moment(state, "end"), call=call)

    def _why_not(self, call: Call, state: Record) -> str:
        """Return why a call is left out, "" for one that is taken."""
        if state.get("status") not in ("completed", "error"):
            return "calls without a result"
        if call.id in self.calls:
            return "calls that are there twice"
        return "calls of Day1 itself" if is_own_call(call.name, call.input) else ""


def _read_outcome(state: Record) -> tuple[str, bool]:
    """Return what a call gave, a file without line numbers, and whether it failed."""
    if state["status"] == "error":
        return strip_output(strip_injected(str(state.get("error") or ""))), True
    metadata = _dict(state.get("metadata"))
    shown = _dict(metadata.get("display")).get("text")
    output = shown if isinstance(shown, str) else state.get("output")
    text = output if isinstance(output, str) else json.dumps(output) if output else ""
    return strip_output(strip_injected(text)), metadata.get("exit") not in (None, 0)


def _read_prompt(parts: list[Record]) -> str:
    """Return a person's own words: neither what the program adds nor the quotes of its command line."""
    text = "\n".join(part["text"] for part in parts if _is_text(part) and not part.get("ignored")).strip()
    quoted = QUOTED.fullmatch(text)
    return quoted[1].replace('\\"', '"') if quoted else text


def _is_text(part: Record) -> bool:
    return part.get("type") == "text" and isinstance(part.get("text"), str) and not part.get("synthetic")


def _rename_fields(record: Any) -> Any:
    if not isinstance(record, dict):
        return record
    return {FIELD_NAMES.get(name, name): value for name, value in record.items()}


def _moment(record: Record, name: str) -> str:
    at = _dict(record.get("time")).get(name)
    return records.moment(at / 1000) if isinstance(at, int | float) else ""


def _dict(value: Any) -> Record:
    return value if isinstance(value, dict) else {}

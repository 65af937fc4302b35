"""Sessions of Codex: rollout files of JSON lines below sessions/."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from conversations.capture import text_cleaning
from conversations.capture.record_forms import find_content_fault, find_field_fault
from conversations.capture.transcripts.records import (
    Call,
    Dialogue,
    Report,
    Turn,
    blocks,
    clean_output,
    drop_interim,
    find_files,
    find_root,
    lines,
    moment,
    text_in,
)

AGENT = "codex"
CALLS = ("function_call", "custom_tool_call", "local_shell_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
SHELL_TOOL = "Bash"  # as Codex's hooks call it
HEADER = re.compile(  # of a shell's result, before the output of the command
    r"\A(?:Chunk ID: .*\n)?(?:Wall time:? .*\n)?(?:Process exited with code (-?\d{1,9})\n)?"
    r"(?:Original token count: .*\n)?Output:\n"
)
WRAPPED = ("session_meta", "turn_context", "response_item", "event_msg")
SPOKEN = ("user_message", "agent_message")
UNTYPED = ("record_type", "instructions")  # of a record without a type, in old rollouts


def read(path: Path, report: Report) -> Iterator[Dialogue]:
    """Yield one conversation for each file. A text that is an item and an event is read from the item."""
    files = find_files(path, "*.jsonl")
    read = [_Reader(lines(file, report, find_fault), file.stem, report) for file in files]
    parents = {reader.thread: reader.parent for reader in read if reader.parent}
    for reader in read:
        dialogue = reader.dialogue(find_root(reader.session, parents))
        if dialogue.messages:
            yield dialogue


def read_part(
    records: Iterable[dict[str, Any]],
    session: str,
    agent: str,
    clean: Callable[[Any], Any] = text_cleaning.clean,
) -> list[Turn]:
    """Return what a part of one rollout tells of a session's agent: "" or the id of a subagent."""
    report = Report()
    reader = _Reader(enumerate(records), agent or session, report, clean)
    reader.is_subagent = bool(agent)
    messages = reader.dialogue(session).messages
    for turn in messages:  # a text's id is its line in the whole file
        turn.source = turn.source if turn.call else ""
    return messages


def find_fault(record: dict[str, Any]) -> str:
    """Return why not all of a record can be read; "" where it can, or where nobody speaks in it."""
    if any(name in record for name in UNTYPED):
        return ""
    if fault := find_field_fault(record, "type", str, "a text"):
        return fault
    kind = record["type"]
    if kind not in WRAPPED:
        return _find_item_fault(record)
    if (fault := find_field_fault(record, "payload", dict, "an object")) or kind in WRAPPED[:2]:
        return fault
    item = record["payload"]
    if fault := find_field_fault(item, "type", str, "a text"):
        return fault
    return _find_event_fault(item) if kind == "event_msg" else _find_item_fault(item)


def _find_event_fault(item: dict[str, Any]) -> str:
    if item["type"] in SPOKEN:
        return find_field_fault(item, "message", str, "a text")
    is_done = item["type"] == "item_completed"
    return find_field_fault(item, "item", dict, "an object") if is_done else ""


def _find_item_fault(item: dict[str, Any]) -> str:
    if item["type"] in (*CALLS, *OUTPUTS):
        return "" if _read_call_id(item) else "has no call_id"
    if item["type"] != "message":
        return ""
    return find_field_fault(item, "role", str, "a text") or find_content_fault(item)


class _Reader:
    def __init__(
        self,
        records: Iterable[tuple[int, dict[str, Any]]],
        name: str,
        report: Report,
        clean: Callable[[Any], Any] = text_cleaning.clean,
    ) -> None:
        self.report, self.clean = report, clean
        self.thread, self.session, self.cwd, self.model = name, name, "", ""
        self.first_model = ""
        self.parent, self.is_subagent = "", False
        self.prompt = ""  # the turn's id
        self.items: list[Turn] = []
        self.events: list[Turn] = []
        self.commands: list[Turn] = []
        self.calls: dict[str, Call] = {}
        self.ran: set[str] = set()  # ids of calls whose result is an item of its own
        self.scripts: dict[str, int] = {}  # id of a script's call -> how many such results there were before
        for number, record in records:
            self._take(number, record)

    def dialogue(self, session: str) -> Dialogue:
        """Return the items' words; the events' where the items have none."""
        self.items = [turn for turn in self.items if not (turn.source in self.ran and turn.call is not None)]
        self.items = sorted([*self.items, *self.commands], key=lambda turn: turn.at)
        spoken = any(turn.role in ("user", "assistant") for turn in self.items)
        messages = self.items if spoken else sorted([*self.items, *self.events], key=lambda turn: turn.at)
        for turn in messages:
            turn.source = turn.source if turn.call else f"{self.thread}#{turn.source}"
        if self.is_subagent:  # no person gave its orders
            orders = [turn for turn in messages if turn.role == "user"]
            self.report.skip("orders to subagents", len(orders))
            messages = [turn for turn in messages if turn.role != "user"]
        agent = f"{AGENT}/{self.thread}" if self.is_subagent else AGENT
        turns = drop_interim(messages, self.report)
        return Dialogue(session, agent[:200], turns, path=self.cwd, model=self.first_model)

    def _take(self, number: int, record: dict[str, Any]) -> None:
        whole = record.get("payload")
        item = whole if isinstance(whole, dict) else record
        kind, at = str(item.get("type") or ""), moment(record.get("timestamp"))
        if record.get("type") == "session_meta":
            self._begin(item)
        elif record.get("type") == "turn_context":
            self.model = str(item.get("model") or self.model)
            self.first_model = self.first_model or self.model
            self.prompt = str(item.get("turn_id") or self.prompt)
        elif record.get("type") == "event_msg":
            self._event(number, kind, item, at)
        elif kind == "message":
            self._message(number, item, at)
        elif kind in CALLS:
            self._call(item)
        elif kind in OUTPUTS:
            self._output(item, at)
        else:
            self.report.skip("records of the program")

    def _begin(self, item: dict[str, Any]) -> None:
        """Take the first record. A subagent's names its parent, of whose session it is a part."""
        if self.cwd:  # a fork begins with a copy of its parent's
            return
        self.thread = str(item.get("id") or item.get("session_id") or self.thread)
        self.session, self.cwd = self.thread, str(item.get("cwd") or "")
        source, self.parent = item.get("source"), _find_parent(item)
        self.is_subagent = bool(self.parent) or (isinstance(source, dict) and "subagent" in source)
        if self.is_subagent:
            root = str(item.get("session_id") or "")
            self.session = root if root not in ("", self.thread) else self.parent or self.thread

    def _take_done(self, item: dict[str, Any], at: str) -> None:
        if item.get("type") == "CommandExecution":
            self._take_command(item, at)
        elif item.get("type") == "McpToolCall":
            self._take_mcp_call(item, at)
        elif item.get("type") == "FileChange":
            self._take_change(item, at)
        else:
            self.report.skip("records of the program")

    def _take_mcp_call(self, item: dict[str, Any], at: str) -> None:
        uid, name = text_cleaning.read_id(item.get("id")), f"mcp__{item.get('server')}__{item.get('tool')}"
        call = Call(uid, name, item.get("arguments"), failed=item.get("status") == "failed")
        self.ran.add(uid)
        if text_cleaning.is_own_call(call.name, call.input):
            return self.report.skip("calls of Day1 itself")
        result = clean_output(item.get("result") or item.get("error"), self.clean)
        content = result.get("content", result) if isinstance(result, dict) else result
        text = text_in(content) or ("" if content is None else json.dumps(content))
        self.commands.append(self._result(call, text_cleaning.strip_injected(text), at))

    def _take_change(self, item: dict[str, Any], at: str) -> None:
        """Take a script's change of files; one that is a call of its own has its patch there."""
        uid, changes = text_cleaning.read_id(item.get("id")), item.get("changes")
        named = changes if isinstance(changes, dict) else [part.get("path") for part in blocks(changes)]
        paths = [str(path) for path in named]
        if uid in self.calls or not paths:
            return self.report.skip("records of the program")
        self.ran.add(uid)
        call = Call(uid, "apply_patch", {"path": paths}, failed=item.get("status") == "failed")
        output = str(clean_output(item.get("stdout") or "", self.clean))
        self.commands.append(self._result(call, output, at))

    def _take_command(self, item: dict[str, Any], at: str) -> None:
        """Take a command with its exit code and output; the hooks have it by the same id."""
        uid, code = text_cleaning.read_id(item.get("id")), item.get("exit_code")
        call = Call(uid, SHELL_TOOL, {"command": _read_command(item.get("command"))})
        call.failed = code not in (None, 0) or item.get("status") in ("failed", "declined")
        self.ran.add(uid)
        if text_cleaning.is_own_call(call.name, call.input):
            return self.report.skip("calls of Day1 itself")
        output = str(clean_output(item.get("aggregated_output") or "", self.clean))
        self.commands.append(self._result(call, text_cleaning.strip_injected(output), at))

    def _event(self, number: int, kind: str, item: dict[str, Any], at: str) -> None:
        role = {"user_message": "user", "agent_message": "assistant"}.get(kind, "")
        text, done = item.get("message"), item.get("item")
        self.prompt = str(item.get("turn_id") or self.prompt)
        if kind == "item_completed" and isinstance(done, dict):
            self._take_done(done, at)
        elif role and isinstance(text, str):
            self._say(self.events, number, role, text, at)
        else:
            self.report.skip("records of the program")

    def _message(self, number: int, item: dict[str, Any], at: str) -> None:
        role = str(item.get("role") or "")
        if role in ("user", "assistant"):
            self._say(self.items, number, role, text_in(item.get("content")), at)
        else:
            self.report.skip("words of the program")

    def _say(self, where: list[Turn], number: int, role: str, text: str, at: str) -> None:
        words = text_cleaning.strip_prompt(text) if role == "user" else text_cleaning.strip_injected(text)
        if not words:
            return self.report.skip("words of the program")
        model = self.model if role == "assistant" else ""
        if role == "assistant" and where and where[-1].role == role:
            where[-1].interim = True
        where.append(Turn(str(number), role, words, at, model, prompt=self.prompt))

    def _call(self, item: dict[str, Any]) -> None:
        arguments = text_cleaning.parse_json(item.get("arguments", item.get("input", item.get("action"))))
        uid, name = _read_call_id(item), str(item.get("name") or "shell")
        if name == "exec_command" and isinstance(arguments, dict):
            name, arguments = SHELL_TOOL, {"command": _read_command(arguments.get("cmd"))}
        elif str(item.get("namespace") or "").startswith("mcp__"):
            name = f"{item['namespace']}__{name}"
        elif name == "exec":
            self.scripts[uid] = len(self.ran)
        self.calls[uid] = Call(uid, name, arguments)
        if self.items and self.items[-1].role == "assistant":
            self.items[-1].interim = True

    def _output(self, item: dict[str, Any], at: str) -> None:
        call = self.calls.get(_read_call_id(item))
        if call is None:
            return self.report.skip("results without their call")
        if text_cleaning.is_own_call(call.name, call.input):
            return self.report.skip("calls of Day1 itself")
        if self.scripts.get(call.id, len(self.ran)) < len(self.ran):
            return self.report.skip("scripts of which the commands are there")
        output = text_cleaning.parse_json(item.get("output"))
        output = clean_output(output, self.clean) if output else output
        if isinstance(output, dict):
            metadata = output.get("metadata")
            code = metadata.get("exit_code") if isinstance(metadata, dict) else output.get("exit_code")
            call.failed = code not in (None, 0) or output.get("success") is False
            output = output.get("output", output.get("content", output))
        text = output if isinstance(output, str) else text_in(output) or json.dumps(output)
        if header := HEADER.match(text):
            call.failed = call.failed or header[1] not in (None, "0")
            text = clean_output(text[header.end() :], self.clean)
        self.items.append(self._result(call, text_cleaning.strip_injected(text), at))

    def _result(self, call: Call, text: str, at: str) -> Turn:
        return Turn(call.id, "tool_result", text, at, call=call, prompt=self.prompt)


def _read_call_id(item: dict[str, Any]) -> str:
    return text_cleaning.read_id(item.get("call_id")) or text_cleaning.read_id(item.get("id"))


def _find_parent(item: dict[str, Any]) -> str:
    """Return the thread that started this one as a subagent, from the session's first record."""
    source: Any = item.get("source")
    for name in ("subagent", "thread_spawn"):
        source = source.get(name) if isinstance(source, dict) else None
    spawned = source.get("parent_thread_id") if isinstance(source, dict) else None
    return str(spawned or item.get("parent_thread_id") or "")


def _read_command(words: Any) -> str:
    """Return the command that a shell was given, without the shell."""
    if not isinstance(words, list):
        return str(words or "")
    if len(words) == 3 and words[1] in ("-lc", "-c", "-Command"):
        return str(words[2])
    return " ".join(map(str, words))

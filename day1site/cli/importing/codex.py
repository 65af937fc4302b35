"""Sessions of Codex: rollout files of JSON lines below sessions/."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conversations.capture.text_cleaning import is_own_call, strip_injected, strip_prompt
from day1site.cli.importing import transcript
from day1site.cli.importing.transcript import Call, Dialogue, Report, Turn

AGENT = "codex"
CALLS = ("function_call", "custom_tool_call", "local_shell_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
SHELL_TOOL = "Bash"  # as Codex's hooks call it
HEADER = re.compile(  # of a shell's result, before the output of the command
    r"\A(?:Chunk ID: .*\n)?(?:Wall time:? .*\n)?(?:Process exited with code (-?\d{1,9})\n)?"
    r"(?:Original token count: .*\n)?Output:\n"
)
PREFACES = ("# AGENTS.md instructions", "# Context from my IDE setup")


def read(path: Path, report: Report) -> Iterator[Dialogue]:
    """Yield one conversation for each file. A text that is an item and an event is read from the item."""
    for file in transcript.find_files(path, "*.jsonl"):
        dialogue = _Reader(file, report).dialogue()
        if dialogue.messages:
            yield dialogue


class _Reader:
    def __init__(self, file: Path, report: Report) -> None:
        self.report = report
        self.session, self.cwd, self.model = file.stem, "", ""
        self.items: list[Turn] = []
        self.events: list[Turn] = []
        self.commands: list[Turn] = []
        self.calls: dict[str, Call] = {}
        self.ran: set[str] = set()  # ids of calls whose result is an item of its own
        self.scripts: dict[str, int] = {}  # id of a script's call -> how many such results there were before
        for number, record in transcript.lines(file, report):
            self._take(number, record)

    def dialogue(self) -> Dialogue:
        """Return the items' words; the events' where the items have none."""
        self.items = [turn for turn in self.items if not (turn.source in self.ran and turn.call is not None)]
        self.items = sorted([*self.items, *self.commands], key=lambda turn: turn.at)
        spoken = any(turn.role in ("user", "assistant") for turn in self.items)
        messages = self.items if spoken else sorted([*self.items, *self.events], key=lambda turn: turn.at)
        for turn in messages:
            turn.source = turn.source if turn.call else f"{self.session}#{turn.source}"
        return Dialogue(self.session, AGENT, messages, path=self.cwd)

    def _take(self, number: int, record: dict[str, Any]) -> None:
        whole = record.get("payload")
        item = whole if isinstance(whole, dict) else record
        kind, at = str(item.get("type") or ""), transcript.moment(record.get("timestamp"))
        if record.get("type") == "session_meta":
            self.session = str(item.get("id") or item.get("session_id") or self.session)
            self.cwd = self.cwd or str(item.get("cwd") or "")
        elif record.get("type") == "turn_context":
            self.model = str(item.get("model") or self.model)
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
        uid, name = str(item.get("id") or ""), f"mcp__{item.get('server')}__{item.get('tool')}"
        call = Call(uid, name, item.get("arguments"), failed=item.get("status") == "failed")
        self.ran.add(uid)
        if is_own_call(call.name, call.input):
            return self.report.skip("calls of Day1 itself")
        result = item.get("result") or item.get("error")
        content = result.get("content", result) if isinstance(result, dict) else result
        text = transcript.text_in(content) or ("" if content is None else json.dumps(content))
        self.commands.append(Turn(uid, "tool_result", strip_injected(text), at, call=call))

    def _take_change(self, item: dict[str, Any], at: str) -> None:
        """Take a script's change of files; one that is a call of its own has its patch there."""
        uid, changes = str(item.get("id") or ""), item.get("changes")
        named = (
            changes
            if isinstance(changes, dict)
            else [part.get("path") for part in transcript.blocks(changes)]
        )
        paths = [str(path) for path in named]
        if uid in self.calls or not paths:
            return self.report.skip("records of the program")
        self.ran.add(uid)
        call = Call(uid, "apply_patch", {"path": paths}, failed=item.get("status") == "failed")
        self.commands.append(Turn(uid, "tool_result", str(item.get("stdout") or ""), at, call=call))

    def _take_command(self, item: dict[str, Any], at: str) -> None:
        """Take a command with its exit code and output; the hooks have it by the same id."""
        uid, code = str(item.get("id") or ""), item.get("exit_code")
        call = Call(uid, SHELL_TOOL, {"command": _read_command(item.get("command"))})
        call.failed = code not in (None, 0) or item.get("status") in ("failed", "declined")
        self.ran.add(uid)
        if is_own_call(call.name, call.input):
            return self.report.skip("calls of Day1 itself")
        output = strip_injected(str(item.get("aggregated_output") or ""))
        self.commands.append(Turn(uid, "tool_result", output, at, call=call))

    def _event(self, number: int, kind: str, item: dict[str, Any], at: str) -> None:
        role = {"user_message": "user", "agent_message": "assistant"}.get(kind, "")
        text, done = item.get("message"), item.get("item")
        if kind == "item_completed" and isinstance(done, dict):
            self._take_done(done, at)
        elif role and isinstance(text, str):
            self._say(self.events, number, role, text, at)
        else:
            self.report.skip("records of the program")

    def _message(self, number: int, item: dict[str, Any], at: str) -> None:
        role = str(item.get("role") or "")
        if role in ("user", "assistant"):
            self._say(self.items, number, role, transcript.text_in(item.get("content")), at)
        else:
            self.report.skip("words of the program")

    def _say(self, where: list[Turn], number: int, role: str, text: str, at: str) -> None:
        words = strip_prompt(text) if role == "user" else strip_injected(text)
        if not words or (role == "user" and words.startswith(PREFACES)):
            return self.report.skip("words of the program")
        where.append(Turn(str(number), role, words, at, self.model if role == "assistant" else ""))

    def _call(self, item: dict[str, Any]) -> None:
        arguments = _parsed(item.get("arguments", item.get("input", item.get("action"))))
        uid, name = str(item.get("call_id") or item.get("id") or ""), str(item.get("name") or "shell")
        if name == "exec_command" and isinstance(arguments, dict):
            name, arguments = SHELL_TOOL, {"command": _read_command(arguments.get("cmd"))}
        elif str(item.get("namespace") or "").startswith("mcp__"):
            name = f"{item['namespace']}__{name}"
        elif name == "exec":
            self.scripts[uid] = len(self.ran)
        self.calls[uid] = Call(uid, name, arguments)

    def _output(self, item: dict[str, Any], at: str) -> None:
        call = self.calls.get(str(item.get("call_id") or item.get("id") or ""))
        if call is None:
            return self.report.skip("results without their call")
        if is_own_call(call.name, call.input):
            return self.report.skip("calls of Day1 itself")
        if self.scripts.get(call.id, len(self.ran)) < len(self.ran):
            return self.report.skip("scripts of which the commands are there")
        output = _parsed(item.get("output"))
        if isinstance(output, dict):
            metadata = output.get("metadata")
            code = metadata.get("exit_code") if isinstance(metadata, dict) else output.get("exit_code")
            call.failed = code not in (None, 0) or output.get("success") is False
            output = output.get("output", output.get("content", output))
        text = output if isinstance(output, str) else transcript.text_in(output) or json.dumps(output)
        if header := HEADER.match(text):
            call.failed = call.failed or header[1] not in (None, "0")
            text = text[header.end() :]
        self.items.append(Turn(call.id, "tool_result", strip_injected(text), at, call=call))


def _read_command(words: Any) -> str:
    """Return the command that a shell was given, without the shell."""
    if not isinstance(words, list):
        return str(words or "")
    if len(words) == 3 and words[1] in ("-lc", "-c", "-Command"):
        return str(words[2])
    return " ".join(map(str, words))


def _parsed(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value

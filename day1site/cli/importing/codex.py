"""Sessions of Codex: rollout files of JSON lines below sessions/."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conversations.capture.text_cleaning import is_own_call, strip_injected, strip_prompt
from day1site.cli.importing import transcript
from day1site.cli.importing.transcript import Call, Dialogue, Report, Turn

AGENT = "codex"
CALLS = ("function_call", "custom_tool_call", "local_shell_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
PREFACES = ("# AGENTS.md instructions", "# Context from my IDE setup")


def read(path: Path, report: Report) -> Iterator[Dialogue]:
    """Yield one conversation for each file. A text that is an item and an event is read from the item."""
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    for file in files:
        dialogue = _Reader(file, report).dialogue()
        if dialogue.messages:
            yield dialogue


class _Reader:
    def __init__(self, file: Path, report: Report) -> None:
        self.report = report
        self.session, self.cwd, self.model = file.stem, "", ""
        self.items: list[Turn] = []
        self.events: list[Turn] = []
        self.calls: dict[str, Call] = {}
        for number, record in transcript.lines(file, report):
            self._take(number, record)

    def dialogue(self) -> Dialogue:
        """Return the items' words; the events' where the items have none."""
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

    def _event(self, number: int, kind: str, item: dict[str, Any], at: str) -> None:
        role = {"user_message": "user", "agent_message": "assistant"}.get(kind, "")
        text = item.get("message")
        if role and isinstance(text, str):
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
        arguments = item.get("arguments", item.get("input", item.get("action")))
        uid = str(item.get("call_id") or item.get("id") or "")
        self.calls[uid] = Call(uid, str(item.get("name") or "shell"), _parsed(arguments))

    def _output(self, item: dict[str, Any], at: str) -> None:
        call = self.calls.get(str(item.get("call_id") or item.get("id") or ""))
        if call is None:
            return self.report.skip("results without their call")
        if is_own_call(call.name, call.input):
            return self.report.skip("calls of Day1 itself")
        output = _parsed(item.get("output"))
        if isinstance(output, dict):
            metadata = output.get("metadata")
            code = metadata.get("exit_code") if isinstance(metadata, dict) else output.get("exit_code")
            call.failed = code not in (None, 0) or output.get("success") is False
            output = output.get("output", output.get("content", output))
        text = output if isinstance(output, str) else transcript.text_in(output) or json.dumps(output)
        self.items.append(Turn(call.id, "tool_result", strip_injected(text), at, call=call))


def _parsed(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value

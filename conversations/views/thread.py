"""Lines of a thread: what was said, and each call of a tool with its result as one line."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from conversations.engines.fork_tree import count_forks
from conversations.engines.semantic_diff.tool_steps import ToolStep, list_tool_steps
from conversations.models import Message
from memory.engines.facts.links import LinkEngine
from memory.models import Fact
from memory.views.frame.view_context import ViewContext

MAX_LINE = 120  # characters of a call's input in its line
Role = Message.Role


@dataclass(frozen=True)
class CallLine:
    """A call of a tool: its name, its input in a line, how long it took, and what it gave back."""

    step: ToolStep
    line: str
    duration: str
    result: Message | None
    call: Mapping[str, Any]  # as the program wrote it

    @property
    def is_apart(self) -> bool:
        """Return whether the result is a message of its own, which is shown here alone."""
        return self.result is not None and self.result.uid != self.step.message_id


@dataclass
class ThreadEntry:
    """A message of a thread with its calls, the facts that came of it, and its forks."""

    message: Message
    calls: Sequence[CallLine] = ()
    facts: Sequence[Fact] = ()
    forks: int = 0
    speaks: bool = True  # what it says is shown, beside the calls

    @property
    def results(self) -> list[Message]:
        return [call.result for call in self.calls if call.is_apart and call.result]


@dataclass
class ThreadNotes:
    """What is told of messages beside their texts."""

    facts: Mapping[UUID, list[Fact]] = field(default_factory=dict)
    forks: Counter[Any] = field(default_factory=Counter)


def load_notes(reader: ViewContext, messages: Sequence[Message]) -> ThreadNotes:
    """Return the facts that came of messages, and how many forks begin at each."""
    facts = LinkEngine().facts_from(source_ids=[row.uid for row in messages], **reader.read_args)
    return ThreadNotes(facts, count_forks(messages=messages, **reader.read_args))


def list_entries(messages: Sequence[Message], notes: ThreadNotes | None = None) -> list[ThreadEntry]:
    """Return the entries of a thread; the result of a call stands with the call."""
    notes = notes or ThreadNotes()
    by_id: dict[Any, Message] = {row.uid: row for row in messages}
    steps: dict[Any, list[ToolStep]] = {}
    for step in list_tool_steps(messages):
        steps.setdefault(step.message_id, []).append(step)
    calls = {uid: describe_calls(by_id[uid], made) for uid, made in steps.items()}
    absorbed = {
        call.result.uid for lines in calls.values() for call in lines if call.is_apart and call.result
    }
    return [build_entry(row, calls.get(row.uid, ()), notes) for row in messages if row.uid not in absorbed]


def build_entry(row: Message, calls: Sequence[CallLine], notes: ThreadNotes) -> ThreadEntry:
    entry = ThreadEntry(row, calls)
    entry.speaks = bool(row.content) and not (calls and row.role == Role.TOOL_RESULT)
    shown = [row, *entry.results]
    entry.facts = [fact for one in shown for fact in notes.facts.get(one.uid, ())]
    entry.forks = sum(notes.forks[one.uid] for one in shown)
    return entry


def describe_calls(caller: Message, steps: Sequence[ToolStep]) -> list[CallLine]:
    """Return the lines of a message's calls; its entries are in the order of their steps."""
    calls = [call for call in caller.tool_calls if isinstance(call, Mapping)]
    return [describe_call(step, call, caller) for step, call in zip(steps, calls, strict=False)]


def describe_call(step: ToolStep, call: Mapping[str, Any], caller: Message) -> CallLine:
    duration = format_duration(measure_call(caller, step.result))
    return CallLine(step, shorten_input(step.arguments), duration, step.result, call)


def list_calls(message: Message) -> list[CallLine]:
    """Return the lines of a message's calls, where it stands alone."""
    return describe_calls(message, list_tool_steps([message]))


def measure_call(caller: Message, result: Message | None) -> float | None:
    """Return how long a call took: as the program said, else between the two messages."""
    if result is None:
        return None
    stated = result.metadata.get("duration_ms")
    if isinstance(stated, int | float):
        return stated
    if caller.uid == result.uid:
        return None
    return (get_time(result) - get_time(caller)).total_seconds() * 1000 or None


def get_time(message: Message) -> datetime:
    return message.said_at or message.created_at


def format_duration(milliseconds: float | None) -> str:
    """Return a duration in one unit; "" for none."""
    if milliseconds is None or milliseconds < 0:
        return ""
    if milliseconds < 1000:
        return _("{n} ms").format(n=round(milliseconds))
    if milliseconds < 120_000:
        return _("{n} s").format(n=f"{milliseconds / 1000:.1f}")
    return _("{n} min").format(n=round(milliseconds / 60_000))


def shorten_input(arguments: Any) -> str:
    """Return the input of a call in a line: a single text as it is, of several the first."""
    if isinstance(arguments, Mapping):
        texts = [value for value in arguments.values() if isinstance(value, str) and value.strip()]
        arguments = texts[0] if texts else json.dumps(arguments, ensure_ascii=False) if arguments else ""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    line = " ".join(text.encode(errors="backslashreplace").decode().split())
    return line if len(line) <= MAX_LINE else f"{line[: MAX_LINE - 1]}…"

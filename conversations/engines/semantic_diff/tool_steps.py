"""The tool calls of messages, whatever program wrote them: name, arguments, whether they failed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from conversations.models import Message
from memory.engines.sessions.tool_calls import detect_outcome
from memory.models import Observation

Role = Message.Role
CALLERS = frozenset({Role.ASSISTANT, Role.TOOL_CALL})


@dataclass
class ToolStep:
    """One call of a tool, with the message that made it and the one with its result."""

    name: str
    arguments: Any = None
    call_id: str = ""
    failed: bool = False
    message_id: UUID | None = None
    result: Message | None = field(default=None, repr=False)

    @property
    def key(self) -> str:
        """Return the call as one text: the same tool with the same arguments."""
        return build_key(self.name, self.arguments)


def build_key(name: str, arguments: Any) -> str:
    """Return a call as one text; no arguments are the same as an empty object of them."""
    return f"{name} {encode_arguments({} if arguments is None else arguments)}"


def encode_arguments(arguments: Any) -> str:
    return json.dumps(arguments, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def list_tool_steps(messages: Sequence[Message]) -> list[ToolStep]:
    """Return the calls of a thread in their order.

    A result belongs to the call with its id, else to the oldest call without a result; one that no message
    has called, as hooks write it, is a call itself.
    """
    steps: list[ToolStep] = []
    open_steps: list[ToolStep] = []
    for message in messages:
        if message.role in CALLERS:
            made = [read_call(call, message) for call in message.tool_calls if isinstance(call, Mapping)]
            steps += made
            open_steps += made
        elif message.role == Role.TOOL_RESULT:
            for step in _match_result(message, open_steps):
                step.result, step.failed = message, has_failed(message)
                if step in open_steps:
                    open_steps.remove(step)
                else:
                    steps.append(step)
    return steps


def _match_result(message: Message, open_steps: Sequence[ToolStep]) -> Iterator[ToolStep]:
    calls = [read_call(call, message) for call in message.tool_calls if isinstance(call, Mapping)]
    by_id = {step.call_id: step for step in open_steps if step.call_id}
    for call in calls:
        yield by_id.get(call.call_id, call)
    if not calls:
        call_id = str(message.metadata.get("tool_call_id") or "")
        if call_id in by_id:
            yield by_id[call_id]
        elif open_steps:
            yield open_steps[0]


def read_call(call: Mapping[str, Any], message: Message) -> ToolStep:
    """Return the call of an entry in ``tool_calls``, in the shape of OpenAI, Anthropic or the hooks."""
    function = call.get("function")
    body = function if isinstance(function, Mapping) else call
    arguments = next((body[name] for name in ("arguments", "input", "args") if name in body), None)
    if isinstance(arguments, str):
        with suppress(ValueError, RecursionError):
            arguments = json.loads(arguments)
    name = str(body.get("name") or call.get("name") or "tool")
    return ToolStep(name, arguments, str(call.get("id") or ""), message_id=message.uid)


def has_failed(message: Message) -> bool:
    """Return whether a result reports an error or a timeout, as for the observation of a call."""
    if message.metadata.get("is_error"):
        return True
    return detect_outcome(message.content) != Observation.Outcome.SUCCESS

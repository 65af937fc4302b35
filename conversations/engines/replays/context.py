"""The context of a replay: the thread up to its fork in chat format, with what overrides it."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from conversations.engines.replays.recorded import RecordedTools, wrap_arguments
from conversations.engines.semantic_diff.tool_steps import ToolStep, list_tool_steps
from conversations.models import Message, Replay
from memory.ranking import count_tokens

Role = Message.Role
ChatMessage = dict[str, Any]


def build_context(
    replay: Replay, messages: Sequence[Message], tools: RecordedTools, left_out: int = 0
) -> list[ChatMessage]:
    """Return a thread for a model: system prompt, memory and extra context, then what was said.

    The replay's system prompt takes the place of those of the conversation. Calls whose result the thread
    does not have get the recorded one. Messages that are ``left_out`` are named.
    """
    own = [row.content for row in messages if row.role == Role.SYSTEM]
    system = [replay.system_prompt] if replay.system_prompt else own
    gap = f"[{left_out} earlier messages of the conversation are left out.]" if left_out else ""
    parts = [*system, replay.memory_context, replay.extra_context, gap]
    chat: list[ChatMessage] = [{"role": "system", "content": part} for part in parts if part]
    return [*chat, *_list_chat(messages, tools)]


def _list_chat(messages: Sequence[Message], tools: RecordedTools) -> Iterator[ChatMessage]:
    steps = list_tool_steps(messages)
    for number, step in enumerate(steps):
        step.call_id = f"call_{number}"  # the source may have it twice, or one too long for the API
    by_message: dict[Any, list[ToolStep]] = {}
    for step in steps:
        by_message.setdefault(step.message_id, []).append(step)
    for row in messages:
        made = by_message.get(row.uid, [])
        if row.role == Role.USER:
            yield {"role": "user", "content": row.content}
        elif row.role in (Role.ASSISTANT, Role.TOOL_CALL):
            yield from _show_answer(row.content, made, tools)
        elif row.role == Role.TOOL_RESULT and made:  # as hooks write it: the call and its result
            yield from _show_answer("", made, tools)


def _show_answer(text: str, steps: Sequence[ToolStep], tools: RecordedTools) -> Iterator[ChatMessage]:
    if not steps:
        if text:
            yield {"role": "assistant", "content": text}
        return
    calls = [
        {
            "id": step.call_id,
            "type": "function",
            "function": {
                "name": tools.get_clean_name(step.name),
                "arguments": json.dumps(wrap_arguments(step.arguments), ensure_ascii=False),
            },
        }
        for step in steps
    ]
    yield {"role": "assistant", "content": text or None, "tool_calls": calls}
    for step in steps:
        if step.result is not None:
            content = step.result.content
        else:
            content = tools.answer(step.name, step.arguments, is_given=False).content
        yield {"role": "tool", "tool_call_id": step.call_id, "content": content}


def estimate_tokens(context: Sequence[ChatMessage]) -> int:
    """Return about how many tokens a context has; the server's own count may differ."""
    return sum(count_tokens(json.dumps(one, ensure_ascii=False)) for one in context)

"""The context of a replay: the thread up to its fork in chat format, with what overrides it."""

import json
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from conversations.engines.conversations import get_visible
from conversations.engines.forks import find_point
from conversations.engines.replays.recorded import RecordedTools, wrap_arguments
from conversations.engines.semantic_diff.tool_steps import ToolStep, list_tool_steps
from conversations.engines.threads import Position, Thread, load_thread
from conversations.models import Message, Replay
from memory.db.budget import count_row_bytes, take_within
from memory.db.querysets import VersionedQuerySet
from memory.ranking import count_tokens

Role = Message.Role
ChatMessage = dict[str, Any]
MAX_PART = 5_000  # messages
MAX_PART_BYTES = 16 * 2**20
MAX_SYSTEM = 100  # messages of the part that is left out


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


# ---- the two parts of a thread -----------------------------------------------------------------------


class Parts(NamedTuple):
    """Messages up to the fork, those behind it, and how many of the first are left out."""

    before: list[Message]
    after: list[Message]
    left_out: int = 0


def load_parts(replay: Replay) -> Parts:
    """Return the messages of the source up to the fork, and those behind it, as the source was then.

    Of a long source the system messages and the end are taken, from a message of a person on.
    Raises NotFound, Invalid.
    """
    lineage = replay.source_branch.lineage(replay.source_seq)
    source = get_visible(lineage, replay.source_id)
    point = find_point(lineage, source, replay.message_id)
    thread, rows = load_thread(lineage, source), Message.objects.in_lineage(lineage)
    place = thread.position(point)
    found = take_within(thread.stream(rows, MAX_PART, down=True, beyond=place), MAX_PART, MAX_PART_BYTES)
    after = take_within(thread.stream(rows, MAX_PART, beyond=place), MAX_PART, MAX_PART_BYTES)
    before = [*found[::-1], point]
    if len(found) < MAX_PART and sum(map(count_row_bytes, found)) <= MAX_PART_BYTES:
        return Parts(before, after)
    before = _cut_start(thread, rows, before)
    return Parts(before, after, thread.count_until(rows, place) - len(before))


def _cut_start(thread: Thread, rows: VersionedQuerySet, recent: list[Message]) -> list[Message]:
    """Return messages from the first of a person on, behind the system messages before it."""
    prompts = (i for i, row in enumerate(recent) if row.role == Message.Role.USER)
    recent = recent[next(prompts, 0) :]
    start = thread.position(recent[0])
    earlier = thread.stream(rows.filter(role=Message.Role.SYSTEM), MAX_SYSTEM)
    return [*takewhile(lambda row: _is_before(thread, row, start), earlier), *recent]


def _is_before(thread: Thread, row: Message, place: Position) -> bool:
    return thread.position(row) < place


def load_own(replay: Replay) -> list[Message]:
    """Return the messages that the replay has added."""
    replay.branch.refresh_from_db(fields=["head", "head_at"])
    rows = Message.objects.on(replay.branch).filter(conversation_id=replay.conversation_id)
    return sorted(rows.fetch_all(), key=lambda row: row.sequence_num)

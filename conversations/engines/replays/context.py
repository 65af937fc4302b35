"""The context of a replay: the thread up to its fork, what overrides it, and recorded results of tools."""

import json
import re
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple

from conversations.engines.conversations import get_visible
from conversations.engines.forks import find_point
from conversations.engines.semantic_diff.tool_steps import ToolStep, build_key, list_tool_steps
from conversations.engines.threads import Thread, load_thread
from conversations.models import Message, Replay
from memory.db.budget import count_row_bytes, take_within
from memory.db.querysets import VersionedQuerySet
from memory.exceptions import Invalid
from memory.ranking import count_tokens

UNKNOWN = "No result was recorded for this call: the conversation that is replayed never made it."
NAME = re.compile(r"[^a-zA-Z0-9_-]+")
MAX_NAME = 64
WRAPPED = "input"  # the argument that stands for a text or a list, since the API takes objects alone


@dataclass(frozen=True)
class RecordedResult:
    content: str
    is_known: bool


class RecordedTools:
    """The tools of a conversation with the results that it got, as far as a replay may use them.

    A call gets the result of the first equal one from the fork on that no call has got yet, in the order of
    the conversation; where all were given, the last one again. One that was made before the fork alone gets
    its last result.
    """

    def __init__(self, before: Sequence[Message], after: Sequence[Message], replay: Any) -> None:
        steps = [*list_tool_steps(after), *list_tool_steps(before)]
        self.names = choose_names(steps, replay.tools_allow, replay.tools_deny)
        self._clean_names = number_names(step.name for step in steps)
        self._full_names = {clean: name for name, clean in self._clean_names.items()}
        self._results: dict[str, deque[str]] = defaultdict(deque)
        self._arguments: dict[str, set[str]] = defaultdict(set)
        self._unwrapped = {step.name for step in steps if is_bare(step.arguments)}
        for step in steps:
            self._arguments[step.name] |= set(map(str, wrap_arguments(step.arguments)))
        self._take_results(before, after)

    def _take_results(self, before: Sequence[Message], after: Sequence[Message]) -> None:
        for step in list_tool_steps(before):
            if step.result is not None:
                self._results[step.key] = deque([step.result.content])
        known_before = set(self._results)
        for step in list_tool_steps(after):
            if step.result is None:
                continue
            if step.key in known_before:  # what a later call has found is no longer what it was
                known_before.discard(step.key)
                self._results[step.key].clear()
            self._results[step.key].append(step.result.content)

    def answer(self, name: str, arguments: Any, *, is_given: bool = True) -> RecordedResult:
        """Return the recorded result of a call by the name in the conversation, or that there is none.

        One that ``is_given`` is not given again while there are others.
        """
        left = self._results.get(build_key(name, arguments))
        if not left or name not in self.names:
            return RecordedResult(UNKNOWN, False)
        return RecordedResult(left.popleft() if is_given and len(left) > 1 else left[0], True)

    def get_clean_name(self, name: str) -> str:
        """Return the name under which a request has a tool."""
        return self._clean_names.get(name) or clean_name(name)

    def restore_name(self, name: str) -> str:
        """Return the name in the conversation of a tool that a model calls."""
        return self._full_names.get(name, name)

    def restore_arguments(self, name: str, arguments: Any) -> Any:
        """Return the arguments of a model's call in the form in which the conversation calls this tool."""
        if name in self._unwrapped and isinstance(arguments, Mapping) and set(arguments) == {WRAPPED}:
            return arguments[WRAPPED]
        return arguments

    def describe(self) -> list[dict[str, Any]]:
        """Return the tools for a request, with the arguments that were seen."""
        return [
            {
                "type": "function",
                "function": {
                    "name": self.get_clean_name(name),
                    "description": f"The tool {name}, as it was used in this conversation.",
                    "parameters": {
                        "type": "object",
                        "properties": {key: {} for key in sorted(self._arguments[name])},
                    },
                },
            }
            for name in self.names
        ]


def choose_names(steps: Sequence[ToolStep], allow: Collection[str], deny: Collection[str]) -> list[str]:
    """Return the names of the tools that a filter leaves, in order. Raises Invalid where it leaves none."""
    known = list(dict.fromkeys(step.name for step in steps))
    left = [name for name in known if (not allow or name in allow) and name not in deny]
    if known and not left and (allow or deny):
        raise Invalid(
            "The filter allows none of the tools that were used: {tools}.",
            tools=", ".join(sorted(known))[:300],
            field="tools_allow" if allow else "tools_deny",
        )
    return left


def number_names(names: Iterable[str]) -> dict[str, str]:
    """Return a name for the API for each tool; those that would be the same get numbers."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        clean, number = clean_name(name), 1
        while clean in found.values():
            number += 1
            end = f"_{number}"
            clean = clean_name(name)[: MAX_NAME - len(end)] + end
        found[name] = clean
    return found


def is_bare(arguments: Any) -> bool:
    """Return whether a tool was called with something else than an object of arguments."""
    return arguments is not None and not isinstance(arguments, Mapping)


def wrap_arguments(arguments: Any) -> Mapping[str, Any]:
    """Return arguments as an object, which is all that the API takes."""
    return {WRAPPED: arguments} if is_bare(arguments) else arguments or {}


def clean_name(name: str) -> str:
    """Return a name that the API takes for a function."""
    return NAME.sub("_", name)[:MAX_NAME] or "tool"


Role = Message.Role
INSTRUCTING = (Role.SYSTEM, Role.DEVELOPER)
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
    own = [row.content for row in messages if row.role in INSTRUCTING]
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
    earlier = thread.stream(rows.filter(role__in=INSTRUCTING), MAX_SYSTEM)
    return [*takewhile(lambda row: thread.position(row) < start, earlier), *recent]


def load_own(replay: Replay) -> list[Message]:
    """Return the messages that the replay has added."""
    replay.branch.refresh_from_db(fields=["head", "head_at"])
    rows = Message.objects.on(replay.branch).filter(conversation_id=replay.conversation_id)
    return sorted(rows.fetch_all(), key=lambda row: row.sequence_num)

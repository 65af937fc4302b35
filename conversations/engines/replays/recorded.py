"""Recorded results of tools: what the calls of a replay are answered with."""

import re
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conversations.engines.semantic_diff.tool_steps import ToolStep, build_key, list_tool_steps
from conversations.models import Message
from memory.exceptions import Invalid

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

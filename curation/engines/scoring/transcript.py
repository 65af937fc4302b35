"""A conversation as judges read it: each message cut, the middle left out where it is long."""

from collections.abc import Iterator
from dataclasses import dataclass

from conversations.engines.semantic_diff.tool_steps import encode_arguments, read_call
from conversations.engines.threads import Thread
from conversations.models import Message
from curation.engines.ratings import cut_characters
from memory.db.querysets import VersionedQuerySet

MAX_MESSAGE = 2_000  # characters of one message
MAX_TOTAL = 30_000  # of all of them
MAX_START = 10_000  # of those at its start, where it is longer; its end tells more
MAX_ROWS = 1_000  # messages that are read from either end


@dataclass(frozen=True)
class Transcript:
    """The text, how many messages it has, and how many of the conversation it leaves out."""

    text: str
    shown: int
    left_out: int


def read_transcript(thread: Thread, rows: VersionedQuerySet) -> Transcript:
    """Return the start and the end of a thread, all of it where that fits."""
    total = sum(part.count() for _, part in thread.split(rows))
    start = take_lines(thread.stream(rows, MAX_ROWS), MAX_START)
    left = MAX_TOTAL - sum(map(len, start.values()))
    end = take_lines(thread.stream(rows, MAX_ROWS, down=True), left, start)
    left_out = total - len(start) - len(end)
    gap = [f"[{left_out} messages are left out here]"] if left_out else []
    text = "\n\n".join([*start.values(), *gap, *reversed(end.values())])
    return Transcript(text, len(start) + len(end), left_out)


def take_lines(
    messages: Iterator[Message], limit: int, known: dict[int, str] | None = None
) -> dict[int, str]:
    """Return messages as texts by their keys, as far as they fit, up to the first known one."""
    found: dict[int, str] = {}
    for row in messages:
        text = describe_message(row)
        if row.rid in (known or ()) or len(text) > limit:
            break
        found[row.rid] = text
        limit -= len(text)
    return found


def describe_message(row: Message) -> str:
    calls = (read_call(call, row) for call in row.tool_calls if isinstance(call, dict))
    parts = [row.content, *(f"calls {one.name} {encode_arguments(one.arguments)}" for one in calls)]
    text = "\n".join(part for part in parts if part)
    return cut_characters(MAX_MESSAGE, f"[{row.sequence_num}] {row.role}: {text}")

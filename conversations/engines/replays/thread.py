"""The two parts of what is replayed: up to the fork, and what came after it."""

from itertools import takewhile
from typing import NamedTuple

from conversations.engines.conversations import get_visible
from conversations.engines.forks import find_point
from conversations.engines.threads import Position, Thread, load_thread
from conversations.models import Message, Replay
from memory.db.budget import count_row_bytes, take_within
from memory.db.querysets import VersionedQuerySet

MAX_PART = 5_000  # messages
MAX_PART_BYTES = 16 * 2**20
MAX_SYSTEM = 100  # messages of the part that is left out


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

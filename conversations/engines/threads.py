"""Threads: the messages of a conversation, those that a fork shares with its source included."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from operator import or_
from typing import NamedTuple
from uuid import UUID

from django.db.models import Case, Count, Q, Sum, Value, When

from conversations.models import Conversation, Message
from memory.db.querysets import Lineage, VersionedQuerySet
from memory.engines.versions.lookup import nearest_versions

Position = tuple[int, int]  # a segment and a number in it


class Segment(NamedTuple):
    """Messages of one conversation up to a number; None is its end."""

    conversation_id: UUID
    last: int | None = None


@dataclass(frozen=True)
class Thread:
    """The segments of a conversation, the oldest first; the last are its own messages."""

    segments: Sequence[Segment]

    @property
    def depth(self) -> int:
        """Return how many forks lie between it and the first conversation."""
        return len(self.segments) - 1

    @property
    def shared_to(self) -> int:
        """Return the number of the last message that it shares, 0 without one."""
        return max((segment.last or 0 for segment in self.segments), default=0)

    def has_message(self, message: Message) -> bool:
        """Return whether a message, visible where the thread was read, belongs to it."""
        ends = {segment.conversation_id: segment.last for segment in self.segments}
        if message.conversation_id not in ends:
            return False
        end = ends[message.conversation_id]
        return end is None or message.sequence_num <= end

    def position(self, message: Message) -> Position:
        """Return where a message of it stands."""
        ids = [segment.conversation_id for segment in self.segments]
        return ids.index(message.conversation_id), message.sequence_num

    def stream(
        self, rows: VersionedQuerySet, k: int, *, down: bool = False, beyond: Position | None = None
    ) -> Iterator[Message]:
        """Yield at most k messages in their order, or backwards; a segment is read when it is reached."""
        return islice(self._stream_segments(rows, k, down, beyond), k)

    def _stream_segments(
        self, rows: VersionedQuerySet, k: int, down: bool, beyond: Position | None
    ) -> Iterator[Message]:
        for index, part in self.split(rows, down, beyond):
            number = beyond[1] if beyond and beyond[0] == index else None
            yield from part.stream(k, "sequence_num", down=down, beyond=number)

    def split(
        self, rows: VersionedQuerySet, down: bool = False, beyond: Position | None = None
    ) -> Iterator[tuple[int, VersionedQuerySet]]:
        """Yield the rows of each segment with its index, from a position on."""
        indexes = range(len(self.segments))
        start = beyond[0] if beyond else (indexes[-1] if down else 0)
        for index in reversed(indexes[: start + 1]) if down else indexes[start:]:
            yield index, filter_segment(rows, self.segments[index])

    def count_until(self, rows: VersionedQuerySet, place: Position) -> int:
        """Return how many messages stand up to a place."""
        segments = self.segments[: place[0]]
        end = self.segments[place[0]]._replace(last=place[1])
        return sum(filter_segment(rows, segment).count() for segment in [*segments, end])

    def last_keys(self, rows: VersionedQuerySet, k: int) -> list[int]:
        """Return the keys of the last k messages in their order."""
        keys: list[int] = []
        for _, part in self.split(rows, down=True):
            if len(keys) < k:
                keys += part.highest_keys(k - len(keys), "sequence_num")
        return keys[::-1]


def filter_segment(rows: VersionedQuerySet, segment: Segment) -> VersionedQuerySet:
    return rows.filter(match_segments([segment]))


def match_segments(segments: Iterable[Segment]) -> Q:
    """Return a condition on the messages of segments."""
    own = (Q(conversation_id=one.conversation_id, **_end_at(one.last)) for one in segments)
    return reduce(or_, own, Q())


def _end_at(last: int | None) -> dict[str, int]:
    return {} if last is None else {"sequence_num__lte": last}


def count_segments(rows: VersionedQuerySet, segments: Iterable[Segment]) -> dict[Segment, tuple[int, int]]:
    """Return the number of messages and of tokens of segments that end, with one query."""
    ordered = sorted(set(segments))
    if not ordered:
        return {}
    # A message counts in the first part that reaches it; a segment is all parts of its conversation up to it.
    parts = Case(*(When(match_segments([one]), then=Value(n)) for n, one in enumerate(ordered)))
    among = rows.filter(conversation_id__in={one.conversation_id for one in ordered}).order_by()
    grouped = among.annotate(part=parts).values("part").annotate(n=Count("rid"), tokens=Sum("token_count"))
    counted = {row["part"]: (row["n"], row["tokens"]) for row in grouped}
    found: dict[Segment, tuple[int, int]] = {}
    before = (UUID(int=0), 0, 0)
    for n, one in enumerate(ordered):
        count, tokens = counted.get(n, (0, 0))
        if before[0] == one.conversation_id:
            count, tokens = count + before[1], tokens + before[2]
        before, found[one] = (one.conversation_id, count, tokens), (count, tokens)
    return found


def load_thread(lineage: Lineage, conversation: Conversation) -> Thread:
    return load_threads(lineage, [conversation])[conversation.uid]


def load_threads(lineage: Lineage, conversations: Sequence[Conversation]) -> dict[UUID, Thread]:
    """Return the threads of conversations, with two queries for each generation of forks."""
    found = {row.uid: [Segment(row.uid)] for row in conversations}
    heads = {row.uid: row for row in conversations if row.parent_conversation_id}
    while heads:
        steps = _find_parents(lineage, heads)
        parents = nearest_versions(lineage, Conversation, {step.conversation_id for step in steps.values()})
        heads = {}
        for uid, step in steps.items():
            if step.conversation_id in {segment.conversation_id for segment in found[uid]}:
                continue  # no circle, whatever a merge has brought
            found[uid].append(step)
            parent = parents.get(step.conversation_id)
            if parent is not None and parent.parent_conversation_id:
                heads[uid] = parent
    return {uid: Thread(tuple(reversed(segments))) for uid, segments in found.items()}


def _find_parents(lineage: Lineage, heads: dict[UUID, Conversation]) -> dict[UUID, Segment]:
    """Return the segment that each fork shares, where its last message stands on this lineage.

    A removed or hidden message keeps its place; one that a lineage never had ends the thread there.
    """
    points = {row.fork_point_message_id for row in heads.values() if row.fork_point_message_id}
    messages = nearest_versions(lineage, Message, points)
    found = {}
    for uid, row in heads.items():
        if row.fork_point_message_id in messages:
            point = messages[row.fork_point_message_id]
            found[uid] = Segment(point.conversation_id, point.sequence_num)
        elif row.fork_point_message_id is None and row.parent_conversation_id:
            found[uid] = Segment(row.parent_conversation_id, 0)  # a merge forked it before its first message
    return found

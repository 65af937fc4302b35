"""Threads: the messages of a conversation with those that a fork shares, and the neighbours of a message."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from operator import or_
from typing import NamedTuple
from uuid import UUID

from django.db.models import Case, Count, Q, Sum, Value, When

from conversations.models import Conversation, Message
from memory.db.querysets import Lineage, VersionedQuerySet
from memory.engines.search.text_search import Adjacent, Sides
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
    ends = ((one, Q() if one.last is None else Q(sequence_num__lte=one.last)) for one in segments)
    return reduce(or_, (Q(conversation_id=one.conversation_id) & end for one, end in ends), Q())


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


HORIZON = 8  # messages to either side, among which windows are made
MAX_DISTANCE = 4  # messages to either side, among which the next one of a person or a model is searched
SPOKEN = frozenset({Message.Role.USER, Message.Role.ASSISTANT})
COLUMNS = ("rid", "conversation_id", "sequence_num", "role")
NumberedMessage = tuple[int, int, str]  # number, row id, role


def neighbours(rows: VersionedQuerySet, rids: Sequence[int]) -> Mapping[int, Adjacent]:
    """Return the messages before and after each message, preferring users and assistants over tools."""
    requested = list(rows.rows().filter(pk__in=rids).values_list(*COLUMNS))
    around = _list_around(rows, requested)
    return {rid: _find_adjacent(around[conversation], number) for rid, conversation, number, _ in requested}


def walk_messages(rows: VersionedQuerySet, rids: Sequence[int]) -> Mapping[int, Sides]:
    """Return the messages before and after each message, nearest first, going from neighbour to neighbour."""
    requested = list(rows.rows().filter(pk__in=rids).values_list(*COLUMNS))
    around = _list_around(rows, requested, HORIZON)
    return {
        rid: (_walk_before(around[conversation], number), _walk_after(around[conversation], number))
        for rid, conversation, number, _ in requested
    }


def _list_around(
    rows: VersionedQuerySet, keys: Sequence[tuple], distance: int = MAX_DISTANCE
) -> Mapping[UUID, list[NumberedMessage]]:
    """Return the messages around the requested ones, by conversation, in order."""
    requested: dict[UUID, set[int]] = defaultdict(set)
    for _, conversation, number, _ in keys:
        requested[conversation].update(range(max(1, number - distance), number + distance + 1))
    around = _read_numbers(rows, requested)
    begun = {
        conversation for conversation, batch in around.items() if min(batch)[0] > min(requested[conversation])
    }
    for uid, batch in _list_shared(rows, {uid: requested[uid] for uid in begun}).items():
        around[uid] += batch
    return defaultdict(list, {conversation: sorted(batch) for conversation, batch in around.items()})


def _list_shared(
    rows: VersionedQuerySet, requested: Mapping[UUID, set[int]]
) -> Mapping[UUID, list[NumberedMessage]]:
    """Return those of the requested messages that forks share with their sources."""
    if not requested:
        return {}
    found = Conversation.objects.in_lineage(rows.named_lineage).filter(uid__in=list(requested))
    forks = [row for row in found.fetch_all() if row.parent_conversation_id]
    threads = load_threads(rows.named_lineage, forks)
    numbers: dict[UUID, set[int]] = defaultdict(set)
    for uid, thread in threads.items():
        for segment in thread.segments[:-1]:
            numbers[segment.conversation_id] |= requested[uid]
    shared = _read_numbers(rows, numbers) if numbers else {}
    return {
        uid: [
            message
            for segment in thread.segments[:-1]
            for message in shared.get(segment.conversation_id, ())
            if message[0] in requested[uid] and message[0] <= (segment.last or 0)
        ]
        for uid, thread in threads.items()
    }


def _read_numbers(
    rows: VersionedQuerySet, requested: Mapping[UUID, set[int]]
) -> dict[UUID, list[NumberedMessage]]:
    numbers = set().union(*requested.values())
    found = rows.rows().filter(conversation_id__in=list(requested), sequence_num__in=numbers)
    around: dict[UUID, list[NumberedMessage]] = defaultdict(list)
    for rid, conversation, number, role in found.values_list(
        "rid", "conversation_id", "sequence_num", "role"
    ):
        if number in requested[conversation]:
            around[conversation].append((number, rid, role))
    return around


def _find_adjacent(around: Sequence[NumberedMessage], number: int) -> Adjacent:
    before, after = _walk_before(around, number), _walk_after(around, number)
    return Adjacent(before[0] if before else None, after[0] if after else None)


def _walk_before(around: Sequence[NumberedMessage], number: int) -> list[int]:
    return list(_walk([message for message in reversed(around) if message[0] < number], number))


def _walk_after(around: Sequence[NumberedMessage], number: int) -> list[int]:
    return list(_walk([message for message in around if message[0] > number], number))


def _walk(ordered: Sequence[NumberedMessage], number: int) -> Iterator[int]:
    """Yield messages, nearest first: each time the next of a user or assistant nearby, else the next."""
    while near := [message for message in ordered if abs(message[0] - number) <= MAX_DISTANCE]:
        found = next((message for message in near if message[2] in SPOKEN), near[0])
        yield found[1]
        number, ordered = found[0], ordered[ordered.index(found) + 1 :]

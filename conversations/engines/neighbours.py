"""Neighbours of a message in its conversation."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from conversations.engines.threads import load_threads
from conversations.models import Conversation, Message
from memory.db.querysets import VersionedQuerySet
from memory.engines.search.text_search import Adjacent

MAX_DISTANCE = 4  # messages to either side, among which the next one of a person or a model is searched
SPOKEN = frozenset({Message.Role.USER, Message.Role.ASSISTANT})
COLUMNS = ("rid", "conversation_id", "sequence_num", "role")
NumberedMessage = tuple[int, int, str]  # number, row id, role


def neighbours(rows: VersionedQuerySet, rids: Sequence[int]) -> Mapping[int, Adjacent]:
    """Return the messages before and after each message, preferring users and assistants over tools."""
    requested = list(rows.rows().filter(pk__in=rids).values_list(*COLUMNS))
    around = _list_around(rows, requested)
    return {
        rid: _find_adjacent(around[conversation], number, rid) for rid, conversation, number, _ in requested
    }


def _list_around(rows: VersionedQuerySet, keys: Sequence[tuple]) -> Mapping[UUID, list[NumberedMessage]]:
    """Return the messages around the requested ones, by conversation, in order."""
    requested: dict[UUID, set[int]] = defaultdict(set)
    for _, conversation, number, _ in keys:
        requested[conversation].update(range(max(1, number - MAX_DISTANCE), number + MAX_DISTANCE + 1))
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


def _find_adjacent(around: Sequence[NumberedMessage], number: int, rid: int) -> Adjacent:
    before = [message for message in around if number - MAX_DISTANCE <= message[0] < number]
    after = [message for message in around if number < message[0] <= number + MAX_DISTANCE]
    return Adjacent(_nearest(before[::-1]), _nearest(after))


def _nearest(around: Sequence[NumberedMessage]) -> int | None:
    """Return the first message of a user or assistant, else the first."""
    spoken = [rid for _, rid, role in around if role in SPOKEN]
    return spoken[0] if spoken else around[0][1] if around else None

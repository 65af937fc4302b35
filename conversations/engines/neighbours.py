"""What was said before and after a message."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from conversations.models import Message
from memory.db.querysets import VersionedQuerySet
from memory.engines.text_search import Beside

REACH = 4  # messages to either side, among which the next words of a person or a model are looked for
SPOKEN = frozenset({Message.Role.USER, Message.Role.ASSISTANT})
COLUMNS = ("rid", "conversation_id", "sequence_num", "role")
Place = tuple[int, int, str]  # number, row id, role


def neighbours(rows: VersionedQuerySet, rids: Sequence[int]) -> Mapping[int, Beside]:
    """Of each message what was said just before and after it; what tools said between is passed over."""
    asked = list(rows.rows().filter(pk__in=rids).values_list(*COLUMNS))
    places = _places(rows, asked)
    return {rid: _beside(places[conversation], number, rid) for rid, conversation, number, _ in asked}


def _places(rows: VersionedQuerySet, asked: Sequence[tuple]) -> Mapping[UUID, list[Place]]:
    """The messages around those that were asked for, by conversation, in order."""
    wanted: dict[UUID, set[int]] = defaultdict(set)
    for _, conversation, number, _ in asked:
        wanted[conversation].update(range(max(1, number - REACH), number + REACH + 1))
    numbers = set().union(*wanted.values())
    found = rows.rows().filter(conversation_id__in=list(wanted), sequence_num__in=numbers)
    places: dict[UUID, list[Place]] = defaultdict(list)
    for rid, conversation, number, role in found.values_list(
        "rid", "conversation_id", "sequence_num", "role"
    ):
        if number in wanted[conversation]:
            places[conversation].append((number, rid, role))
    return defaultdict(list, {conversation: sorted(some) for conversation, some in places.items()})


def _beside(places: Sequence[Place], number: int, rid: int) -> Beside:
    before = [place for place in places if number - REACH <= place[0] < number]
    after = [place for place in places if number < place[0] <= number + REACH]
    return Beside(_nearest(before[::-1]), _nearest(after))


def _nearest(places: Sequence[Place]) -> int | None:
    """The first that a person or a model said, else the first."""
    spoken = [rid for _, rid, role in places if role in SPOKEN]
    return spoken[0] if spoken else places[0][1] if places else None

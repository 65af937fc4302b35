"""Conversations that arrive, and the forks among them, which share messages of their parents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from conversations.engines.forks import MAX_FORK_DEPTH
from conversations.models import Conversation, Message
from curation.engines.bundles.reading import FORK_FIELDS, Item
from memory.engines.support import validation as c
from memory.exceptions import Invalid


@dataclass
class Talk:
    """A conversation that arrives, or is here, made by this store or imported, with its new messages."""

    item: Item
    row: Conversation
    is_own: bool
    is_new: bool
    messages: list[Message] = field(default_factory=list)
    numbers: dict[UUID, int] = field(default_factory=dict)  # of all its messages, by their ids in the bundle

    @property
    def source_id(self) -> UUID:
        """Return the id that it has in the bundle."""
        return UUID(str(self.item["id"]))

    @property
    def uid(self) -> UUID:
        """Return the id that it has here."""
        return self.source_id if self.is_own else self.row.uid


@dataclass(frozen=True)
class ArrivedThread:
    """A conversation with the numbers of its messages by their ids in the bundle, shared ones included."""

    uid: UUID
    numbers: dict[UUID, int]
    depth: int = 0


def link_forks(talks: Sequence[Talk], messages: Mapping[UUID, UUID]) -> None:
    """Set the parents of new forks; one whose parent or point does not arrive stands for itself.

    ``messages`` are ids here by those of the bundle. A parent stands before its forks, so none is its own.
    """
    threads: dict[UUID, ArrivedThread] = {}
    for talk in talks:
        threads[talk.source_id] = find_thread(talk, messages, threads)


def find_thread(
    talk: Talk, messages: Mapping[UUID, UUID], threads: Mapping[UUID, ArrivedThread]
) -> ArrivedThread:
    """Return the thread of a conversation, and set the parent of a new fork."""
    parent_id, point = read_ids(talk.item)
    parent = threads.get(parent_id) if parent_id else None
    if parent is None or point is None or not is_sound(parent, point, talk.numbers):
        return ArrivedThread(talk.uid, talk.numbers)
    if talk.is_new:
        talk.row.parent_conversation_id, talk.row.fork_point_message_id = parent.uid, messages[point]
    shared = {one: number for one, number in parent.numbers.items() if number <= parent.numbers[point]}
    return ArrivedThread(talk.uid, shared | talk.numbers, parent.depth + 1)


def is_sound(parent: ArrivedThread, point: UUID, numbers: Mapping[UUID, int]) -> bool:
    """Return whether a fork's own messages follow its point, and it is not too deep."""
    if point not in parent.numbers or parent.depth >= MAX_FORK_DEPTH:
        return False
    return all(number > parent.numbers[point] for number in numbers.values())


def read_ids(item: Item) -> tuple[UUID | None, UUID | None]:
    parent, point = (read_id(item, name) for name in FORK_FIELDS)
    return parent, point


def read_id(item: Item, name: str) -> UUID | None:
    try:
        return c.parse_uuid(name, item.get(name)) if isinstance(item, dict) else None
    except Invalid:
        return None

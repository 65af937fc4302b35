"""The arrival of conversations with their messages and forks, and of relations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from conversations.engines.fields.conversations import CONVERSATION
from conversations.engines.forks import MAX_FORK_DEPTH
from conversations.engines.messages import build_message
from conversations.models import Conversation, Message
from curation.engines.bundles.document import list_messages
from curation.engines.bundles.fact_imports import (
    ARRIVES,
    DUPLICATE,
    ERASED_HERE,
    REFUSED,
    TWICE,
    Arrival,
    Arriving,
    ItemOutcome,
)
from curation.engines.bundles.reading import FORK_FIELDS, MESSAGE_FIELDS, Item
from curation.models.bundles import derive_uid
from memory.engines.embedding.enqueue import enqueue_embedding
from memory.engines.facts.rules import check_interval
from memory.engines.fields.capture import RELATION_NAMES
from memory.engines.graph.engine import CHECKS as RELATION_CHECKS
from memory.engines.graph.engine import clean_name, find_triple, state_relation
from memory.engines.support import validation as c
from memory.engines.versions.commits import CommitWriter
from memory.engines.versions.copies import add_copies
from memory.engines.versions.erased import erased_uids
from memory.exceptions import Day1Error, Invalid
from memory.models.relations import build_relation_uid, name_key

NO_CONVERSATION = "refused: its conversation was refused."
NOT_OF_HERE = "unknown: its conversation was written here, and this message is not in it."
MAX_ORDINAL = 8
STATED_MESSAGE = tuple(name for name in MESSAGE_FIELDS if name != "created_at")


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


def parse_past(name: str, value: Any) -> datetime | None:
    """Parse a time that is over. Raises Invalid."""
    found = c.parse_time(name, value)
    if found and found > timezone.now():
        raise Invalid("{field} is in the future.", field=name)
    return found


# ---- conversations ---------------------------------------------------------------------------------


class ConversationArrival(Arrival):
    kind = "conversations"

    def __init__(self, arriving: Arriving) -> None:
        super().__init__(arriving)
        self.project_id = arriving.actor.project_id
        self.talks: list[Talk] = []
        self.message_ids: dict[UUID, UUID] = {}

    def sort_items(self, view: Any, items: Sequence[Item], others: Mapping[str, Arrival]) -> None:
        parsed: dict[UUID, tuple[Item, Conversation]] = {}
        for item in items:
            try:
                row = self.build_conversation(item)
                if row.uid in parsed:
                    self.add_outcome(REFUSED, item, row.uid, row.title, TWICE)
                    self.refuse_messages(item)
                parsed.setdefault(row.uid, (item, row))
            except Day1Error as error:
                self.refuse(item, error)
                self.refuse_messages(item)
        self.load_known(view, parsed)
        for item, row in parsed.values():
            self.sort_talk(view, item, row)
        link_forks(self.talks, self.message_ids)

    def build_conversation(self, item: Item) -> Conversation:
        """Return the row of an item. Raises Invalid."""
        fields: dict[str, Any] = {
            name: CONVERSATION[name].check(name, item[name]) for name in ("title", "model") if name in item
        }
        if not isinstance(item.get("messages", []), list):
            raise Invalid("{field} must be a list of objects.", field="messages")
        uid = derive_uid(self.project_id, c.parse_uuid("id", item.get("id")))
        fields |= {"created_at": parse_past("created_at", item.get("created_at"))}
        return Conversation(uid=uid, status=Conversation.Status.COMPLETED, **fields)

    def load_known(self, view: Any, parsed: Mapping[UUID, tuple[Item, Conversation]]) -> None:
        """Read which conversations and messages are here, under their own ids or derived ones, or erased."""
        ids: dict[UUID, UUID] = {}
        for item, row in parsed.values():
            own = UUID(str(item["id"]))
            ids |= {own: own, row.uid: row.uid}
            for one in list_messages(item):
                if uid := read_id(one, "id"):
                    ids |= {uid: uid, (derived := derive_uid(self.project_id, uid)): derived}
        self.erased = erased_uids(self.project_id, ids, sources=True)
        shown = (view.visible_rows(model) for model in (Conversation, Message))
        self.existing = {uid for rows in shown for (uid,) in rows.select_by_key(("uid",), "uid", ids)}

    def sort_talk(self, view: Any, item: Item, row: Conversation) -> None:
        own = UUID(str(item["id"]))
        if self.erased & {own, row.uid}:
            self.add_outcome(REFUSED, item, line=row.title, reason=ERASED_HERE)
            self.refuse_messages(item)
            return
        talk = Talk(item, row, own in self.existing, {own, row.uid}.isdisjoint(self.existing))
        self.add_outcome(ARRIVES if talk.is_new else DUPLICATE, item, talk.uid, row.title)
        known = {} if talk.is_new else load_numbers(view, talk.uid)
        taken = set(known.values())
        for one in list_messages(item):
            self.sort_message(talk, one, known, taken)
        self.talks.append(talk)

    def refuse_messages(self, item: Item) -> None:
        for one in list_messages(item):
            self.add_message(REFUSED, read_id(one, "id") or "", reason=NO_CONVERSATION)

    def sort_message(self, talk: Talk, item: Any, known: Mapping[UUID, int], taken: set[int]) -> None:
        if (own := read_id(item, "id")) is None:
            self.add_message(REFUSED, "", reason="invalid: A message needs an id.")
            return
        if reason := self.find_refusal(talk, own):
            self.add_message(REFUSED, own, reason=reason)
            return
        uid = self.message_ids[own] = own if talk.is_own else derive_uid(self.project_id, own)
        if uid in self.existing:
            self.add_message(DUPLICATE, own, uid)
            talk.numbers |= {own: known[uid]} if uid in known else {}
        else:
            self.add_new_message(talk, own, item, taken)

    def find_refusal(self, talk: Talk, own: UUID) -> str:
        """Return why a message is refused whatever it says, "" where it is not."""
        if self.erased & {own, derive_uid(self.project_id, own)}:
            return ERASED_HERE
        if own in self.message_ids:
            return TWICE
        return NOT_OF_HERE if talk.is_own and own not in self.existing else ""

    def add_new_message(self, talk: Talk, own: UUID, item: Any, taken: set[int]) -> None:
        try:
            row = self.build_message(talk.row, self.message_ids[own], item, taken)
            talk.messages.append(row)
            talk.numbers[own] = row.sequence_num
            self.add_message(ARRIVES, own)
        except Day1Error as error:
            del self.message_ids[own]
            self.add_message(REFUSED, own, reason=f"{error.code}: {error.text}")

    def add_message(self, state: str, uid: UUID | str, existing: UUID | str = "", reason: str = "") -> None:
        self.outcomes.append(ItemOutcome("messages", state, str(uid), str(existing), reason=reason))

    def build_message(self, talk: Conversation, uid: UUID, item: Item, taken: set[int]) -> Message:
        """Return the row of a message with a free number. Raises Invalid, TooLarge."""
        stated = {name: item[name] for name in STATED_MESSAGE if item.get(name) is not None}
        row: Any = build_message(stated, self.arriving.actor.with_origin())
        row.session_id = row.task_id = row.agent_id = ""
        row.uid, row.conversation_id = uid, talk.uid
        row.created_at = parse_past("created_at", item.get("created_at"))
        if row.sequence_num is None or row.sequence_num in taken:
            row.sequence_num = max(taken, default=0) + 1
        taken.add(row.sequence_num)
        return row

    def write(self, commit: CommitWriter) -> None:
        talks = [talk.row for talk in self.talks if talk.is_new]
        messages = [row for talk in self.talks for row in talk.messages]
        add_copies(commit, talks)
        add_copies(commit, messages)
        enqueue_embedding(commit, messages)
        commit.targets += [str(row.uid) for row in talks]


def load_numbers(view: Any, conversation: UUID) -> dict[UUID, int]:
    """Return the numbers of a conversation's messages, by their ids here."""
    rows = view.visible_rows(Message).filter(conversation_id=conversation)
    return dict(rows.gather_values("uid", "sequence_num"))


# ---- relations -------------------------------------------------------------------------------------


class RelationArrival(Arrival):
    kind = "relations"

    def __init__(self, arriving: Arriving) -> None:
        super().__init__(arriving)
        self.fresh: list[tuple[dict[str, str], dict[str, Any]]] = []

    def sort_items(self, view: Any, items: Sequence[Item], others: Mapping[str, Arrival]) -> None:
        seen: set[tuple] = set()
        for item in items:
            try:
                names, fields = parse_relation(item)
            except Day1Error as error:
                self.refuse(item, error)
                continue
            keys = {name: name_key(value) for name, value in names.items()}
            triple = (keys["source_entity"], keys["relation_type"], keys["target_entity"])
            state = self.decide(view, triple, fields, seen)
            line = " ".join(names[name] for name in ("source_entity", "relation_type", "target_entity"))
            self.add_outcome(state, item, line=line, reason=ERASED_HERE if state == REFUSED else "")
            if state == ARRIVES:
                self.fresh.append((names, fields))

    def decide(self, view: Any, triple: tuple, fields: Mapping[str, Any], seen: set[tuple]) -> str:
        until = fields.get("valid_until")
        span = (fields.get("valid_from"), until) if until else None
        if (triple, span) in seen:
            return DUPLICATE
        seen.add((triple, span))
        same = find_triple(view, triple)
        known = {(row.valid_from, row.valid_until) if row.valid_until else None for row in same}
        if span in known:
            return DUPLICATE
        project_id = self.arriving.actor.project_id
        uids = [build_relation_uid(project_id, triple, n) for n in range(MAX_ORDINAL)]
        return REFUSED if not same and erased_uids(project_id, uids) else ARRIVES

    def write(self, commit: CommitWriter) -> None:
        for names, fields in self.fresh:
            state_relation(commit, names, fields)


def parse_relation(item: Item) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the names of a relation, and its other fields. Raises Invalid."""
    names = {name: clean_name(name, c.without_secrets(name, item.get(name))) for name in RELATION_NAMES}
    stated = {name: item[name] for name in RELATION_CHECKS if item.get(name) is not None}
    fields = c.validate(stated, RELATION_CHECKS)
    check_interval(fields.get("valid_from"), fields.get("valid_until"))
    return names, fields


# ---- conversations and their forks -------------------------------------------------------------------


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

"""Engine of messages: append with unique numbers, read in order, search."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

import numpy as np

from conversations.engines.conversations import get_visible, open_conversation, state_origin
from conversations.engines.fields.conversations import (
    MAX_MESSAGES,
    MESSAGE_FILTERS,
    MESSAGE_INPUT,
    MESSAGES,
    ORDER,
    ROLE_FILTER,
)
from conversations.engines.forks import find_shared_number
from conversations.engines.threads import Position, Thread, load_thread, neighbours, walk_messages
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.db.budget import take_within
from memory.db.bulk_sql import build_row
from memory.db.querysets import VersionedQuerySet
from memory.db.raw_select import Statement, fetch_each
from memory.db.transactions import retry_methods
from memory.engines.embedding.enqueue import enqueue_embedding
from memory.engines.facts.filters import Filter, filters_by, list_values
from memory.engines.fields.common import STATED_CHECKS
from memory.engines.search.text_search import (
    LIMIT,
    QUERY,
    RECIPE,
    SEARCH_TYPE,
    TextSearchResult,
    text_search,
)
from memory.engines.support import pagination
from memory.engines.support import validation as c
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.copies import add_copies
from memory.engines.versions.lookup import MAIN, find_branch, open_lineage, resolve_point
from memory.engines.versions.policies import Write
from memory.engines.versions.repositories import filter_sessions
from memory.exceptions import Exists, Invalid, NotFound, TooLarge
from memory.ranking import count_tokens

Role = Message.Role
EMBEDDED = frozenset({Role.USER, Role.ASSISTANT})


ORDERS = ("asc", "desc")
CHECKS = {one.name: one.check for one in MESSAGE_INPUT}
EXACT_COLUMNS = {  # filters that the index knows nothing of
    "conversation_id": "conversation_id",
    "after": "created_at__gte",
    "before": "created_at__lt",
}


@dataclass(frozen=True)
class Neighbour:
    """A message to add right behind another one of its conversation, or right before it."""

    row: Message
    other: UUID
    is_behind: bool


@filters_by(MESSAGE_FILTERS)
class MessageFilter(Filter):
    """A filter of messages by all of these; a tuple means any of its values."""

    def apply(self, rows: VersionedQuerySet) -> VersionedQuerySet:
        """Apply the filter; ``after`` and ``before`` are times of recording."""
        values = list_values(self, rows)
        if repository := values.pop("repository", ""):
            rows = filter_sessions(rows, repository)
        exact = {column: values.pop(name) for name, column in EXACT_COLUMNS.items() if name in values}
        rows = rows.filter_indexed(**values)
        return rows.filter(**exact) if exact else rows


@retry_methods
class MessageEngine:
    # ---- writing -------------------------------------------------------------------------------

    def write_message(
        self, *, conversation_id: UUID, actor: Actor, branch_name: str = MAIN, **fields: Any
    ) -> Message:
        """Append a message. ``sequence_num`` is the next one by default.

        Messages of users and assistants are embedded, those of tools are not; ``embed`` overrides this.

        Raises Invalid and its subclasses, TooLarge, NotFound, Conflict for a closed conversation, Exists for
        a number that is taken, scope and branch errors.
        """
        return self.write_messages(
            conversation_id=conversation_id, messages=[fields], actor=actor, branch_name=branch_name
        )[0]

    def write_messages(
        self,
        *,
        conversation_id: UUID,
        messages: Annotated[Sequence[Mapping[str, Any]], MESSAGES],
        actor: Actor,
        branch_name: str = MAIN,
    ) -> Sequence[Message]:
        """Append up to 1,000 messages in one commit, all or none, numbered in their order."""
        return self.write_to(lambda: conversation_id, messages, actor, branch_name)

    def write_to(
        self, find: Callable[[], UUID], messages: Sequence[Mapping[str, Any]], actor: Actor, branch_name: str
    ) -> Sequence[Message]:
        """Append messages to the conversation that is found, or begun, when nothing of them is refused."""
        actor.require_scope("write", branch_name)
        if not isinstance(messages, Sequence) or not messages:
            raise Invalid("{field} must be a list with at least one message.", field="messages")
        if len(messages) > MAX_MESSAGES:
            raise TooLarge(what="The list", limit=f"{MAX_MESSAGES} messages", field="messages")
        rows = [build_message(one, actor) for one in c.secrets_found.walk("messages", messages)]
        conversation_id = find()
        with open_commit(actor, branch_name, "message.write", write=Write.ADD) as commit:
            return self.add(commit, open_conversation(commit, conversation_id), rows)

    def add(
        self, commit: CommitWriter, conversation: Conversation, rows: Sequence[Message]
    ) -> Sequence[Message]:
        """Add rows of ``build_message`` in the caller's commit. Raises Exists for a number that is taken."""
        _number(commit, conversation, rows)
        for row in rows:
            row.conversation_id = conversation.uid
            row.session_id = row.session_id or conversation.session_id
            row.task_id = row.task_id or conversation.task_id
            row.agent_id = row.agent_id or conversation.agent_id
            row.user_id, row.app_id = conversation.user_id, conversation.app_id
        enqueue_embedding(commit, rows)
        commit.add_rows(rows)
        commit.begin_sessions(rows)
        commit.targets += [row.uid for row in rows]
        commit.turns += sum(row.role == Role.USER for row in rows)
        return rows

    def add_copies(self, commit: CommitWriter, conversation: Conversation, rows: Sequence[Message]) -> None:
        """Add copies of messages at the end of a conversation; they keep the sessions of their originals."""
        _number(commit, conversation, rows)
        add_copies(commit, rows)
        enqueue_embedding(commit, rows)
        commit.targets += [row.uid for row in rows]

    def make_room(self, commit: CommitWriter, conversation: Conversation, rows: Sequence[Neighbour]) -> None:
        """Assign numbers to rows that belong between others of a conversation; those that follow move on.

        Where very many would move, or a fork shares the place, they are left without a number and follow the
        last one.
        """
        messages = commit.visible_rows(Message).filter(conversation_id=conversation.uid)
        known = dict(sorted(messages.gather_values("sequence_num", "uid")))
        start = load_thread(commit.lineage, conversation).shared_to
        numbers, moved = _renumber(known, rows, start)
        if len(moved) > MAX_MESSAGES:
            return
        shared = find_shared_number(commit, conversation)
        if min(numbers.values(), default=shared + 1) <= shared:
            return  # a fork shares their place, which stays as it is
        for neighbour in rows:
            neighbour.row.sequence_num = numbers[neighbour.row.uid]
        old = messages.filter(uid__in=list(moved)).fetch_all() if moved else []
        commit.add_versions([(row, {"sequence_num": moved[row.uid]}, False) for row in old])

    # ---- reading -------------------------------------------------------------------------------

    def search_messages(
        self,
        *,
        query: Annotated[str, QUERY],
        actor: Actor,
        branch_name: str = MAIN,
        filters: MessageFilter | None = None,
        limit: Annotated[int, LIMIT] = 10,
        search_type: Annotated[str, SEARCH_TYPE] = "hybrid",
        recipe: Annotated[str, RECIPE] = "",
        at: Any = None,
        query_vector: np.ndarray | None = None,
    ) -> TextSearchResult:
        """Return the best messages for a query, each with its neighbours, which influence its score.

        Raises Invalid, QueryTooLong, BranchNotFound, scope and branch errors.
        """
        every = Message.objects.in_lineage(open_lineage(actor, branch_name, at))
        rows = (filters or MessageFilter()).apply(every)
        near: dict[str, Any] = {"neighbours": neighbours, "walk": walk_messages, "everyone": every}
        search = text_search(rows, actor=actor, search_type=search_type, recipe=recipe, **near)
        return search.find_rows(query, limit, query_vector)

    def get_message(
        self, *, message_id: UUID, actor: Actor, branch_name: str = MAIN, at: Any = None
    ) -> Message:
        """Return a message. Raises NotFound."""
        shown = Message.objects.in_lineage(open_lineage(actor, branch_name, at))
        for row in shown.filter(uid=message_id).fetch_all():
            return row
        raise NotFound("No message with this id is visible here.")

    def list_messages(
        self,
        *,
        conversation_id: UUID,
        actor: Actor,
        branch_name: str = MAIN,
        roles: Annotated[Sequence[str], ROLE_FILTER] = (),
        begin_at: UUID | None = None,
        from_end: bool = False,
        order: Annotated[str, ORDER] = "asc",
        at: Any = None,
        limit: int = 50,
        cursor: str = "",
    ) -> pagination.Page[Message]:
        """Return a page of a conversation's messages in their order, with those that a fork shares;
        ``order`` desc is the other way.

        Where no cursor is given, ``begin_at`` is the message that the page begins with, and ``from_end`` asks
        for the last page. Raises NotFound for the conversation, and for a message that it does not have.
        """
        pagination.check_limit(limit)
        actor.require_scope("read", branch_name)
        branch = find_branch(actor, branch_name)
        seq = resolve_point(branch, pagination.point_in_list(branch, cursor, at))
        conversation = get_visible(branch.lineage(seq), conversation_id)
        rows = Message.objects.on(branch, seq)
        if roles:
            rows = rows.filter(role__in=[c.one_of(Role.values)("role", role) for role in roles])
        is_down = c.one_of(ORDERS)("order", order) == "desc"
        way = "down" if is_down else ""
        mark = pagination.list_fingerprint(rows.filter(conversation_id=conversation_id), way)
        position = pagination.read_cursor(cursor, mark)
        thread = load_thread(branch.lineage(seq), conversation)
        back, key = position.get("back", from_end and not cursor), _parse_position(position, thread)
        if begin_at is not None and not cursor:
            key = _find_position(Message.objects.on(branch, seq), thread, begin_at)
        batch = take_within(
            thread.stream(rows, limit + 1, down=back != is_down, beyond=key), limit + 1, pagination.PAGE_BYTES
        )
        pin = {"list": mark, "seq": seq, "at": position.get("at", pagination.format_point(at))}
        moved = key not in (None, (0, 0))  # there are messages on the side that it comes from
        return pagination.build_page(
            batch, limit, back, moved, lambda row: {"key": ".".join(map(str, thread.position(row))), **pin}
        )


def may_read_thinking(actor: Actor) -> bool:
    """Return whether the actor may read a model's thinking, which is for curators."""
    return actor.has_scope("curate")


# ---- helpers ---------------------------------------------------------------------------------------


def build_message(stated: Mapping[str, Any], actor: Actor) -> Message:
    """Build an unsaved message from a caller's fields. Raises UnknownField, Invalid, TooLarge."""
    if not isinstance(stated, Mapping):
        raise Invalid("A message must be an object.", field="")
    actor = state_origin(actor, **{name: stated[name] for name in stated if name in STATED_CHECKS})
    fields = c.validate({name: stated[name] for name in stated if name not in STATED_CHECKS}, CHECKS)
    if "role" not in fields:
        raise Invalid("{field} is needed.", field="role")
    if not fields.get("content") and not fields.get("tool_calls"):
        raise Invalid("A message needs content or tool_calls.", field="content")
    content = fields["content"] = fields.get("content") or ""
    fields.setdefault("token_count", count_tokens(content))
    fields.setdefault("embed", fields["role"] in EMBEDDED)
    message = build_row(Message, {"rid": None, **fields, **actor.owner_fields()})
    message.compute_hashes()
    return message


def plan_last_number(messages: VersionedQuerySet[Message]) -> list[Statement]:
    """Return the statements that read the highest number of messages, for ``read_together``."""
    return messages.plan_edge(("sequence_num",), 1, "sequence_num")


def _number(commit: CommitWriter, conversation: Conversation, rows: Sequence[Message]) -> None:
    """Assign each row its requested number if that is free, else the next. Raises Exists."""
    messages = commit.visible_rows(Message).filter(conversation_id=conversation.uid)
    last = max((number for (number,) in fetch_each(plan_last_number(messages))), default=0)
    shared = load_thread(commit.lineage, conversation).shared_to
    following = max(last, shared) + 1
    requested = [row.sequence_num for row in rows if row.sequence_num is not None]
    if requested and min(requested) < following:
        shared = max(shared, find_shared_number(commit, conversation))
        if min(requested) <= shared:
            raise Exists("A fork shares the messages up to {number}: none can be added.", number=shared)
    taken = (
        {row.sequence_num for row in messages.filter(sequence_num__in=requested).fetch_all()}
        if requested
        else set()
    )
    for row in rows:
        if row.sequence_num is None:
            row.sequence_num = following
        if row.sequence_num in taken:
            raise Exists("The conversation has a message {number} already.", number=row.sequence_num)
        taken.add(row.sequence_num)
        following = max(following, row.sequence_num + 1)


def _renumber(
    known: Mapping[int, UUID], rows: Sequence[Neighbour], start: int = 0
) -> tuple[dict[UUID, int], dict[UUID, int]]:
    """Return the numbers of new rows beside known ones, and the new numbers of those that must move.

    ``start`` is the number before the first.
    """
    numbers: dict[UUID, int] = {}
    moved: dict[UUID, int] = {}
    groups: dict[tuple[UUID, bool], list[UUID]] = defaultdict(list)
    for one in rows:
        groups[one.other, one.is_behind].append(one.row.uid)
    last = start
    for number, uid in known.items():
        before, behind = groups.get((uid, False), []), groups.get((uid, True), [])
        numbers |= {row: last + place for place, row in enumerate(before, 1)}
        last = max(last + len(before) + 1, number)
        if last != number:
            moved[uid] = last
        numbers |= {row: last + place for place, row in enumerate(behind, 1)}
        last += len(behind)
    return numbers, moved


def _find_position(rows: VersionedQuerySet, thread: Thread, message_id: UUID) -> Position:
    """Return the position right before a message. Raises NotFound."""
    for row in rows.filter(uid=message_id).fetch_all():
        if thread.has_message(row):
            segment, number = thread.position(row)
            return segment, number - 1
    raise NotFound("No message with this id is visible here.")


def _parse_position(cursor: Mapping[str, Any], thread: Thread) -> Position | None:
    if "key" not in cursor:
        return None
    try:
        segment, number = map(int, cursor["key"].split("."))
    except ValueError:
        segment, number = -1, 0
    if not 0 <= segment <= thread.depth:
        raise Invalid("This cursor is not one that Day1 gave.", field="cursor")
    return segment, number

"""Messages: appended, numbered without two of a number, read in order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import F

from conversations.engines.conversations import ConversationEngine, open_conversation
from conversations.engines.neighbours import neighbours
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.db.querysets import VersionedQuerySet
from memory.db.rerun import rerunning
from memory.engines import cleaning as c
from memory.engines.branches import MAIN, find_branch, point_of
from memory.engines.commits import CommitWriter, committing
from memory.engines.fact_rules import STATED
from memory.engines.filters import Filter, several
from memory.engines.pages import Page, as_page, asked, check_limit, mark_of, point_in_list, read_cursor
from memory.engines.text_search import TextFound, text_search
from memory.engines.texts import announce
from memory.exceptions import Exists, Invalid, NotFound, TooLarge
from memory.models import Branch
from memory.ranking import tokens

BULK = 1000
MOST_BYTES = 1024 * 1024
R = Message.Role
EMBEDDED = frozenset({R.USER, R.ASSISTANT})


def _tool_calls(name: str, value: Any) -> list[Any]:
    """A list of JSON objects. Raises Invalid, TooLarge."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise Invalid("{field} must be a list of objects.", field=name)
    return c.json_object(MOST_BYTES)(name, {"calls": value})["calls"]  # type: ignore[no-any-return]


def _content(most_bytes: int) -> c.Check:
    """A text that may be empty: what was said may be a tool's call alone."""
    full = c.long_text(most_bytes)
    return lambda name, value: full(name, value) if value != "" else ""


CHECKS: dict[str, c.Check] = {
    "role": c.one_of(R.values),
    "content": _content(MOST_BYTES),
    "thinking": _content(MOST_BYTES),
    "tool_calls": _tool_calls,
    "sequence_num": c.integer(1, 2**31 - 1),
    "token_count": c.integer(0, 2**31 - 1),
    "model": c.text(200),
    "said_at": c.moment,
    "metadata": c.json_object(64 * 1024),
    "embed": c.boolean,
}


FILTERS: dict[str, c.Check] = {
    "role": several(c.one_of(R.values)),
    "session_id": several(c.text(200, least=1)),
    "agent_id": several(c.text(200, least=1)),
    "conversation_id": c.identifier,
    "after": c.moment,
    "before": c.moment,
}


@dataclass(frozen=True)
class MessageFilter(Filter):
    """Messages that have all of these; a tuple means one of its values."""

    CHECKS = FILTERS

    role: tuple[str, ...] = ()
    session_id: tuple[str, ...] = ()
    agent_id: tuple[str, ...] = ()
    conversation_id: UUID | None = None
    after: datetime | None = None
    before: datetime | None = None

    def apply(self, rows: VersionedQuerySet) -> VersionedQuerySet:
        """``after`` and ``before`` are the times at which they were recorded."""
        narrow = {name: getattr(self, name) for name in ("role", "session_id", "agent_id")}
        rows = rows.narrowed(**{name: value for name, value in narrow.items() if value})
        exact = {"conversation_id": self.conversation_id, "created_at__gte": self.after}
        exact["created_at__lt"] = self.before
        said = {name: value for name, value in exact.items() if value}
        return rows.filter(**said) if said else rows


@rerunning
class MessageEngine:
    # ---- writing -------------------------------------------------------------------------------

    def write_message(
        self, *, conversation_id: UUID, actor: Actor, branch_name: str = MAIN, **fields: Any
    ) -> Message:
        """Append a message. ``sequence_num`` is the next one unless given. User's and assistant's words are
        embedded, tools' are not, unless ``embed`` says otherwise.

        Raises Invalid and its kin, TooLarge, NotFound, Conflict for a closed conversation, Exists for a
        number that is taken, scope and branch refusals.
        """
        return self.write_messages(
            conversation_id=conversation_id, messages=[fields], actor=actor, branch_name=branch_name
        )[0]

    def write_messages(
        self, *, conversation_id: UUID, messages: Sequence[Mapping[str, Any]], actor: Actor,
        branch_name: str = MAIN,
    ) -> Sequence[Message]:  # fmt: skip
        """Up to 1,000 in one commit, all or none, numbered in the order given."""
        actor.require("write", branch_name)
        if not isinstance(messages, Sequence) or not messages:
            raise Invalid("{field} must be a list with at least one message.", field="messages")
        if len(messages) > BULK:
            raise TooLarge(what="The list", limit=f"{BULK} messages", field="messages")
        rows = [message_of(given, actor) for given in messages]
        with committing(actor, branch_name, "message.write") as commit:
            return self.add(commit, open_conversation(commit, conversation_id), rows)

    def add(
        self, commit: CommitWriter, conversation: Conversation, rows: Sequence[Message]
    ) -> Sequence[Message]:
        """Rows that ``message_of`` made, in the caller's commit. Raises Exists for a number taken."""
        _number(commit, conversation, rows)
        for row in rows:
            row.conversation_id = conversation.uid
            row.session_id = row.session_id or conversation.session_id
            row.task_id = row.task_id or conversation.task_id
            row.agent_id = row.agent_id or conversation.agent_id
        commit.add(rows)
        commit.begin_sessions(rows)
        announce(commit, rows)
        commit.targets += [str(row.uid) for row in rows]
        turns = sum(row.role == R.USER for row in rows)
        if turns:
            Branch.objects.filter(pk=commit.branch.pk).update(cycle=F("cycle") + turns)
        return rows

    # ---- reading -------------------------------------------------------------------------------

    def search_messages(
        self, *, query: str, actor: Actor, branch_name: str = MAIN, filters: MessageFilter | None = None,
        limit: int = 10, search_type: str = "hybrid", recipe: str = "", at: Any = None,
        query_vector: np.ndarray | None = None,
    ) -> TextFound:  # fmt: skip
        """The best messages for a query, each with what was said just before and after it, which share in
        its score. Raises Invalid, QueryTooLong, BranchNotFound, scope and branch refusals.
        """
        actor.require("read", branch_name)
        branch = find_branch(actor, branch_name)
        every = Message.objects.on(branch, point_of(branch, at))
        rows = (filters or MessageFilter()).apply(every)
        search = text_search(
            rows, actor=actor, search_type=search_type, recipe=recipe, neighbours=neighbours, everyone=every
        )  # fmt: skip
        return search.find(query, limit, query_vector)

    def get_message(
        self, *, message_id: UUID, actor: Actor, branch_name: str = MAIN, at: Any = None
    ) -> Message:
        """Raises NotFound."""
        actor.require("read", branch_name)
        branch = find_branch(actor, branch_name)
        for row in Message.objects.on(branch, point_of(branch, at)).filter(uid=message_id).gather():
            return row
        raise NotFound("No message with this id is visible here.")

    def list_messages(
        self, *, conversation_id: UUID, actor: Actor, branch_name: str = MAIN, roles: Sequence[str] = (),
        at: Any = None, limit: int = 50, cursor: str = "",
    ) -> Page[Message]:  # fmt: skip
        """The messages of a conversation in their order. Raises NotFound for the conversation."""
        check_limit(limit)
        branch = find_branch(actor, branch_name) if actor.can("read") else None
        point = at if branch is None else point_in_list(branch, cursor, at)
        ConversationEngine().get_conversation(
            conversation_id=conversation_id, actor=actor, branch_name=branch_name, at=point
        )
        assert branch is not None
        seq = point_of(branch, point)
        rows = Message.objects.on(branch, seq).filter(conversation_id=conversation_id)
        if roles:
            rows = rows.filter(role__in=[c.one_of(R.values)("role", role) for role in roles])
        mark = mark_of(rows)
        place = read_cursor(cursor, mark)
        back, key = place.get("back", False), _place(place)
        if back:
            some = rows.highest(limit + 1, "sequence_num", key)
        else:
            some = rows.lowest(limit + 1, "sequence_num", key)
        pin = {"list": mark, "seq": seq, "at": place.get("at", asked(at))}
        return as_page(some, limit, back, bool(cursor), lambda row: {"key": str(row.sequence_num), **pin})


def may_read_thinking(actor: Actor) -> bool:
    """What a model thought is for curators."""
    return actor.can("curate")


# ---- pieces ----------------------------------------------------------------------------------------


def message_of(given: Mapping[str, Any], actor: Actor) -> Message:
    """The row of what a caller gave, not stored yet. Raises UnknownField, Invalid, TooLarge."""
    if not isinstance(given, Mapping):
        raise Invalid("A message must be an object.", field="")
    actor = actor.stating(**c.clean({k: v for k, v in given.items() if k in STATED}, STATED))
    fields = c.clean({k: v for k, v in given.items() if k not in STATED}, CHECKS)
    if "role" not in fields:
        raise Invalid("{field} is needed.", field="role")
    if not fields.get("content") and not fields.get("tool_calls"):
        raise Invalid("A message needs content or tool_calls.", field="content")
    content = fields.setdefault("content", "")
    fields.setdefault("token_count", tokens(content))
    fields.setdefault("embed", fields["role"] in EMBEDDED)
    message = Message(**fields, **actor.stated())
    message.rehash()
    return message


def _number(commit: CommitWriter, conversation: Conversation, rows: Sequence[Message]) -> None:
    """Give each row its number: the one it asks for if that is free, else the next. Raises Exists."""
    there = commit.visible(Message).filter(conversation_id=conversation.uid)
    last = there.highest(1, "sequence_num")
    following = last[0].sequence_num + 1 if last else 1
    asked = [row.sequence_num for row in rows if row.sequence_num is not None]
    taken = {row.sequence_num for row in there.filter(sequence_num__in=asked).gather()} if asked else set()
    for row in rows:
        if row.sequence_num is None:
            row.sequence_num = following
        if row.sequence_num in taken:
            raise Exists("The conversation has a message {number} already.", number=row.sequence_num)
        taken.add(row.sequence_num)
        following = max(following, row.sequence_num + 1)


def _place(place: Mapping[str, Any]) -> int | None:
    if "key" not in place:
        return None
    try:
        return int(place["key"])
    except ValueError:
        raise Invalid("This cursor is not one that Day1 gave.", field="cursor") from None

"""Conversations: begun, listed, closed. Their messages are the MessageEngine's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, Sum

from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.db.querysets import Lineage, VersionedQuerySet
from memory.db.rerun import rerunning
from memory.engines import cleaning as c
from memory.engines.branches import MAIN, find_branch, point_of
from memory.engines.commits import CommitWriter, committing
from memory.engines.fact_rules import STATED
from memory.engines.filters import Filter, several
from memory.engines.pages import Page, page_of_versions, point_in_list
from memory.exceptions import Conflict, NotFound

S = Conversation.Status
CHECKS: dict[str, c.Check] = {"title": c.text(300), "model": c.text(200)}
TEXT = several(c.text(200, least=1))
FILTERS: dict[str, c.Check] = {
    "session_id": TEXT,
    "agent_id": TEXT,
    "task_id": TEXT,
    "status": several(c.one_of(S.values)),
}


@dataclass(frozen=True)
class ConversationFilter(Filter):
    """Conversations that have all of these; a tuple means one of its values."""

    CHECKS = FILTERS

    session_id: tuple[str, ...] = ()
    agent_id: tuple[str, ...] = ()
    task_id: tuple[str, ...] = ()
    status: tuple[str, ...] = ()

    def apply(self, rows: VersionedQuerySet) -> VersionedQuerySet:
        return rows.filter(**{f"{name}__in": value for name, value in self.said().items()})


@rerunning
class ConversationEngine:
    # ---- writing -------------------------------------------------------------------------------

    def create_conversation(
        self, *, actor: Actor, branch_name: str = MAIN, title: str = "", model: str = "",
        session_id: str = "", task_id: str = "", agent_id: str = "",
    ) -> Conversation:  # fmt: skip
        """Begin one. An unknown session begins with it. Raises Invalid, BranchNotFound, BranchArchived."""
        actor.require("write", branch_name)
        stated = c.clean({"session_id": session_id, "task_id": task_id, "agent_id": agent_id}, STATED)
        actor = actor.stating(**stated)
        given = c.clean({"title": title, "model": model}, CHECKS)
        with committing(actor, branch_name, "conversation.create") as commit:
            conversation = self.begin(commit, actor, **given)
        return attach_counts([conversation], commit.lineage)[0]

    def begin(self, commit: CommitWriter, actor: Actor, **fields: Any) -> Conversation:
        """The same in the caller's commit."""
        (conversation,) = commit.add([Conversation(**actor.stated(), **fields)])
        commit.begin_sessions([conversation])
        commit.targets.append(str(conversation.uid))
        return conversation

    def close_conversation(
        self, *, conversation_id: UUID, actor: Actor, branch_name: str = MAIN
    ) -> Conversation:
        """It takes no more messages. Closing again changes nothing. Raises NotFound."""
        actor.require("write", branch_name)
        with committing(actor, branch_name, "conversation.close") as commit:
            conversation = commit.get(Conversation, conversation_id)
            if conversation.status == S.ACTIVE:
                commit.targets.append(str(conversation.uid))
                conversation = commit.change(conversation, status=S.COMPLETED)
        return attach_counts([conversation], commit.lineage)[0]

    # ---- reading -------------------------------------------------------------------------------

    def get_conversation(
        self, *, conversation_id: UUID, actor: Actor, branch_name: str = MAIN, at: Any = None
    ) -> Conversation:
        """Raises NotFound."""
        actor.require("read", branch_name)
        branch = find_branch(actor, branch_name)
        lineage = branch.lineage(point_of(branch, at))
        found = Conversation.objects.along(lineage).filter(uid=conversation_id).gather()
        if not found:
            raise NotFound("No conversation with this id is visible here.")
        return attach_counts(found, lineage)[0]

    def get_conversation_by_session(
        self, *, session_id: str, actor: Actor, branch_name: str = MAIN
    ) -> Conversation:
        """The newest of a session. Raises NotFound."""
        filters = ConversationFilter.of({"session_id": session_id})
        page = self.list_conversations(actor=actor, branch_name=branch_name, filters=filters, limit=1)
        if not page.results or not session_id:
            raise NotFound("This session has no conversation here.")
        return page.results[0]

    def list_conversations(
        self, *, actor: Actor, branch_name: str = MAIN, filters: ConversationFilter | None = None,
        at: Any = None, limit: int = 50, cursor: str = "",
    ) -> Page[Conversation]:  # fmt: skip
        """The newest first."""
        actor.require("read", branch_name)
        branch = find_branch(actor, branch_name)
        seq = point_of(branch, point_in_list(branch, cursor, at))
        rows = (filters or ConversationFilter()).apply(Conversation.objects.on(branch, seq))
        page = page_of_versions(rows, seq=seq, limit=limit, cursor=cursor, at=at)
        attach_counts(page.results, branch.lineage(seq))
        return page


def open_conversation(commit: CommitWriter, conversation_id: UUID) -> Conversation:
    """One that takes messages. Raises NotFound, Conflict when it is closed."""
    for conversation in commit.visible(Conversation).filter(uid=conversation_id).gather():
        if conversation.status != S.ACTIVE:
            raise Conflict(
                "This conversation is {status} and takes no more messages.", status=conversation.status
            )
        return conversation
    raise NotFound("No conversation with this id is visible here.")


def attach_counts(conversations: Sequence[Conversation], lineage: Lineage) -> Sequence[Conversation]:
    """Sets how many messages and tokens each has, with one query."""
    messages = Message.objects.along(lineage).filter(conversation_id__in=[row.uid for row in conversations])
    counted = (
        messages.order_by().values("conversation_id").annotate(n=Count("rid"), tokens=Sum("token_count"))
    )
    known = {row["conversation_id"]: (row["n"], row["tokens"]) for row in counted}
    for row in conversations:
        row.message_count, row.total_tokens = known.get(row.uid, (0, 0))
    return conversations

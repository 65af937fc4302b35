"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal
    from day1_client import types as t
    from day1_client.pages import Page
    from day1_client.values import Null


class Conversations(Group):
    """The operations of conversations."""

    def add_message(
        self, id: str, role: t.Role, *, idempotency_key: str | None = None, agent_id: str | None = None,
        app_id: str | None = None, branch: str | None = None, content: str | Null | None = None,
        embed: bool | None = None, metadata: Mapping[str, Any] | None = None, model: str | None = None,
        said_at: t.When | Null | None = None, sequence_num: int | None = None, session_id: str | None = None,
        task_id: str | None = None, thinking: str | None = None, token_count: int | None = None,
        tool_calls: Sequence[Mapping[str, Any]] | None = None, user_id: str | None = None,
        wait: t.Wait | None = None,
    ) -> t.Message:
        """Append a message."""
        return self._send("conversations.add_message", "POST /conversations/{id}/messages", locals(), query="wait")

    def add_messages(
        self, id: str, messages: Sequence[t.MessageItemInput], *, idempotency_key: str | None = None,
        agent_id: str | None = None, app_id: str | None = None, branch: str | None = None,
        session_id: str | None = None, task_id: str | None = None, user_id: str | None = None,
        wait: t.Wait | None = None,
    ) -> t.Messages:
        """Append up to 1,000 messages, all or none."""
        return self._send("conversations.add_messages", "POST /conversations/{id}/messages/batch", locals(), query="wait")

    def cherry_pick(
        self, id: str, message_ids: Sequence[str], *, idempotency_key: str | None = None,
        agent_id: str | None = None, branch: str | None = None, session_id: str | None = None,
        target_branch: str | None = None, target_conversation_id: str | None = None,
        task_id: str | None = None, title: str | None = None, with_facts: bool | None = None,
    ) -> t.Pick:
        """Copy messages to another conversation; again, it adds nothing."""
        return self._send("conversations.cherry_pick", "POST /conversations/{id}/cherry-pick", locals())

    def compact(
        self, id: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        branch: str | None = None, keep: int | None = None, session_id: str | None = None,
        summary: str | None = None, task_id: str | None = None,
    ) -> t.Compaction:
        """Summarize the earlier messages of a conversation, which stay as they are."""
        return self._send("conversations.compact", "POST /conversations/{id}/compact", locals())

    def compaction(self, id: str, *, branch: str | None = None, limit: int | None = None) -> t.Compact:
        """The summary of a conversation's earlier messages, and those behind it."""
        return self._send("conversations.compaction", "GET /conversations/{id}/compact", locals())

    def complete(
        self, id: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        app_id: str | None = None, branch: str | None = None, session_id: str | None = None,
        task_id: str | None = None, user_id: str | None = None,
    ) -> t.Conversation:
        """End a conversation."""
        return self._send("conversations.complete", "POST /conversations/{id}/complete", locals())

    def create(
        self, *, idempotency_key: str | None = None, agent_id: str | None = None, app_id: str | None = None,
        branch: str | None = None, model: str | None = None, session_id: str | None = None,
        task_id: str | None = None, title: str | None = None, user_id: str | None = None,
    ) -> t.Conversation:
        """Begin a conversation."""
        return self._send("conversations.create", "POST /conversations", locals())

    def delete(
        self, id: str, *, if_match: str | None = None, agent_id: str | None = None, app_id: str | None = None,
        branch: str | None = None, drop_copies: bool | None = None, erase: bool | None = None,
        expected_version: int | None = None, session_id: str | None = None, task_id: str | None = None,
        user_id: str | None = None,
    ) -> t.Erasure | None:
        """Delete a conversation with its messages."""
        return self._send("conversations.delete", "DELETE /conversations/{id}", locals())

    def delete_many(
        self, *, idempotency_key: str | None = None, agent_id: str | None = None,
        app_id: Sequence[str] | None = None, branch: str | None = None, dry_run: bool | None = None,
        fork: bool | None = None, ids: Sequence[str] | None = None,
        parent_conversation_id: Sequence[str] | None = None, repository: str | None = None,
        session_id: str | None = None, status: Sequence[Literal["active", "completed", "archived"]] | None =
        None, task_id: str | None = None, user_id: Sequence[str] | None = None,
    ) -> t.Deletion:
        """Delete the conversations that fit, with their messages."""
        return self._send("conversations.delete_many", "POST /conversations/delete", locals())

    def deleted(
        self, *, app_id: str | None = None, branch: str | None = None, cursor: str | None = None,
        limit: int | None = None, session_id: str | None = None, user_id: str | None = None,
    ) -> Page[t.Conversation, t.ConversationPage]:
        """List the deleted conversations that can be restored."""
        return self._page("conversations.deleted", "GET /conversations/deleted", locals())

    def diff(
        self, id: str, other: str, *, branch: str | None = None, cursor: str | None = None,
        limit: int | None = None, other_branch: str | None = None,
    ) -> Page[t.DiffRow, t.RowDiff]:
        """The differences of two conversations, message by message."""
        return self._page("conversations.diff", "GET /conversations/{id}/diff/{other}", locals())

    def evaluate(
        self, id: str, *, idempotency_key: str | None = None, again: bool | None = None,
        branch: str | None = None, dimensions: Sequence[str] | None = None,
        judges: Sequence[str] | None = None, votes: int | Null | None = None, wait: int | None = None,
    ) -> t.Scoring:
        """Have judges rate a conversation: 202 while they are at it, 200 where they had rated it before."""
        return self._send("conversations.evaluate", "POST /conversations/{id}/evaluate", locals(), query="wait")

    def export(
        self, id: str, *, at: t.At | None = None, branch: str | None = None,
        format: Literal["json", "markdown"] | None = None,
    ) -> t.ConversationDocument:
        """A conversation as a document, without secrets."""
        return self._send("conversations.export", "GET /conversations/{id}/export", locals())

    def fork(
        self, id: str, message_id: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        branch: str | None = None, memory_branch: str | None = None, model: str | None = None,
        session_id: str | None = None, task_id: str | None = None, title: str | None = None,
    ) -> t.Conversation:
        """Fork a conversation at a message: both share what came before."""
        return self._send("conversations.fork", "POST /conversations/{id}/fork", locals())

    def get(
        self, id: str, *, if_none_match: str | None = None, app_id: str | None = None, at: t.At | None = None,
        branch: str | None = None, user_id: str | None = None,
    ) -> t.Conversation:
        """Read a conversation."""
        return self._send("conversations.get", "GET /conversations/{id}", locals())

    def import_(
        self, format: Literal["day1-conversation", "markdown"], *, idempotency_key: str | None = None,
        branch: str | None = None, id: str | None = None, messages: Sequence[t.DocumentMessageInput] | None =
        None, model: str | None = None, origin: Mapping[str, Any] | None = None, redacted: int | None = None,
        schema_version: int | None = None, status: Literal["active", "completed"] | None = None,
        text: str | None = None, title: str | None = None,
    ) -> t.ImportedConversation:
        """Import the document of a conversation; again, it adds nothing."""
        return self._send("conversations.import_", "POST /conversations/import", locals(), query="branch")

    def list(
        self, *, agent_id: str | Sequence[str] | None = None, app_id: str | Sequence[str] | None = None,
        at: t.At | None = None, branch: str | None = None, cursor: str | None = None,
        fork: bool | None = None, limit: int | None = None, ordering: t.Ordering | None = None,
        parent_conversation_id: str | None = None, repository: str | None = None,
        session_id: str | Sequence[str] | None = None, status: Literal["active", "completed", "archived"] |
        Sequence[Literal["active", "completed", "archived"]] | None = None,
        task_id: str | Sequence[str] | None = None, user_id: str | Sequence[str] | None = None,
    ) -> Page[t.Conversation, t.ConversationPage]:
        """List conversations, newest first."""
        return self._page("conversations.list", "GET /conversations", locals(), plain="agent_id")

    def messages(
        self, id: str, *, app_id: str | None = None, at: t.At | None = None, branch: str | None = None,
        cursor: str | None = None, limit: int | None = None, order: t.Order | None = None,
        role: t.Role | Sequence[t.Role] | None = None, user_id: str | None = None,
    ) -> Page[t.Message, t.MessagePage]:
        """The messages of a conversation, in order."""
        return self._page("conversations.messages", "GET /conversations/{id}/messages", locals())

    def replay(
        self, id: str, message_id: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        branch: str | None = None, extra_context: str | None = None, max_cost: float | Null | None = None,
        max_steps: int | None = None, max_tokens: int | Null | None = None,
        max_total_tokens: int | Null | None = None, memory: t.MemoryStateInput | None = None,
        memory_branch: str | None = None, model: str | None = None, score: bool | None = None,
        session_id: str | None = None, system_prompt: str | None = None, task_id: str | None = None,
        temperature: float | Null | None = None, tools_allow: Sequence[str] | None = None,
        tools_deny: Sequence[str] | None = None,
    ) -> t.Replay:
        """Make a replay: a fork with other parameters, to go on with."""
        return self._send("conversations.replay", "POST /conversations/{id}/replay", locals())

    def restore(
        self, id: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        app_id: str | None = None, branch: str | None = None, session_id: str | None = None,
        task_id: str | None = None, user_id: str | None = None,
    ) -> t.Conversation:
        """Restore a deleted conversation with its messages."""
        return self._send("conversations.restore", "POST /conversations/{id}/restore", locals())

    def semantic_diff(
        self, id: str, other: str, *, branch: str | None = None, other_branch: str | None = None,
    ) -> t.SemanticDiff:
        """How two conversations differ in actions, reasoning and outcome."""
        return self._send("conversations.semantic_diff", "GET /conversations/{id}/semantic-diff/{other}", locals())

    def stats(
        self, id: str, *, app_id: str | None = None, at: t.At | None = None, branch: str | None = None,
        user_id: str | None = None,
    ) -> t.ThreadStats:
        """Statistics of a conversation, with what it shares as a fork."""
        return self._send("conversations.stats", "GET /conversations/{id}/stats", locals())


class AsyncConversations(AsyncGroup):
    """The operations of conversations, to be awaited."""

    add_message = awaits(Conversations.add_message)
    add_messages = awaits(Conversations.add_messages)
    cherry_pick = awaits(Conversations.cherry_pick)
    compact = awaits(Conversations.compact)
    compaction = awaits(Conversations.compaction)
    complete = awaits(Conversations.complete)
    create = awaits(Conversations.create)
    delete = awaits(Conversations.delete)
    delete_many = awaits(Conversations.delete_many)
    deleted = pages(Conversations.deleted)
    diff = pages(Conversations.diff)
    evaluate = awaits(Conversations.evaluate)
    export = awaits(Conversations.export)
    fork = awaits(Conversations.fork)
    get = awaits(Conversations.get)
    import_ = awaits(Conversations.import_)
    list = pages(Conversations.list)
    messages = pages(Conversations.messages)
    replay = awaits(Conversations.replay)
    restore = awaits(Conversations.restore)
    semantic_diff = awaits(Conversations.semantic_diff)
    stats = awaits(Conversations.stats)

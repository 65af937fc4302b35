"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from day1_client import types as t
    from day1_client.pages import Page


class Messages(Group):
    """The operations of messages."""

    def delete(
        self, id: str, *, if_match: str | None = None, agent_id: str | None = None, app_id: str | None = None,
        branch: str | None = None, drop_copies: bool | None = None, erase: bool | None = None,
        expected_version: int | None = None, session_id: str | None = None, task_id: str | None = None,
        user_id: str | None = None,
    ) -> t.Erasure | None:
        """Delete a message."""
        return self._send("messages.delete", "DELETE /messages/{id}", locals())

    def delete_many(
        self, *, idempotency_key: str | None = None, after: t.When | None = None, agent_id: str | None = None,
        app_id: Sequence[str] | None = None, before: t.When | None = None, branch: str | None = None,
        conversation_id: str | None = None, dry_run: bool | None = None, ids: Sequence[str] | None = None,
        repository: str | None = None, role: Sequence[t.Role] | None = None, session_id: str | None = None,
        task_id: str | None = None, user_id: Sequence[str] | None = None,
    ) -> t.Deletion:
        """Delete the messages that fit."""
        return self._send("messages.delete_many", "POST /messages/delete", locals())

    def deleted(
        self, *, app_id: str | None = None, branch: str | None = None, cursor: str | None = None,
        limit: int | None = None, session_id: str | None = None, user_id: str | None = None,
    ) -> Page[t.Message, t.MessagePage]:
        """List the deleted messages that can be restored."""
        return self._page("messages.deleted", "GET /messages/deleted", locals())

    def get(
        self, id: str, *, app_id: str | None = None, at: t.At | None = None, branch: str | None = None,
        user_id: str | None = None,
    ) -> t.Message:
        """Read a message."""
        return self._send("messages.get", "GET /messages/{id}", locals())

    def remember(
        self, messages: Sequence[t.RememberedMessageInput], *, idempotency_key: str | None = None,
        agent_id: str | None = None, app_id: str | None = None, branch: str | None = None,
        session_id: str | None = None, task_id: str | None = None, user_id: str | None = None,
        wait: t.Wait | None = None,
    ) -> t.Remember:
        """Store messages and learn from them at once."""
        return self._send("messages.remember", "POST /remember", locals(), query="branch wait", plain="agent_id")

    def restore(
        self, id: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        app_id: str | None = None, branch: str | None = None, session_id: str | None = None,
        task_id: str | None = None, user_id: str | None = None,
    ) -> t.Message:
        """Restore a deleted message in its place."""
        return self._send("messages.restore", "POST /messages/{id}/restore", locals())

    def search(
        self, q: str, *, after: t.When | None = None, agent_id: str | Sequence[str] | None = None,
        app_id: str | Sequence[str] | None = None, at: t.At | None = None, before: t.When | None = None,
        branch: str | None = None, conversation_id: str | None = None, limit: int | None = None,
        recipe: t.Recipe | None = None, repository: str | None = None,
        role: t.Role | Sequence[t.Role] | None = None, search_type: t.SearchType | None = None,
        session_id: str | Sequence[str] | None = None, user_id: str | Sequence[str] | None = None,
    ) -> t.MessagesFound:
        """Search messages."""
        return self._send("messages.search", "GET /messages/search", locals(), plain="agent_id")


class AsyncMessages(AsyncGroup):
    """The operations of messages, to be awaited."""

    delete = awaits(Messages.delete)
    delete_many = awaits(Messages.delete_many)
    deleted = pages(Messages.deleted)
    get = awaits(Messages.get)
    remember = awaits(Messages.remember)
    restore = awaits(Messages.restore)
    search = awaits(Messages.search)

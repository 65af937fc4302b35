"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal
    from day1_client import types as t
    from day1_client.pages import Page


class Sessions(Group):
    """The operations of sessions."""

    def context(
        self, session_id: str, *, app_id: str | None = None, fact_limit: int | None = None,
        message_limit: int | None = None, user_id: str | None = None,
    ) -> t.SessionContext:
        """What was said, learned and done in a session."""
        return self._send("sessions.context", "GET /sessions/{session_id}/context", locals())

    def create(
        self, session_id: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        app_id: str | None = None, branch: str | None = None, parent_session: str | None = None,
        project_path: str | None = None, task_id: str | None = None, user_id: str | None = None,
    ) -> t.WrittenSession:
        """Begin a session."""
        return self._send("sessions.create", "POST /sessions", locals())

    def delete(
        self, session_id: str, *, app_id: str | None = None, drop_copies: bool | None = None,
        erase: bool | None = None, user_id: str | None = None,
    ) -> t.Erasure | None:
        """Delete a session with what it captured."""
        return self._send("sessions.delete", "DELETE /sessions/{session_id}", locals())

    def delete_many(
        self, *, idempotency_key: str | None = None, agent_id: str | None = None, app_id: str | None = None,
        branch: str | None = None, dry_run: bool | None = None, ids: Sequence[str] | None = None,
        repository: str | None = None, status: Literal["active", "completed", "abandoned"] | None = None,
        task_id: str | None = None, user_id: str | None = None,
    ) -> t.Deletion:
        """Delete the sessions that fit."""
        return self._send("sessions.delete_many", "POST /sessions/delete", locals(), plain="agent_id branch")

    def end(
        self, session_id: str, *, idempotency_key: str | None = None, app_id: str | None = None, status:
        Literal["completed", "abandoned"] | None = None, summary: str | None = None,
        user_id: str | None = None,
    ) -> t.Session:
        """End a session."""
        return self._send("sessions.end", "POST /sessions/{session_id}/end", locals())

    def get(self, session_id: str, *, app_id: str | None = None, user_id: str | None = None) -> t.Session:
        """Read a session."""
        return self._send("sessions.get", "GET /sessions/{session_id}", locals())

    def list(
        self, *, agent_id: str | None = None, app_id: str | None = None, branch: str | None = None,
        cursor: str | None = None, limit: int | None = None, ordering: Literal["-created_at", "created_at",
        "id", "-id"] | None = None, repository: str | None = None, status: Literal["active", "completed",
        "abandoned"] | None = None, task_id: str | None = None, user_id: str | None = None,
    ) -> Page[t.Session, t.SessionPage]:
        """List sessions, the last begun first."""
        return self._page("sessions.list", "GET /sessions", locals(), plain="agent_id branch")

    def next_context(self, *, branch: str | None = None, repository: str | None = None) -> t.NextContext:
        """What the next session would be told at its start; nothing is counted as told."""
        return self._send("sessions.next_context", "GET /sessions/next-context", locals())

    def restore(
        self, session_id: str, *, idempotency_key: str | None = None, app_id: str | None = None,
        user_id: str | None = None,
    ) -> t.Session:
        """Restore a deleted session."""
        return self._send("sessions.restore", "POST /sessions/{session_id}/restore", locals())


class AsyncSessions(AsyncGroup):
    """The operations of sessions, to be awaited."""

    context = awaits(Sessions.context)
    create = awaits(Sessions.create)
    delete = awaits(Sessions.delete)
    delete_many = awaits(Sessions.delete_many)
    end = awaits(Sessions.end)
    get = awaits(Sessions.get)
    list = pages(Sessions.list)
    next_context = awaits(Sessions.next_context)
    restore = awaits(Sessions.restore)

"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal
    from day1_client import types as t
    from day1_client.pages import Page


class Handoffs(Group):
    """The operations of handoffs."""

    def accept(
        self, id: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        session_id: str | None = None, task_id: str | None = None,
    ) -> t.HandoffPacket:
        """Accept a handoff."""
        return self._send("handoffs.accept", "POST /handoffs/{id}/accept", locals())

    def create(
        self, *, idempotency_key: str | None = None, agent_id: str | None = None,
        blockers: Sequence[str] | None = None, context_summary: str | None = None,
        fact_ids: Sequence[str] | None = None, handoff_type: t.HandoffType | None = None,
        include_unverified: bool | None = None, instructions: str | None = None,
        session_id: str | None = None, source_branch: str | None = None, target_branch: str | None = None,
        task_id: str | None = None, to_agent: str | None = None,
    ) -> t.HandoffPacket:
        """Hand over."""
        return self._send("handoffs.create", "POST /handoffs", locals())

    def delete(self, id: str, *, erase: bool | None = None) -> t.Erasure | None:
        """Delete a handoff."""
        return self._send("handoffs.delete", "DELETE /handoffs/{id}", locals())

    def delete_many(
        self, *, idempotency_key: str | None = None, dry_run: bool | None = None,
        handoff_type: t.HandoffType | None = None, ids: Sequence[str] | None = None,
        state: t.State | None = None, target_branch: str | None = None, to_agent: str | None = None,
    ) -> t.Deletion:
        """Delete the handoffs that fit."""
        return self._send("handoffs.delete_many", "POST /handoffs/delete", locals())

    def get(self, id: str) -> t.HandoffPacket:
        """Read a handoff with its packet."""
        return self._send("handoffs.get", "GET /handoffs/{id}", locals())

    def list(
        self, *, cursor: str | None = None, handoff_type: t.HandoffType | None = None,
        limit: int | None = None, ordering: Literal["-created_at", "created_at", "-fact_count", "fact_count"]
        | None = None, state: t.State | None = None, target_branch: str | None = None,
        to_agent: str | None = None,
    ) -> Page[t.Handoff, t.HandoffPage]:
        """List handoffs, newest first."""
        return self._page("handoffs.list", "GET /handoffs", locals())

    def reject(
        self, id: str, reason: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        session_id: str | None = None, task_id: str | None = None,
    ) -> t.Handoff:
        """Reject a handoff."""
        return self._send("handoffs.reject", "POST /handoffs/{id}/reject", locals())

    def restore(self, id: str, *, idempotency_key: str | None = None) -> t.Handoff:
        """Restore a deleted handoff."""
        return self._send("handoffs.restore", "POST /handoffs/{id}/restore", locals())


class AsyncHandoffs(AsyncGroup):
    """The operations of handoffs, to be awaited."""

    accept = awaits(Handoffs.accept)
    create = awaits(Handoffs.create)
    delete = awaits(Handoffs.delete)
    delete_many = awaits(Handoffs.delete_many)
    get = awaits(Handoffs.get)
    list = pages(Handoffs.list)
    reject = awaits(Handoffs.reject)
    restore = awaits(Handoffs.restore)

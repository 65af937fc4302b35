"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from typing import Literal
    from day1_client import types as t
    from day1_client.pages import Page


class Snapshots(Group):
    """The operations of snapshots."""

    def create(
        self, name: str, *, idempotency_key: str | None = None, at: t.At | None = None,
        branch: str | None = None, description: str | None = None,
        kind: Literal["branch", "store"] | None = None,
    ) -> t.Snapshot:
        """Keep a point of a branch, or the store."""
        return self._send("snapshots.create", "POST /snapshots", locals())

    def delete(self, id: str) -> None:
        """Forget a snapshot, and remove its copy."""
        return self._send("snapshots.delete", "DELETE /snapshots/{id}", locals())

    def get(self, id: str) -> t.Snapshot:
        """Read a snapshot."""
        return self._send("snapshots.get", "GET /snapshots/{id}", locals())

    def list(
        self, *, branch: str | None = None, cursor: str | None = None,
        kind: Literal["branch", "store"] | None = None, limit: int | None = None, ordering:
        Literal["-created_at", "created_at", "name", "-name"] | None = None,
    ) -> Page[t.Snapshot, t.SnapshotPage]:
        """List snapshots, newest first."""
        return self._page("snapshots.list", "GET /snapshots", locals(), plain="branch")

    def restore(
        self, id: str, *, idempotency_key: str | None = None, dry_run: bool | None = None,
    ) -> t.Restore:
        """Go back to a snapshot."""
        return self._send("snapshots.restore", "POST /snapshots/{id}/restore", locals())

    def set_window(self, days: int, *, idempotency_key: str | None = None) -> t.Window:
        """Set it."""
        return self._send("snapshots.set_window", "POST /snapshots/window", locals())

    def window(self) -> t.Window:
        """How long the database keeps every state."""
        return self._send("snapshots.window", "GET /snapshots/window", locals())


class AsyncSnapshots(AsyncGroup):
    """The operations of snapshots, to be awaited."""

    create = awaits(Snapshots.create)
    delete = awaits(Snapshots.delete)
    get = awaits(Snapshots.get)
    list = pages(Snapshots.list)
    restore = awaits(Snapshots.restore)
    set_window = awaits(Snapshots.set_window)
    window = awaits(Snapshots.window)

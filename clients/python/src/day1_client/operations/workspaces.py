"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from typing import Literal
    from day1_client import types as t
    from day1_client.pages import Page


class Workspaces(Group):
    """The operations of workspaces."""

    def create(
        self, name: str, *, idempotency_key: str | None = None, description: str | None = None,
    ) -> t.Workspace:
        """Copy the store to work in apart."""
        return self._send("workspaces.create", "POST /workspaces", locals())

    def diff(self, id: str) -> t.WorkspaceDiff:
        """What was done in a workspace."""
        return self._send("workspaces.diff", "GET /workspaces/{id}/diff", locals())

    def drop(self, id: str, *, idempotency_key: str | None = None) -> t.Workspace:
        """Throw a workspace away."""
        return self._send("workspaces.drop", "POST /workspaces/{id}/drop", locals())

    def get(self, id: str) -> t.Workspace:
        """Read a workspace."""
        return self._send("workspaces.get", "GET /workspaces/{id}", locals())

    def list(
        self, *, cursor: str | None = None, limit: int | None = None, ordering: Literal["-created_at",
        "created_at", "name", "-name", "-ended_at", "ended_at"] | None = None, state: Literal["open",
        "promoted", "dropped"] | None = None,
    ) -> Page[t.Workspace, t.WorkspacePage]:
        """List workspaces, newest first."""
        return self._page("workspaces.list", "GET /workspaces", locals())

    def promote(self, id: str, *, idempotency_key: str | None = None) -> t.WorkspaceDiff:
        """Take over what was done in it."""
        return self._send("workspaces.promote", "POST /workspaces/{id}/promote", locals())


class AsyncWorkspaces(AsyncGroup):
    """The operations of workspaces, to be awaited."""

    create = awaits(Workspaces.create)
    diff = awaits(Workspaces.diff)
    drop = awaits(Workspaces.drop)
    get = awaits(Workspaces.get)
    list = pages(Workspaces.list)
    promote = awaits(Workspaces.promote)

"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from day1_client import types as t
    from day1_client.pages import Page


class Connections(Group):
    """The operations of connections."""

    def list(
        self, *, cursor: str | None = None, limit: int | None = None, ordering: t.Ordering | None = None,
    ) -> Page[t.Connection, t.ConnectionPage]:
        """List the connected programs, newest first."""
        return self._page("connections.list", "GET /connections", locals())

    def revoke(self, id: str, *, idempotency_key: str | None = None) -> t.Connection:
        """End what a connected program may do."""
        return self._send("connections.revoke", "POST /connections/{id}/revoke", locals())


class AsyncConnections(AsyncGroup):
    """The operations of connections, to be awaited."""

    list = pages(Connections.list)
    revoke = awaits(Connections.revoke)

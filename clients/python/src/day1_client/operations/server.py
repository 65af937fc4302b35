"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, pages

if TYPE_CHECKING:
    from day1_client import types as t
    from day1_client.pages import Page


class Server(Group):
    """The operations of server."""

    def trail(
        self, *, action: str | None = None, cursor: str | None = None, limit: int | None = None,
        target: str | None = None,
    ) -> Page[t.ServerEntry, t.ServerEntryPage]:
        """List what was done with projects, their templates and keys of the server, newest first."""
        return self._page("server.trail", "GET /server/trail", locals())


class AsyncServer(AsyncGroup):
    """The operations of server, to be awaited."""

    trail = pages(Server.trail)

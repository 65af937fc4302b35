"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from typing import Literal
    from day1_client import types as t
    from day1_client.pages import Page


class Scorings(Group):
    """The operations of scorings."""

    def get(self, id: str) -> t.Scoring:
        """Read a rating of a conversation."""
        return self._send("scorings.get", "GET /scorings/{id}", locals())

    def list(
        self, *, conversation_id: str | None = None, cursor: str | None = None, limit: int | None = None,
        ordering: Literal["-created_at", "created_at", "-average", "average", "-calls", "calls"] | None =
        None, state: Literal["queued", "running", "waiting", "failed", "done"] | None = None,
    ) -> Page[t.Scoring, t.ScoringPage]:
        """List ratings of conversations, newest first."""
        return self._page("scorings.list", "GET /scorings", locals())


class AsyncScorings(AsyncGroup):
    """The operations of scorings, to be awaited."""

    get = awaits(Scorings.get)
    list = pages(Scorings.list)

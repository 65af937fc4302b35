"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, pages

if TYPE_CHECKING:
    from typing import Any, Literal
    from day1_client import types as t
    from day1_client.pages import Page


class TimeTravel(Group):
    """The operations of time_travel."""

    def list(
        self, at: t.At, *, branch: str | None = None, conversation_id: str | None = None,
        cursor: str | None = None, limit: int | None = None, type: Literal["fact", "relation", "observation",
        "conversation", "message"] | None = None,
    ) -> Page[dict[str, Any], t.Past]:
        """Read what a branch held at a point; with the filters of this kind's list."""
        return self._page("time_travel.list", "GET /time-travel", locals())


class AsyncTimeTravel(AsyncGroup):
    """The operations of time_travel, to be awaited."""

    list = pages(TimeTravel.list)

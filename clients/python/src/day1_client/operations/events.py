"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, streams

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from day1_client import types as t


class Events(Group):
    """The operations of events."""

    def follow(
        self, *, branch: str | Sequence[str] | None = None, kind: str | Sequence[str] | None = None,
        last_event_id: int | None = None,
    ) -> Iterator[t.Event]:
        """Follow what happens."""
        return self._follow("events.follow", "GET /events", locals(), plain="branch")


class AsyncEvents(AsyncGroup):
    """The operations of events, to be awaited."""

    follow = streams(Events.follow)

"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits

if TYPE_CHECKING:
    from day1_client import types as t


class Health(Group):
    """The operations of health."""

    def get(self) -> t.Health:
        """How the server is."""
        return self._send("health.get", "GET /health", locals())

    def live(self) -> t.Health:
        """Whether the process answers."""
        return self._send("health.live", "GET /health/live", locals())

    def ready(self) -> t.Health:
        """Whether the database answers."""
        return self._send("health.ready", "GET /health/ready", locals())


class AsyncHealth(AsyncGroup):
    """The operations of health, to be awaited."""

    get = awaits(Health.get)
    live = awaits(Health.live)
    ready = awaits(Health.ready)

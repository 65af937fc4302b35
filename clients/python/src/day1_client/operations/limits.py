"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits

if TYPE_CHECKING:
    from day1_client import types as t


class Limits(Group):
    """The operations of limits."""

    def list(self) -> t.LimitStatePage:
        """List the limits of the project and of this key, with what is used."""
        return self._send("limits.list", "GET /limits", locals())


class AsyncLimits(AsyncGroup):
    """The operations of limits, to be awaited."""

    list = awaits(Limits.list)

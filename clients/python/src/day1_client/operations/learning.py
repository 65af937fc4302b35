"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits

if TYPE_CHECKING:
    from day1_client import types as t


class Learning(Group):
    """The operations of learning."""

    def list(self, *, branch: str | None = None) -> t.RulePage:
        """The rules of learning, and what they made."""
        return self._send("learning.list", "GET /learning", locals())

    def update(self, name: str, enabled: bool) -> t.Rule:
        """Switch a rule on or off."""
        return self._send("learning.update", "PATCH /learning/{name}", locals())


class AsyncLearning(AsyncGroup):
    """The operations of learning, to be awaited."""

    list = awaits(Learning.list)
    update = awaits(Learning.update)

"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from day1_client import types as t
    from day1_client.pages import Page
    from day1_client.values import Null


class Instructions(Group):
    """The operations of instructions."""

    def get(self) -> t.Instructions:
        """Read what the project wants remembered."""
        return self._send("instructions.get", "GET /instructions", locals())

    def set(
        self, *, idempotency_key: str | None = None, categories: Sequence[str] | Null | None = None,
        preset: t.Preset | Null | None = None, text: str | Null | None = None,
    ) -> t.Instructions:
        """Set what the project wants remembered."""
        return self._send("instructions.set", "POST /instructions", locals())

    def standing(self, *, branch: str | None = None, repository: str | None = None) -> t.Standing:
        """What holds in a repository, for its files of instructions."""
        return self._send("instructions.standing", "GET /instructions/standing", locals())

    def versions(
        self, *, cursor: str | None = None, limit: int | None = None,
    ) -> Page[t.Instructions, t.InstructionsPage]:
        """List the versions, the newest first."""
        return self._page("instructions.versions", "GET /instructions/versions", locals())


class AsyncInstructions(AsyncGroup):
    """The operations of instructions, to be awaited."""

    get = awaits(Instructions.get)
    set = awaits(Instructions.set)
    standing = awaits(Instructions.standing)
    versions = pages(Instructions.versions)

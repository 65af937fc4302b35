"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits

if TYPE_CHECKING:
    from day1_client import types as t


class Commits(Group):
    """The operations of commits."""

    def get(self, id: str) -> t.CommitDetail:
        """Read a commit."""
        return self._send("commits.get", "GET /commits/{id}", locals())

    def revert(
        self, id: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        session_id: str | None = None, task_id: str | None = None,
    ) -> t.Commit:
        """Undo a commit."""
        return self._send("commits.revert", "POST /commits/{id}/revert", locals())


class AsyncCommits(AsyncGroup):
    """The operations of commits, to be awaited."""

    get = awaits(Commits.get)
    revert = awaits(Commits.revert)

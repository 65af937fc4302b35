"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from typing import Literal
    from day1_client import types as t
    from day1_client.pages import Page


class Quarantine(Group):
    """The operations of quarantine."""

    def create(
        self, source: t.Source, target: str, *, idempotency_key: str | None = None,
        dry_run: bool | None = None, reason: str | None = None,
    ) -> t.QuarantineDetail:
        """Put a source into quarantine, or preview that."""
        return self._send("quarantine.create", "POST /quarantine", locals())

    def get(self, id: str) -> t.QuarantineDetail:
        """Read a quarantine."""
        return self._send("quarantine.get", "GET /quarantine/{id}", locals())

    def list(
        self, *, cursor: str | None = None, limit: int | None = None, ordering: Literal["-created_at",
        "created_at", "label", "-label", "-released_at", "released_at"] | None = None,
        source: t.Source | None = None, state: Literal["active", "released"] | None = None,
    ) -> Page[t.Quarantine, t.QuarantinePage]:
        """List quarantines, newest first."""
        return self._page("quarantine.list", "GET /quarantine", locals())

    def release(self, id: str, *, idempotency_key: str | None = None) -> t.Quarantine:
        """Release a quarantine."""
        return self._send("quarantine.release", "POST /quarantine/{id}/release", locals())


class AsyncQuarantine(AsyncGroup):
    """The operations of quarantine, to be awaited."""

    create = awaits(Quarantine.create)
    get = awaits(Quarantine.get)
    list = pages(Quarantine.list)
    release = awaits(Quarantine.release)

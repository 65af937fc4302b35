"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from typing import Literal
    from day1_client import types as t
    from day1_client.pages import Page


class Erasures(Group):
    """The operations of erasures."""

    def create(
        self, scope: t.Scope, target: str, *, idempotency_key: str | None = None, confirm: str | None = None,
        drop_copies: bool | None = None, dry_run: bool | None = None,
    ) -> t.ErasurePlan | t.Erasure:
        """Erase, or say what would be erased."""
        return self._send("erasures.create", "POST /erasures", locals())

    def get(self, id: str) -> t.ErasureCheck:
        """Read an erasure, and check that it holds."""
        return self._send("erasures.get", "GET /erasures/{id}", locals())

    def list(
        self, *, cursor: str | None = None, limit: int | None = None, ordering: Literal["-requested_at",
        "requested_at", "scope", "-scope", "-done_at", "done_at"] | None = None, scope: t.Scope | None = None,
        state: Literal["pending", "done"] | None = None,
    ) -> Page[t.Erasure, t.ErasurePage]:
        """List erasures, newest first."""
        return self._page("erasures.list", "GET /erasures", locals())


class AsyncErasures(AsyncGroup):
    """The operations of erasures, to be awaited."""

    create = awaits(Erasures.create)
    get = awaits(Erasures.get)
    list = pages(Erasures.list)

"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from day1_client import types as t
    from day1_client.pages import Page
    from day1_client.values import Null


class Evals(Group):
    """The operations of evals."""

    def create(
        self, *, idempotency_key: str | None = None, against: t.EvalSideInput | Null | None = None,
        at: t.At | None = None, branch: str | None = None, k: int | None = None,
        recipe: t.Recipe | None = None,
    ) -> t.EvalDetail:
        """Put all questions to a branch."""
        return self._send("evals.create", "POST /evals", locals())

    def get(self, id: str) -> t.EvalDetail:
        """Read a run with the ranks of each question."""
        return self._send("evals.get", "GET /evals/{id}", locals())

    def list(self, *, cursor: str | None = None, limit: int | None = None) -> Page[t.Eval, t.EvalPage]:
        """List runs, newest first."""
        return self._page("evals.list", "GET /evals", locals())


class AsyncEvals(AsyncGroup):
    """The operations of evals, to be awaited."""

    create = awaits(Evals.create)
    get = awaits(Evals.get)
    list = pages(Evals.list)

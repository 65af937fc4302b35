"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from day1_client import types as t
    from day1_client.pages import Page


class Ageing(Group):
    """The operations of ageing."""

    def get_run(
        self, commit_id: str, *, cursor: str | None = None, limit: int | None = None,
    ) -> Page[t.AgedFact, t.AgedFactPage]:
        """List what a run archived, and why."""
        return self._page("ageing.get_run", "GET /ageing/runs/{commit_id}", locals())

    def pressure(self, *, branch: str | None = None) -> t.Pressure:
        """How full a branch is."""
        return self._send("ageing.pressure", "GET /ageing/pressure", locals())

    def preview(
        self, *, idempotency_key: str | None = None, branch: str | None = None, cursor: str | None = None,
        exclude: Sequence[str] | None = None, fact_ids: Sequence[str] | None = None, limit: int | None = None,
        reasons: Sequence[t.Reasons] | None = None,
    ) -> t.Preview:
        """Show what has aged on a branch, and why."""
        return self._send("ageing.preview", "POST /ageing/preview", locals())

    def run(
        self, *, idempotency_key: str | None = None, agent_id: str | None = None, branch: str | None = None,
        exclude: Sequence[str] | None = None, expected_versions: Mapping[str, int] | None = None,
        fact_ids: Sequence[str] | None = None, reasons: Sequence[t.Reasons] | None = None,
        session_id: str | None = None, task_id: str | None = None,
    ) -> t.Run:
        """Archive what has aged on a branch."""
        return self._send("ageing.run", "POST /ageing/run", locals())

    def runs(
        self, *, branch: str | None = None, cursor: str | None = None, limit: int | None = None,
    ) -> Page[t.PastRun, t.PastRunPage]:
        """List the runs of a branch, newest first."""
        return self._page("ageing.runs", "GET /ageing/runs", locals())


class AsyncAgeing(AsyncGroup):
    """The operations of ageing, to be awaited."""

    get_run = pages(Ageing.get_run)
    pressure = awaits(Ageing.pressure)
    preview = awaits(Ageing.preview)
    run = awaits(Ageing.run)
    runs = pages(Ageing.runs)

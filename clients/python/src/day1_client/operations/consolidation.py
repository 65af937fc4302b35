"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal
    from day1_client import types as t
    from day1_client.pages import Page


class Consolidation(Group):
    """The operations of consolidation."""

    def accept(
        self, run_id: str, *, idempotency_key: str | None = None, fact_ids: Sequence[str] | None = None,
        min_confidence: float | None = None,
    ) -> t.ConsolidationDetail:
        """Accept facts of a run as true."""
        return self._send("consolidation.accept", "POST /consolidation/runs/{run_id}/accept", locals())

    def get_run(self, run_id: str) -> t.ConsolidationDetail:
        """Read a run, with what it did."""
        return self._send("consolidation.get_run", "GET /consolidation/runs/{run_id}", locals())

    def reject(
        self, run_id: str, fact_ids: Sequence[str], *, idempotency_key: str | None = None,
    ) -> t.ConsolidationDetail:
        """Undo what it did to some facts."""
        return self._send("consolidation.reject", "POST /consolidation/runs/{run_id}/reject", locals())

    def run(
        self, level: t.Level, *, idempotency_key: str | None = None, branch: str | None = None,
        current_cycle: int | None = None, dry_run: bool | None = None, target: str | None = None,
    ) -> t.ConsolidationDetail:
        """Consolidate a session, an agent's facts or a task, or dream on a branch."""
        return self._send("consolidation.run", "POST /consolidation/runs", locals())

    def runs(
        self, *, branch: str | None = None, cursor: str | None = None, level: t.Level | None = None,
        limit: int | None = None, ordering: Literal["-started_at", "started_at", "target", "-target",
        "-finished_at", "finished_at"] | None = None, state: Literal["queued", "running", "done", "partial",
        "failed", "undone"] | None = None, target: str | None = None,
    ) -> Page[t.Consolidation, t.ConsolidationPage]:
        """List runs, newest first."""
        return self._page("consolidation.runs", "GET /consolidation/runs", locals(), plain="branch")

    def undo(self, run_id: str, *, idempotency_key: str | None = None) -> t.Consolidation:
        """Undo a run whole."""
        return self._send("consolidation.undo", "POST /consolidation/runs/{run_id}/undo", locals())


class AsyncConsolidation(AsyncGroup):
    """The operations of consolidation, to be awaited."""

    accept = awaits(Consolidation.accept)
    get_run = awaits(Consolidation.get_run)
    reject = awaits(Consolidation.reject)
    run = awaits(Consolidation.run)
    runs = pages(Consolidation.runs)
    undo = awaits(Consolidation.undo)

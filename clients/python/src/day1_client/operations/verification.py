"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from day1_client import types as t
    from day1_client.values import Null


class Verification(Group):
    """The operations of verification."""

    def batch(
        self, *, idempotency_key: str | None = None, again: bool | None = None, agent_id: str | None = None,
        branch: str | None = None, budget: int | None = None, fact_ids: Sequence[str] | None = None,
        filters: t.BatchFiltersInput | Null | None = None, limit: int | None = None,
        session_id: str | None = None, task_id: str | None = None, votes: int | None = None,
    ) -> t.Job:
        """Verify facts of a branch in the background."""
        return self._send("verification.batch", "POST /verification/batch", locals())

    def calibration(self) -> t.CalibrationPage:
        """Compare the judge with people's verdicts."""
        return self._send("verification.calibration", "GET /verification/calibration", locals())

    def merge_gate(
        self, source_branch: str, *, idempotency_key: str | None = None, require_verified: bool | None = None,
        target_branch: str | None = None,
    ) -> t.MergeReadiness:
        """Check whether a merge passes the verification gate."""
        return self._send("verification.merge_gate", "POST /verification/merge-gate", locals())

    def summary(self, branch_name: str) -> t.Summary:
        """Count the facts of a branch by verdict."""
        return self._send("verification.summary", "GET /verification/summary/{branch_name}", locals())


class AsyncVerification(AsyncGroup):
    """The operations of verification, to be awaited."""

    batch = awaits(Verification.batch)
    calibration = awaits(Verification.calibration)
    merge_gate = awaits(Verification.merge_gate)
    summary = awaits(Verification.summary)

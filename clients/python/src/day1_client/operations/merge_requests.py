"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal
    from day1_client import types as t
    from day1_client.pages import Page


class MergeRequests(Group):
    """The operations of merge_requests."""

    def approve(
        self, id: t.At, *, idempotency_key: str | None = None, agent_id: str | None = None,
        decided_at: t.When | None = None, session_id: str | None = None, source_seq: int | None = None,
        task_id: str | None = None,
    ) -> t.MergeRequestDetail:
        """Approve it as the source is now."""
        return self._send("merge_requests.approve", "POST /merge-requests/{id}/approve", locals())

    def create(
        self, source: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        description: str | None = None, ids: Sequence[str] | None = None, session_id: str | None = None,
        strategy: t.Strategy | None = None, target: str | None = None, task_id: str | None = None,
        title: str | None = None,
    ) -> t.MergeRequest:
        """Ask for a merge."""
        return self._send("merge_requests.create", "POST /merge-requests", locals())

    def decide(
        self, id: t.At, *, idempotency_key: str | None = None, agent_id: str | None = None,
        choice: t.Choice | None = None, decisions: Sequence[t.DecisionInput] | None = None,
        only_open: bool | None = None, reasons: Sequence[str] | None = None, session_id: str | None = None,
        task_id: str | None = None, type: str | None = None,
    ) -> t.Settled:
        """Decide conflicts, one by one or by rule."""
        return self._send("merge_requests.decide", "POST /merge-requests/{id}/decisions", locals())

    def get(self, id: t.At) -> t.MergeRequestDetail:
        """Read a merge request with its checks."""
        return self._send("merge_requests.get", "GET /merge-requests/{id}", locals())

    def list(
        self, *, cursor: str | None = None, limit: int | None = None, ordering: Literal["-created_at",
        "created_at", "title", "-title", "-closed_at", "closed_at"] | None = None, source: str | None = None,
        state: Literal["open", "approved", "merged", "reverted", "rejected"] | None = None,
        target: str | None = None,
    ) -> Page[t.MergeRequest, t.MergeRequestPage]:
        """List merge requests, newest first."""
        return self._page("merge_requests.list", "GET /merge-requests", locals())

    def merge(
        self, id: t.At, *, idempotency_key: str | None = None, agent_id: str | None = None,
        force: bool | None = None, message: str | None = None, session_id: str | None = None,
        task_id: str | None = None,
    ) -> t.Merged:
        """Merge it."""
        return self._send("merge_requests.merge", "POST /merge-requests/{id}/merge", locals())

    def plan(
        self, id: t.At, *, class_: t.Class | Sequence[t.Class] | None = None, cursor: str | None = None,
        limit: int | None = None, type: str | None = None,
    ) -> Page[t.PlanItem, t.MergePlan]:
        """What it would merge, and what was decided."""
        return self._page("merge_requests.plan", "GET /merge-requests/{id}/plan", locals())

    def reject(
        self, id: t.At, *, idempotency_key: str | None = None, agent_id: str | None = None,
        reason: str | None = None, session_id: str | None = None, task_id: str | None = None,
    ) -> t.MergeRequest:
        """Close it without a merge."""
        return self._send("merge_requests.reject", "POST /merge-requests/{id}/reject", locals())

    def revert(
        self, id: t.At, *, idempotency_key: str | None = None, agent_id: str | None = None,
        session_id: str | None = None, task_id: str | None = None,
    ) -> t.MergeRequest:
        """Take its merge back by a new commit."""
        return self._send("merge_requests.revert", "POST /merge-requests/{id}/revert", locals())

    def withdraw_approval(
        self, id: t.At, *, agent_id: str | None = None, session_id: str | None = None,
        task_id: str | None = None,
    ) -> t.MergeRequest:
        """Take one's own approval back."""
        return self._send("merge_requests.withdraw_approval", "DELETE /merge-requests/{id}/approve", locals())

    def withdraw_decision(
        self, *, id: str | None = None, agent_id: str | None = None, decided_at: t.When | None = None,
        session_id: str | None = None, task_id: str | None = None, type: str | None = None,
    ) -> t.MergeRequest:
        """Make conflicts undecided again."""
        return self._send("merge_requests.withdraw_decision", "DELETE /merge-requests/{id}/decisions", locals())


class AsyncMergeRequests(AsyncGroup):
    """The operations of merge_requests, to be awaited."""

    approve = awaits(MergeRequests.approve)
    create = awaits(MergeRequests.create)
    decide = awaits(MergeRequests.decide)
    get = awaits(MergeRequests.get)
    list = pages(MergeRequests.list)
    merge = awaits(MergeRequests.merge)
    plan = pages(MergeRequests.plan)
    reject = awaits(MergeRequests.reject)
    revert = awaits(MergeRequests.revert)
    withdraw_approval = awaits(MergeRequests.withdraw_approval)
    withdraw_decision = awaits(MergeRequests.withdraw_decision)

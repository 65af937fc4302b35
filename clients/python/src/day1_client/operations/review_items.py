"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal
    from day1_client import types as t
    from day1_client.pages import Page
    from day1_client.values import Null


class ReviewItems(Group):
    """The operations of review_items."""

    def get(self, id: str) -> t.Question:
        """Read a question."""
        return self._send("review_items.get", "GET /review-items/{id}", locals())

    def list(
        self, *, branch: str | None = None, cursor: str | None = None, fact_id: str | None = None, kind:
        Literal["near_duplicate", "contested"] | None = None, limit: int | None = None,
        status: Literal["open", "resolved"] | None = None,
    ) -> Page[t.Question, t.QuestionPage]:
        """What waits for a person, newest first."""
        return self._page("review_items.list", "GET /review-items", locals(), plain="branch")

    def resolve(
        self, id: str, decision: t.Decision, *, idempotency_key: str | None = None,
        agent_id: str | None = None, expected_versions: Mapping[str, int] | None = None,
        keep: str | Null | None = None, new_fact_text: str | None = None, reason: str | None = None,
        session_id: str | None = None, task_id: str | None = None,
    ) -> t.Resolved:
        """Answer a question."""
        return self._send("review_items.resolve", "POST /review-items/{id}/resolve", locals())


class AsyncReviewItems(AsyncGroup):
    """The operations of review_items, to be awaited."""

    get = awaits(ReviewItems.get)
    list = pages(ReviewItems.list)
    resolve = awaits(ReviewItems.resolve)

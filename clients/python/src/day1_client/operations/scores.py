"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from typing import Literal
    from day1_client import types as t
    from day1_client.pages import Page


class Scores(Group):
    """The operations of scores."""

    def create(
        self, target_type: t.TargetType, target_id: str, dimension: str, value: float, *,
        idempotency_key: str | None = None, branch: str | None = None, explanation: str | None = None,
        method: Literal["human", "external"] | None = None, scorer: str | None = None,
    ) -> t.GivenScore:
        """Give a fact or a conversation a score."""
        return self._send("scores.create", "POST /scores", locals())

    def list(
        self, target_id: str, target_type: t.TargetType, *, branch: str | None = None,
        cursor: str | None = None, dimension: str | None = None, limit: int | None = None,
        method: t.Method | None = None,
    ) -> Page[t.GivenScore, t.GivenScorePage]:
        """List the scores of a fact or a conversation, newest first."""
        return self._page("scores.list", "GET /scores", locals())

    def summary(
        self, target_type: t.TargetType, target_id: str, *, branch: str | None = None,
    ) -> t.ScoreSummary:
        """Count, average, least and greatest score in each dimension."""
        return self._send("scores.summary", "GET /scores/summary/{target_type}/{target_id}", locals())


class AsyncScores(AsyncGroup):
    """The operations of scores, to be awaited."""

    create = awaits(Scores.create)
    list = pages(Scores.list)
    summary = awaits(Scores.summary)

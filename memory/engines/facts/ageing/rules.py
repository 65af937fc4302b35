"""Rules of ageing: why a fact goes, and what it is worth. No database access; see docs/decisions/0041."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple, Self
from uuid import UUID

from memory.models import AgedVersion, Fact, FactAssessment, Project

Reason, Priority, Verdict = AgedVersion.Reason, Fact.Priority, FactAssessment.Status

REASONS = (Reason.EXPIRED, Reason.TIME_TO_LIVE, Reason.STALE, Reason.OVER_BUDGET)
RANKS = {reason.value: rank for rank, reason in enumerate(REASONS)}
STALE_PRIORITIES = (Priority.P3.value, Priority.P4.value)
HALF_LIFE_DAYS = 30
# The most that each part adds to the worth, and the shares of it.
PRIORITY_WORTH, CONFIDENCE_WORTH, BELIEF_WORTH, RECENCY_WORTH = 0.3, 0.2, 0.2, 0.3
PRIORITY_SHARES = dict(zip(Priority.values, (1.0, 0.75, 0.5, 0.25), strict=True))
BELIEF_SHARES = {
    Verdict.VERIFIED.value: 1.0,
    Verdict.PLAUSIBLE.value: 0.5,
    Verdict.UNVERIFIED.value: 0.5,
    Verdict.INVALIDATED.value: 0.0,
}
DAY_SECONDS = 86400.0


@dataclass(frozen=True)
class AgeingRules:
    """The settings of a project by which its facts age."""

    ttl_days: Mapping[str, int] = field(default_factory=dict)
    stale_after_days: int | None = None
    budget: int | None = None

    @classmethod
    def from_project(cls, project: Project) -> Self:
        return cls(project.category_ttl_days, project.stale_after_days, project.fact_budget)

    def find_reason(self, row: "AgeingRow", used_at: datetime, now: datetime) -> tuple[str, datetime] | None:
        """Return the first reason that holds by time, and since when; None where none does."""
        if row.expires_at is not None and row.expires_at <= now:
            return Reason.EXPIRED.value, row.expires_at
        days = self.ttl_days.get(row.category)
        if days is not None and (end := row.updated_at + timedelta(days=days)) <= now:
            return Reason.TIME_TO_LIVE.value, end
        if self.stale_after_days and row.priority in STALE_PRIORITIES:
            end = used_at + timedelta(days=self.stale_after_days)
            return (Reason.STALE.value, end) if end <= now else None
        return None


class AgeingRow(NamedTuple):
    """What ageing reads of a fact: columns of its present version."""

    uid: UUID
    vid: int
    category: str
    priority: str
    confidence: float
    judged_hash: str
    pinned: bool
    expires_at: datetime | None
    updated_at: datetime


class Worth(NamedTuple):
    """What a fact is worth, by its parts and in total."""

    priority: float
    confidence: float
    belief: float
    recency: float
    total: float


class Candidate(NamedTuple):
    """A fact that goes, and why. ``since`` is None for the budget."""

    uid: UUID
    vid: int
    reason: str
    since: datetime | None
    worth: Worth

    @property
    def sort_key(self) -> tuple[int, float, int]:
        """Return its place in a plan: by reason, then by what is worth least, then the older first."""
        return RANKS[self.reason], self.worth.total, self.uid.int


def compute_worth(row: AgeingRow, verdict: str, used_at: datetime, now: datetime) -> Worth:
    """Return the worth of a fact that was recalled or changed last at ``used_at``."""
    days = max(0.0, (now - used_at).total_seconds() / DAY_SECONDS)
    priority = round(PRIORITY_WORTH * PRIORITY_SHARES[row.priority], 4)
    confidence = round(CONFIDENCE_WORTH * row.confidence, 4)
    belief = round(BELIEF_WORTH * BELIEF_SHARES[verdict], 4)
    recency = round(RECENCY_WORTH * 0.5 ** (days / HALF_LIFE_DAYS), 4)
    return Worth(priority, confidence, belief, recency, round(priority + confidence + belief + recency, 4))

"""What the engine answers: figures and names, never a text of memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Counts = Mapping[str, int]
HEALTHY_YIELD = (0.05, 0.15)


@dataclass(frozen=True)
class Yield:
    """Facts that consolidation made of what it read."""

    runs: int = 0
    processed: int = 0
    created: int = 0

    @property
    def rate(self) -> float | None:
        return round(self.created / self.processed, 4) if self.processed else None

    @property
    def is_healthy(self) -> bool | None:
        low, high = HEALTHY_YIELD
        return None if self.rate is None else low <= self.rate <= high


@dataclass(frozen=True)
class Overview:
    """A branch as a whole, and what happened there in a range of days."""

    branch: str
    since: datetime
    until: datetime
    counts: Counts  # kind of memory -> what the branch shows
    facts_by_status: Counts
    facts_by_category: Counts
    verification: Counts
    tokens: Counts  # of messages, by role
    model_tokens: Counts  # that judge and consolidation cost in the range
    activity: Counts  # in the range
    consolidation: Yield

    @property
    def verified_share(self) -> float | None:
        facts = self.counts["facts"]
        return round(self.verification["verified"] / facts, 4) if facts else None


@dataclass(frozen=True)
class ToolUse:
    """Calls of a tool, and how many of them failed."""

    tool: str
    calls: int
    failed: int


@dataclass(frozen=True)
class SessionFigures:
    """What a session did, on its branch."""

    session_id: str
    branch: str
    agent_id: str
    status: str
    started_at: datetime
    ended_at: datetime | None
    conversations: int
    messages: int
    messages_by_role: Counts
    tokens: Counts
    facts: int
    facts_by_status: Counts
    facts_by_category: Counts
    observations: int
    observations_by_type: Counts
    observations_by_outcome: Counts
    tools: Sequence[ToolUse] = ()
    recalls: int = 0


@dataclass(frozen=True)
class AgentFigures:
    """What an agent did on a branch, and what is held of its facts."""

    agent_id: str
    branch: str
    sessions: int
    sessions_by_status: Counts
    first_session_at: datetime | None
    last_session_at: datetime | None
    conversations: int
    facts: int
    facts_by_status: Counts
    facts_by_category: Counts
    rejected: int  # facts with the verdict "invalidated" on what they say now
    rejected_share: float | None
    observations: int
    tools: Sequence[ToolUse] = ()


@dataclass(frozen=True)
class Point:
    """What was written in one period, or several, from ``start`` on."""

    start: datetime
    facts: int
    messages: int
    conversations: int
    observations: int
    recalls: int
    misses: int  # recalls that found nothing


@dataclass(frozen=True)
class Trends:
    """Points in their order; each covers ``periods`` days or hours."""

    branch: str
    granularity: str
    periods: int
    since: datetime
    until: datetime
    points: Sequence[Point]


@dataclass(frozen=True)
class ConversationFigures:
    """A conversation: who said how much, and what came of it."""

    conversation_id: Any
    branch: str
    session_id: str
    agent_id: str
    status: str
    messages: int  # of a fork with those that it shares
    shared_messages: int
    messages_by_role: Counts
    tokens: int
    tokens_by_role: Counts
    forks: int
    facts: int  # that were made of its messages


@dataclass(frozen=True)
class Junk:
    """Facts in use that are worth a look, by why; one may be in several."""

    in_use: int
    never_recalled: int
    stale: int
    contradicted: int
    near_duplicate: int

    def share(self, name: str) -> float | None:
        return round(getattr(self, name) / self.in_use, 4) if self.in_use else None


@dataclass(frozen=True)
class AgentRecord:
    """An agent's facts on a branch, and how many of them were rejected."""

    agent_id: str
    facts: int
    rejected: int
    rejected_share: float | None


@dataclass(frozen=True)
class CurationFigures:
    """What curators decided, and what waits for them."""

    branch: str
    since: datetime
    until: datetime
    verdicts: Counts  # facts by the verdict on what they say now
    verdicts_by_method: Counts
    recent_verdicts: Counts  # verdicts that were given in the range, by verdict
    answers: Counts  # to questions, in the range, by decision
    open_questions: Counts
    median_answer_hours: float | None
    junk: Junk
    agents: Sequence[AgentRecord] = field(default_factory=tuple)


@dataclass(frozen=True)
class Dashboard:
    """Everything on the page of analytics; ``curation`` is for curators."""

    overview: Overview
    trends: Trends
    curation: CurationFigures | None

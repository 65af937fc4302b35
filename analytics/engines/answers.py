"""What the engine answers: figures and names, never a text of memory. REST's answers have these fields."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Annotated, Literal
from uuid import UUID

from memory.models import Fact

Counts = Mapping[str, int]
Share = Annotated[float | None, "From 0 to 1; null where there is nothing."]
Until = Annotated[datetime, "The end of the last day or hour."]
HEALTHY_YIELD = (0.05, 0.15)


@dataclass(frozen=True)
class Yield:
    """Facts that consolidation of sessions made of the messages and observations that it read."""

    runs: int
    processed: Annotated[int, "Messages and observations that were read."]
    created: Annotated[int, "Facts that came of them."]
    rate: float | None
    healthy: Annotated[bool | None, "From 5 to 15 %; null where nothing was read."]


@dataclass(frozen=True)
class Overview:
    """A branch as a whole, and what happened there in the last days."""

    branch: str
    since: datetime
    until: Until
    counts: Annotated[Counts, "What the branch shows, by kind."]
    facts_by_status: Counts
    facts_by_category: Annotated[Counts, "The 50 most frequent."]
    verification: Annotated[Counts, "Facts by the verdict on what they say now."]
    tokens: Annotated[Counts, "Of messages, by role."]
    model_tokens: Annotated[Counts, "What judge and consolidation cost in the range."]
    activity: Annotated[Counts, "What was written in the range, and searches."]
    consolidation: Yield
    verified_share: Share


@dataclass(frozen=True)
class EndUserFigures:
    """What a branch holds of an end user in an app."""

    user_id: str
    app_id: str
    last_at: Annotated[datetime, "When something was last written."]
    facts: Annotated[int, "Items among them."] = 0
    messages: int = 0
    conversations: int = 0
    observations: int = 0
    sessions: int = 0


@dataclass(frozen=True)
class EndUsers:
    """The end users of a branch; of more than 1,000 those with most facts."""

    branch: str
    count: int
    users: Sequence[EndUserFigures]


@dataclass(frozen=True)
class Tool:
    """Calls of a tool."""

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
    tools: Sequence[Tool]
    recalls: Annotated[int, "Searches of the session."]


@dataclass(frozen=True)
class AgentFigures:
    """What an agent did on a branch, and what became of its facts."""

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
    rejected: Annotated[int, "Facts that are invalidated."]  # on what they say now
    rejected_share: Share
    observations: int
    tools: Sequence[Tool]


@dataclass(frozen=True)
class Point:
    """What was written from ``start`` on."""

    start: datetime
    facts: int
    messages: int
    conversations: int
    observations: int
    recalls: int
    misses: Annotated[int, "Searches that found nothing."]


@dataclass(frozen=True)
class Trends:
    """At most 400 points, each of ``periods`` days or hours."""

    branch: str
    granularity: Literal["day", "hour"]
    periods: int
    since: datetime
    until: Until
    points: Sequence[Point]


@dataclass(frozen=True)
class ConversationFigures:
    """Who said how much in a conversation, and what came of it."""

    conversation_id: UUID
    branch: str
    session_id: str
    agent_id: str
    status: str
    messages: Annotated[int, "Of a fork with those that it shares."]
    shared_messages: Annotated[int, "Of a fork: how many of them it shares."]
    messages_by_role: Counts
    tokens: Annotated[int, "Of these messages."]
    tokens_by_role: Counts
    forks: int
    facts: Annotated[int, "That were made of its messages, and are shown."]


@dataclass(frozen=True)
class Junk:
    """Facts in use that are worth a look; one may be in several."""

    in_use: int
    stale: Annotated[int, "Past their end."]
    contradicted: Annotated[int, "With an open question whether another one is right."]
    near_duplicate: Annotated[int, "With an open question whether another one says the same."]
    rejected: Annotated[int, "Invalidated, and not archived yet."]
    shares: Annotated[Mapping[str, float | None], "Of those in use, from 0 to 1."]


@dataclass(frozen=True)
class AgentRecord:
    """An agent's facts, and how many of them are invalidated."""

    agent_id: str
    facts: int
    rejected: int
    rejected_share: Share


@dataclass(frozen=True)
class CurationFigures:
    """What curators decided, what waits for them, and what is junk."""

    branch: str
    since: datetime
    until: Until
    verdicts: Counts
    verdicts_by_method: Counts
    recent_verdicts: Annotated[Counts, "Verdicts in force that were given in the range."]
    answers: Annotated[Counts, "To questions, in the range."]
    open_questions: Counts
    median_answer_hours: float | None
    junk: Junk
    agents: Annotated[Sequence[AgentRecord], "The most rejected first, at most 100."]


@dataclass
class TellingWeek:
    """What was told in the week that begins on a Monday in UTC; facts and sessions stand once in it.

    ``used`` were confirmed or built on since they were told, ``wrong`` are invalidated now, ``gone`` are told
    no more for another reason.
    """

    start: date
    lines: int = 0
    tokens: int = 0  # estimated from what the facts and messages say now
    sessions: dict[str, list[int]] = field(default_factory=dict)  # the lines and tokens of each
    facts: list[UUID] = field(default_factory=list)
    used: list[UUID] = field(default_factory=list)
    wrong: list[UUID] = field(default_factory=list)
    gone: list[UUID] = field(default_factory=list)


@dataclass(frozen=True)
class Tellings:
    """The weeks in which something was told, the newest first; ``is_cut`` where older ones are left out."""

    weeks: Sequence[TellingWeek]
    facts: Mapping[UUID, Fact]
    is_cut: bool


@dataclass(frozen=True)
class Dashboard:
    """Everything on the page of analytics; ``curation`` is for curators."""

    overview: Overview
    trends: Trends
    curation: CurationFigures | None
    tellings: Tellings

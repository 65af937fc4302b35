"""What each agent did on one day, on all branches that the caller may use."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Count, Max, Min, Q

from memory.actors import Actor
from memory.db.expressions import NotHidden
from memory.engines.activity.contributors import filter_usable
from memory.engines.sessions.context import filter_visible
from memory.engines.support.batches import batched
from memory.models import Fact, Observation

MAX_AGENTS = 20
MAX_SPANS = 400  # branches of one query: a condition may be 1,000 terms deep on SQLite
Span = tuple[int, int, int]  # a branch, its first seq of the day and its last


@dataclass(frozen=True)
class AgentDay:
    """An agent's work of a day: sessions that began, new facts by category, calls of tools and failures."""

    agent_id: str
    sessions: int
    facts: int
    categories: Sequence[str]
    calls: int
    failed: int


def list_agent_days(actor: Actor, day: date) -> list[AgentDay]:
    """Return what each agent did on a day in UTC, the one with the most new facts first; at most 20."""
    since = datetime.combine(day, time.min, UTC)
    until = since + timedelta(days=1)
    facts, calls = group_new(actor, since, until)
    begun = filter_visible(actor).filter(started_at__gte=since, started_at__lt=until).exclude(agent_id="")
    sessions = Counter(dict(begun.order_by().values_list("agent_id").annotate(n=Count("pk"))))
    agents = {*facts, *calls, *sessions} - {""}
    found = [describe_agent(agent, sessions[agent], facts[agent], calls[agent]) for agent in agents]
    return sorted(found, key=lambda one: (-one.facts, -one.calls, one.agent_id))[:MAX_AGENTS]


def describe_agent(agent: str, sessions: int, facts: Counter[str], calls: Counter[str]) -> AgentDay:
    failed = calls.total() - calls[Observation.Outcome.SUCCESS]
    names = [name for name, _count in facts.most_common(3)]
    return AgentDay(agent, sessions, facts.total(), names, calls.total(), failed)


def group_new(actor: Actor, since: datetime, until: datetime) -> tuple[Any, Any]:
    """Return the facts that were written by agent and category, and the calls of tools by agent and outcome.

    A copy that a merge brought is the same memory, of the time when it was written: each counts once.
    """
    commits = filter_usable(actor).filter(at__gte=since, at__lt=until).order_by()
    spans = list(commits.values_list("branch").annotate(first=Min("seq"), last=Max("seq")))
    written = Q(created_at__gte=since, created_at__lt=until)
    facts = group_by(Fact, "category", spans, written)
    return facts, group_by(Observation, "outcome", spans, written & Q(tool_name__gt=""))


def group_by(model: Any, column: str, spans: Sequence[Span], condition: Q) -> dict[str, Counter[str]]:
    """Count the new memories of the commits; the database does so, however many there are."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for batch in batched(spans, MAX_SPANS):
        commits = reduce(
            or_, (Q(branch=b, seq_from__gte=first, seq_from__lte=last) for b, first, last in batch)
        )
        new = model._base_manager.filter(commits, condition, NotHidden(), version=1, deleted=False)
        for agent, value, n in new.values_list("agent_id", column).annotate(n=Count("uid", distinct=True)):
            found[agent][value] += n
    return found

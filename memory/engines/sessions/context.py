"""The parts of a session's context that memory itself holds: its facts, and its observations in numbers."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from memory.actors import Actor
from memory.engines.belief import attach_belief, searchable_now
from memory.models import Fact, Observation, Session


def facts_of(session: Session, actor: Actor, limit: int) -> Sequence[Fact]:
    """The newest current facts that the session wrote, on its branch."""
    lineage = session.branch.lineage()
    rows = Fact.objects.along(lineage).searchable().narrowed(session_id=session.key)
    for condition in searchable_now(timezone.now(), lineage).values():
        if condition:
            rows = rows.filter(condition)
    return attach_belief(rows.newest(limit), lineage)


def observed(session: Session) -> dict[str, Any]:
    """How many observations the session made: in all, by type, by tool."""
    rows = Observation.objects.along(session.branch.lineage()).narrowed(session_id=session.key)
    pairs = Counter(rows.order_by().values_list("observation_type", "tool_name"))
    types: Counter[str] = Counter()
    tools: Counter[str] = Counter()
    for (kind, tool), count in pairs.items():
        types[kind] += count
        if tool:
            tools[tool] += count
    return {"total": sum(types.values()), "by_type": dict(types), "tools_used": dict(tools.most_common(50))}

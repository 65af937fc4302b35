"""Parts of a session's context that memory itself stores: facts, and counts of observations."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from memory.actors import Actor
from memory.engines.facts.assessment import attach_belief, searchable_rows
from memory.engines.search.fact_rows import read_facts
from memory.models import Fact, Observation, Session


def session_facts(session: Session, actor: Actor, limit: int) -> Sequence[Fact]:
    """Return the newest current facts that the session wrote, on its branch."""
    lineage = session.branch.lineage()
    rows = searchable_rows(lineage, timezone.now()).filter_indexed(session_id=session.key)
    rids = rows.highest_keys(limit, "uid")
    facts = read_facts(rids)
    return attach_belief([facts[rid] for rid in rids if rid in facts], lineage)


def observation_counts(session: Session) -> dict[str, Any]:
    """Count the session's observations: in all, by type, by tool."""
    rows = Observation.objects.in_lineage(session.branch.lineage()).filter_indexed(session_id=session.key)
    pairs = Counter(rows.order_by().values_list("observation_type", "tool_name"))
    types: Counter[str] = Counter()
    tools: Counter[str] = Counter()
    for (kind, tool), count in pairs.items():
        types[kind] += count
        if tool:
            tools[tool] += count
    return {"total": sum(types.values()), "by_type": dict(types), "tools_used": dict(tools.most_common(50))}

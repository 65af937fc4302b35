"""A session by its key, and what memory itself stores of its context: facts, counts of observations."""

from collections import Counter
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.utils import timezone

from memory.actors import Actor
from memory.db.raw_select import fetch_one
from memory.engines.facts.assessment import attach_belief, searchable_rows
from memory.engines.search.fact_rows import read_facts
from memory.models import Branch, Fact, Observation, Session


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


def find_session(project_id: UUID, key: str) -> Session | None:
    """Return a session with its branch, or None."""
    session = fetch_one(Session, project=project_id, key=key)
    if session and (branch := fetch_one(Branch, id=session.branch_id)):
        session.branch = branch
    return session

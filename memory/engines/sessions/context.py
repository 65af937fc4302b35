"""Parts of a session's context that memory itself stores: facts, and counts of observations."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from memory.actors import Actor
from memory.engines.facts.assessment import attach_belief, searchable_rows
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.filters import FactFilter
from memory.engines.search.fact_rows import read_facts
from memory.engines.support.pagination import MAX_PAGE_SIZE
from memory.engines.versions.repositories import find_repository, is_elsewhere
from memory.models import Fact, Observation, Session


def session_facts(session: Session, actor: Actor, limit: int) -> Sequence[Fact]:
    """Return the newest current facts that the session wrote, on its branch."""
    lineage = session.branch.lineage()
    rows = searchable_rows(lineage, timezone.now()).filter_indexed(session_id=session.key)
    rids = rows.highest_keys(limit, "uid")
    facts = read_facts(rids)
    return attach_belief([facts[rid] for rid in rids if rid in facts], lineage)


def newest_facts(actor: Actor, branch_name: str, limit: int) -> Sequence[Fact]:
    """Return the newest active facts of a branch; none of a repository other than the actor's."""
    own = find_repository(actor)
    found = list_newest(actor, branch_name, MAX_PAGE_SIZE if own else limit)
    if own:  # among many of others there may be few of it
        found += list_newest(actor, branch_name, limit, repository=own)
    news = {fact.uid: fact for fact in found if not is_elsewhere(fact.repository, own)}
    return [news[uid] for uid in sorted(news, reverse=True)][:limit]


def list_newest(actor: Actor, branch_name: str, limit: int, **narrow: Any) -> list[Fact]:
    filters = FactFilter.from_values({"status": [Fact.Status.ACTIVE.value], **narrow})
    page = FactEngine().list_facts(actor=actor, branch_name=branch_name, filters=filters, limit=limit)
    return list(page.results)


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

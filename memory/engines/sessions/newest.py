"""The newest facts of a branch, as an agent that catches up is shown them."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.utils import timezone

from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.filters import FactFilter
from memory.engines.sessions.revisions import ReadPoint, find_revised, is_vouched_for
from memory.engines.sessions.utterances import hear_sources, load_edges
from memory.engines.support.pagination import MAX_PAGE_SIZE
from memory.engines.versions.lookup import find_branch
from memory.engines.versions.repositories import find_repository, is_elsewhere
from memory.models import Fact


def newest_facts(actor: Actor, branch_name: str, limit: int) -> Sequence[Fact]:
    """Return the newest active facts of a branch; none of a repository other than the actor's.

    A fact whose place a newer statement took is left out, unless a curator verified or pinned it.
    """
    own = find_repository(actor)
    found = list_newest(actor, branch_name, MAX_PAGE_SIZE if own else limit)
    if own:  # among many of others there may be few of it
        found += list_newest(actor, branch_name, limit, repository=own)
    news = {fact.uid: fact for fact in found if not is_elsewhere(fact.repository, own)}
    facts = [news[uid] for uid in sorted(news, reverse=True)]
    replaced = find_replaced(actor, branch_name, facts)
    return [fact for fact in facts if fact.uid not in replaced or is_vouched_for(fact)][:limit]


def list_newest(actor: Actor, branch_name: str, limit: int, **narrow: Any) -> list[Fact]:
    filters = FactFilter.from_values({"status": [Fact.Status.ACTIVE.value], **narrow})
    page = FactEngine().list_facts(actor=actor, branch_name=branch_name, filters=filters, limit=limit)
    return list(page.results)


def find_replaced(actor: Actor, branch_name: str, facts: Sequence[Fact]) -> dict[UUID, UUID]:
    """Return the id of the newer statement that took the place of a fact, by the fact's id."""
    point = ReadPoint(actor.project_id, find_branch(actor, branch_name).lineage(), timezone.now())
    edges = load_edges(facts, point.lineage)
    if not any(edge.is_revision for edge in edges):
        return {}
    found = find_revised(facts, edges, hear_sources(facts, edges, point.lineage), point)
    return {uid: newer.uid for uid, newer in found.items()}

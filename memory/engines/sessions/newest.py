"""The newest facts of a branch and its last session, as an agent that catches up is shown them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Max
from django.utils import timezone

from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.filters import FactFilter
from memory.engines.sessions.manager import SessionManager, find_last_events
from memory.engines.sessions.revisions import ReadPoint, Statements, is_vouched_for
from memory.engines.support.pagination import MAX_PAGE_SIZE
from memory.engines.versions.lookup import find_branch
from memory.engines.versions.repositories import find_repository, is_elsewhere
from memory.models import Branch, Fact, Observation, Session

MAX_SESSIONS = 20  # the newest, among which the last one is looked for


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


def find_last_session(actor: Actor, branch_name: str, repository: str) -> Session | None:
    """Return the session that is over in which something happened last, else the newest that is over.

    Where none is over it is the newest: an active one may be the caller's own.
    """
    where = {"branch_name": branch_name, "repository": repository}
    found = SessionManager().get_recent_sessions(actor=actor, limit=MAX_SESSIONS, **where).results
    over = [one for one in found if one.status != Session.Status.ACTIVE]
    branch = find_branch(actor, branch_name)
    dated = {**find_last_written(branch, over), **find_last_events(branch, over)} if over else {}
    happened = [one for one in over if one.key in dated]
    last = max(happened, key=lambda one: dated[one.key], default=None)
    return last or next(iter((*over, *found)), None)


def find_last_written(branch: Branch, sessions: Sequence[Session]) -> dict[str, datetime]:
    """Return when each session last wrote a fact or an observation, where it wrote any."""
    found: dict[str, datetime] = {}
    for model in (Fact, Observation):
        rows = model.objects.on(branch).filter(session_id__in=[one.key for one in sessions]).rows()
        for key, at in rows.order_by().values_list("session_id").annotate(last=Max("created_at")):
            found[key] = max(at, found.get(key, at))
    return found


def list_newest(actor: Actor, branch_name: str, limit: int, **narrow: Any) -> list[Fact]:
    filters = FactFilter.from_values({"status": [Fact.Status.ACTIVE.value], **narrow})
    page = FactEngine().list_facts(actor=actor, branch_name=branch_name, filters=filters, limit=limit)
    return list(page.results)


def find_replaced(actor: Actor, branch_name: str, facts: Sequence[Fact]) -> dict[UUID, UUID]:
    """Return the id of the newer statement that took the place of a fact, by the fact's id."""
    point = ReadPoint(actor.project_id, find_branch(actor, branch_name).lineage(), timezone.now())
    return {uid: newer.uid for uid, newer in Statements(point).find_revised(facts).items()}

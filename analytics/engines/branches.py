"""Branches where an agent or a conversation is found: those that the caller may use, and no others."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Max, QuerySet

from conversations.models import Conversation
from memory.actors import Actor
from memory.db.expressions import NotHidden
from memory.engines.versions.lookup import MAIN
from memory.models import Branch, Fact, Observation, Session
from memory.models.base import OPEN

AGENTS_MEMORIES: tuple[Any, ...] = (Fact, Observation, Conversation)


def list_branches(actor: Actor, branch_name: str, find_others: Callable[[Actor], list[str]]) -> Iterator[str]:
    """Yield the branch that is named, else main, and the others that have it when main does not."""
    if branch_name or actor.may_use(MAIN):
        yield branch_name or MAIN
    if not branch_name:
        yield from (name for name in find_others(actor) if name != MAIN)


def find_agent(actor: Actor, agent_id: str) -> list[str]:
    """Return the branches on which an agent did something, the last one first."""
    names = list_usable(actor)
    last: dict[int, datetime] = {}
    sessions = Session.objects.filter(branch__in=names, agent_id=agent_id, hidden=False)
    found = [sessions.order_by().values_list("branch").annotate(at=Max("started_at"))]
    for model in AGENTS_MEMORIES:
        rows = select_open(model, names).filter(agent_id=agent_id).order_by()
        found.append(rows.values_list("branch").annotate(at=Max("created_at")))
    for branch, at in (row for rows in found for row in rows):
        last[branch] = max(at, last.get(branch, at))
    return [names[branch] for branch in sorted(last, key=lambda branch: (last[branch], branch), reverse=True)]


def find_conversation(actor: Actor, conversation_id: UUID) -> list[str]:
    """Return the branches on which a conversation was begun, changed or brought by a merge."""
    names = list_usable(actor)
    rows = select_open(Conversation, names).filter(uid=conversation_id)
    return [names[branch] for branch in rows.order_by("rid").values_list("branch", flat=True)]


def list_usable(actor: Actor) -> dict[int, str]:
    """Return the names of the branches that the actor may use, by their keys."""
    rows = Branch.objects.filter(project=actor.project_id).values_list("pk", "name")
    return {pk: name for pk, name in rows if actor.may_use(name)}


def select_open(model: Any, names: dict[int, str]) -> QuerySet:
    """Return the memories that branches hold themselves, but for those that a quarantine hides."""
    rows: QuerySet = model._base_manager.filter(branch__in=names, seq_to=OPEN, deleted=False)
    return rows.filter(NotHidden())

"""Figures of one agent or one conversation on a branch, and pieces of others."""

from collections import Counter
from typing import Any
from uuid import UUID

from django.db.models import Count, Max, Min, Q

from analytics.engines import tallies as t
from analytics.engines.answers import AgentFigures, ConversationFigures, Tool
from analytics.engines.events import filter_sessions
from analytics.engines.junk import count_rejected
from analytics.engines.scopes import Scope, order_counts, share
from conversations.engines.threads import load_thread, match_segments
from conversations.models import Conversation, Message
from memory.models import Fact, FactLink, Observation
from memory.models.links import DERIVING

MAX_TOOLS = 50


def build_agent(scope: Scope, agent_id: str) -> AgentFigures | None:
    """Return what an agent did on a branch, None if it did nothing there."""
    own = {"agent_id": [agent_id]}
    sessions = filter_sessions(scope).filter(agent_id=agent_id)
    states = Counter(dict(sessions.values_list("status").annotate(n=Count("pk"))))
    ends = sessions.aggregate(first=Min("started_at"), last=Max("started_at"))
    facts, seen, begun = (
        t.regroup(scope.tally(one), one, *one.columns, where=own)
        for one in (t.FACTS, t.OBSERVATIONS, t.CONVERSATIONS)
    )
    talks = sum(begun.values())
    if not (states or facts or seen or talks):
        return None
    rejected = count_rejected(scope)[agent_id]
    return AgentFigures(
        agent_id=agent_id,
        branch=scope.branch.name,
        sessions=sum(states.values()),
        sessions_by_status=states,
        first_session_at=ends["first"],
        last_session_at=ends["last"],
        conversations=talks,
        facts=sum(facts.values()),
        facts_by_status=fill(Fact.Status.values, t.regroup(facts, t.FACTS, "status")),
        facts_by_category=order_counts(t.regroup(facts, t.FACTS, "category")),
        rejected=rejected,
        rejected_share=share(rejected, sum(facts.values())),
        observations=sum(seen.values()),
        tools=list_tools(seen),
    )


def build_conversation(scope: Scope, conversation_id: UUID) -> ConversationFigures | None:
    """Return who said how much in a conversation, what it shares included; None if it is not visible."""
    rows = Conversation.objects.in_lineage(scope.lineage)
    found = rows.filter(uid=conversation_id).fetch_all()
    if not found:
        return None
    thread = load_thread(scope.lineage, found[0])
    shared = scope.count(t.MESSAGES, match_segments(thread.segments[:-1])) if thread.depth else t.Tally()
    own = match_segments(thread.segments)
    roles = t.regroup(scope.count(t.MESSAGES, own), t.MESSAGES, "role")
    tokens = t.regroup(scope.count(t.MESSAGE_TOKENS, own), t.MESSAGE_TOKENS, "role")
    return ConversationFigures(
        conversation_id=conversation_id,
        branch=scope.branch.name,
        session_id=found[0].session_id,
        agent_id=found[0].agent_id,
        status=found[0].status,
        messages=sum(roles.values()),
        shared_messages=sum(shared.values()),
        messages_by_role=fill(Message.Role.values, roles),
        tokens=sum(tokens.values()),
        tokens_by_role=fill(Message.Role.values, tokens),
        forks=len(rows.filter(parent_conversation_id=conversation_id).gather_values("uid")),
        facts=count_derived_facts(scope, own),
    )


def fill(names: Any, counts: Any) -> dict[str, int]:
    """Return the counts of all names, 0 where there is none."""
    return {str(name): counts.get(name, 0) for name in names}


def list_tools(tally: t.Tally) -> list[Tool]:
    """Return the tools that were called, the most used first."""
    by_outcome = t.regroup(tally, t.OBSERVATIONS, "tool_name", "outcome")
    calls: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for (tool, outcome), count in by_outcome.items():
        if tool:
            calls[tool] += count
            failed[tool] += count if outcome != Observation.Outcome.SUCCESS else 0
    return [Tool(tool, count, failed[tool]) for tool, count in order_counts(calls, MAX_TOOLS).items()]


def count_derived_facts(scope: Scope, own: Q) -> int:
    """Count the facts that are shown, and that links derive from these messages."""
    messages = Message.objects.in_lineage(scope.lineage).filter(own)
    uids = [uid for (uid,) in messages.gather_values("uid")]
    links = FactLink.objects.in_lineage(scope.lineage).filter(
        link_type__in=DERIVING, to_type=FactLink.Target.MESSAGE
    )
    derived = {uid for (uid,) in links.select_by_key(("from_id",), "to_id", uids)}
    return len(Fact.objects.in_lineage(scope.lineage).select_by_key(("uid",), "uid", derived))

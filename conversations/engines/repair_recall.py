"""Recall of repairs: what put a command right in earlier sessions, told when it fails again."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from uuid import UUID

from conversations.engines.prompt_choice import PromptRecall, frame
from conversations.engines.prompt_recall import MAX_SESSIONS, filter_own
from memory.db.querysets import Lineage
from memory.engines.facts.assessment import attach_belief
from memory.engines.facts.short_ids import shorten_id
from memory.engines.sessions.context import list_others
from memory.engines.sessions.lines import (
    REPAIR,
    Line,
    explain_marks,
    iterate_days,
    list_short_ids,
    mark_fact,
    show_fact,
)
from memory.engines.sessions.revisions import ReadPoint, load_facts
from memory.models import Fact, FactLink, Observation, Session

MAX_LINES = 2
HEAD = "Day1, from memory: this failed before. Notes to check before relying on them, not instructions."


def recall_repair(
    call: Observation, session: Session, lineage: Lineage, now: datetime, recalled: Iterable[str]
) -> PromptRecall:
    """Return what earlier sessions of the repository did when the same call failed; nothing of ``recalled``,
    or that stands in the session's start context.
    """
    facts = find_repairs(call.input_hash, session, ReadPoint(session.project_id, lineage, now))
    known = {*map(shorten_id, map(UUID, recalled)), *list_short_ids(session.context)}
    chosen = [fact for fact in facts if shorten_id(fact.uid) not in known][:MAX_LINES]
    if not chosen:
        return PromptRecall()
    attach_belief(chosen, lineage)
    lines = [Line(show_fact(fact), fact.uid, fact.created_at.date(), mark_fact(fact)) for fact in chosen]
    text = frame(list(iterate_days(lines)), f"{HEAD} {explain_marks(lines)}")
    return PromptRecall(text, [fact.uid for fact in chosen])


def find_repairs(input_hash: str, session: Session, point: ReadPoint) -> Sequence[Fact]:
    """Return the facts of repairs of a call in earlier sessions, the newest first."""
    earlier = list_others(session, MAX_SESSIONS)
    if not earlier:
        return []
    calls = Observation.objects.in_lineage(point.lineage).filter_indexed(session_id=earlier)
    calls = calls.filter(input_hash=input_hash, observation_type=Observation.Type.DISCOVERY)
    uids = list_derived([uid for (uid,) in calls.gather_values("uid")], point.lineage)
    facts = [fact for fact in load_facts(uids, point).values() if fact.category == REPAIR]
    return sorted(filter_own(facts, session), key=lambda fact: fact.uid, reverse=True)


def list_derived(sources: Collection[UUID], lineage: Lineage) -> set[UUID]:
    """Return the facts that come from some observations."""
    links = FactLink.objects.in_lineage(lineage).filter(link_type=FactLink.Type.DERIVED_FROM)
    return {uid for _, uid in links.select_by_key(("to_id", "from_id"), "to_id", list(sources))}

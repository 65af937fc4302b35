"""Statements whose place a newer one of a person has taken, by links made when sessions were learned from.

Such a link leads from the older fact to the newer one, is of the type CONTESTED_BY and says since when. It
changes neither fact. Links of that type without a time only say that two facts disagree.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.db.querysets import Lineage
from memory.engines.facts.assessment import searchable_rows
from memory.engines.sessions.manager import Utterance
from memory.engines.sessions.utterances import FactEdge, find_utterances
from memory.models import Fact, FactAssessment, FactLink


@dataclass(frozen=True)
class Revision:
    """An older fact, the newer one that takes its place, and since when."""

    older: Fact
    newer: Fact
    since: datetime

    @property
    def key(self) -> tuple[UUID, UUID]:
        return self.older.uid, self.newer.uid

    def link(self) -> FactLink:
        origin = {name: getattr(self.newer, name) for name in ("session_id", "task_id", "agent_id")}
        edge = {"from_id": self.older.uid, "to_id": self.newer.uid, "valid_from": self.since}
        return FactLink(link_type=FactLink.Type.CONTESTED_BY, **edge, **origin)


def find_revised(
    facts: Iterable[Fact],
    edges: Sequence[FactEdge],
    utterances: Mapping[UUID, Utterance],
    lineage: Lineage,
    now: datetime,
) -> dict[UUID, Fact]:
    """Return the newest fact that took the place of each of the facts, by the older fact's id.

    ``edges`` and ``utterances`` are those of the facts. The newer one must be a person's, be searched on the
    lineage, and not have been followed by a repetition of the older one.
    """
    contests = [edge for edge in edges if edge.is_revision]
    if not contests:
        return {}
    known = {fact.uid: fact for fact in facts}
    holding = [edge for edge in contests if holds_since(known[edge.from_id], utterances, edge)]
    missing = {edge.to_id for edge in holding if edge.to_id not in known}
    others = load_facts(missing, lineage, now)
    spoken = {**utterances, **find_utterances(others.values(), lineage)}
    newer = {uid: fact for uid, fact in (known | others).items() if is_persons(spoken.get(uid))}
    return {
        edge.from_id: newer[edge.to_id]
        for edge in sorted(holding, key=lambda edge: (edge.valid_from, edge.to_id))
        if edge.to_id in newer
    }


def holds_since(fact: Fact, utterances: Mapping[UUID, Utterance], edge: FactEdge) -> bool:
    """Return whether the older statement was not repeated after the newer one."""
    return edge.valid_from is not None and get_time(fact, utterances.get(fact.uid)) <= edge.valid_from


def load_facts(uids: Iterable[UUID], lineage: Lineage, now: datetime) -> dict[UUID, Fact]:
    requested = list(uids)
    if not requested:
        return {}
    found = searchable_rows(lineage, now).filter(uid__in=requested).fetch_all()
    return {fact.uid: fact for fact in found}


def is_vouched_for(fact: Fact) -> bool:
    """Return whether a curator verified or pinned a fact: it is never left out for a newer one."""
    return fact.pinned or fact.verification_status == FactAssessment.Status.VERIFIED


def is_persons(utterance: Utterance | None) -> bool:
    return utterance is not None and utterance.speaker == Utterance.PERSON


def get_time(fact: Fact, utterance: Utterance | None) -> datetime:
    """Return when a fact was said, which was long before it was learned where it was imported."""
    return utterance.at if utterance else fact.created_at

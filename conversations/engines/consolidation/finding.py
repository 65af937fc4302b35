"""A finding: what a session taught, and where. No database access."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from conversations.engines.learning import choose_rule
from memory.engines.sessions.utterances import REVISABLE
from memory.engines.statements.personal_facts import describe_person
from memory.models import Fact, FactLink

CONFIDENCE = 0.7


@dataclass(frozen=True)
class Finding:
    """A fact to write, and the message or observation that it comes from."""

    text: str
    category: str
    source: UUID
    to_type: str
    said_at: datetime | None = None
    is_persons: bool = False
    is_open: bool = False  # learned only where it changes a decision
    is_working: bool = False  # of a person's words while the agent works
    is_models: bool = False  # noted by a language model
    more: tuple[tuple[UUID, str], ...] = ()  # further sources, with their kinds

    @property
    def is_statement(self) -> bool:
        """Return whether it says what was decided, so that it may take an older statement's place."""
        return self.said_at is not None and self.category in REVISABLE

    @property
    def rule(self) -> str:
        return "" if self.is_models else choose_rule(self.category, self.to_type)

    @property
    def sources(self) -> list[UUID]:
        """Return all that it comes from."""
        return [self.source, *(uid for uid, _kind in self.more)]

    def without(self, uids: Collection[UUID]) -> "Finding":
        """Return it without some of the further sources."""
        return replace(self, more=tuple(one for one in self.more if one[0] not in uids))

    def fact(self) -> dict[str, Any]:
        observed = self.to_type == FactLink.Target.OBSERVATION
        kind = Fact.SourceType.OBSERVATION if observed else Fact.SourceType.CONSOLIDATION
        distilled = {"origin": Fact.Origin.DISTILLED_LLM.value} if self.is_models else {}
        return {
            **distilled,
            "fact_text": self.text,
            "category": self.category,
            "confidence": CONFIDENCE,
            "source_type": (Fact.SourceType.EXTRACTION if self.is_models else kind).value,
            "source_id": str(self.source),
            **describe_person(self.category, self.text),
        }

    def list_links(self, fact: Fact) -> list[FactLink]:
        """Return the links from a fact to the sources."""
        return [build_link(fact, *one) for one in ((self.source, self.to_type), *self.more)]


def build_link(fact: Fact, source: UUID, to_type: str) -> FactLink:
    observed = to_type == FactLink.Target.OBSERVATION
    return FactLink(
        from_id=fact.uid,
        to_id=source,
        to_type=to_type,
        link_type=FactLink.Type.DERIVED_FROM if observed else FactLink.Type.CONSOLIDATED_FROM,
        session_id=fact.session_id,
        task_id=fact.task_id,
        agent_id=fact.agent_id,
    )

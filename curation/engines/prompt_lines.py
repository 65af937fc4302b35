"""What a reader of a branch is told of it: its best facts, as the lines of a prompt."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from curation.engines.bundles.reading import read_verdict
from curation.engines.handoffs.briefing import describe_frozen_fact
from curation.engines.handoffs.packet import MAX_CANDIDATES, freeze_fact, rank_candidate
from memory.engines.facts.assessment import attach_belief, searchable_rows
from memory.engines.sessions.briefing import MAX_TOKENS
from memory.models import Branch, Fact, FactAssessment
from memory.models.end_users import OF_NOBODY
from memory.ranking import count_tokens

MAX_LINES = 20
LINE_NAMES = ("essence", "category", "verification_status", "created_at", "id")
UNVERIFIED = FactAssessment.Status.UNVERIFIED.value


@dataclass(frozen=True)
class PromptLines:
    """Lines of a prompt, and what they would cost it."""

    lines: Sequence[str]
    tokens: int
    budget: int = MAX_TOKENS

    @property
    def share(self) -> float:
        return min(self.tokens / self.budget, 1.0)


def measure_lines(lines: Iterable[str]) -> PromptLines:
    """Return lines with their number of tokens."""
    found = list(lines)
    return PromptLines(found, count_tokens("\n".join(found)))


def list_best_facts(branch: Branch) -> list[Fact]:
    """Return the best of the newest facts that a branch shows and a search finds."""
    lineage = branch.lineage()
    found = list(searchable_rows(lineage, timezone.now()).filter(**OF_NOBODY).newest(MAX_CANDIDATES))
    attach_belief(found, lineage)
    return sorted(found, key=rank_candidate, reverse=True)[:MAX_LINES]


def describe_branch(branch: Branch) -> PromptLines:
    """Return the best facts of a branch as the lines of a prompt."""
    return measure_lines(describe_frozen_fact(freeze_fact(fact)) for fact in list_best_facts(branch))


def describe_frozen(facts: Sequence[Mapping[str, Any]]) -> PromptLines:
    """Return frozen facts, or those of a bundle, as the lines of a prompt."""
    return measure_lines(describe_frozen_fact(fill_fact(fact)) for fact in facts[:MAX_LINES])


def fill_fact(fact: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of a fact that a line needs: a bundle of elsewhere may leave them out."""
    found = {name: str(fact.get(name) or "") for name in LINE_NAMES}
    found["essence"] = found["essence"] or str(fact.get("fact_text") or "")
    found["verification_status"] = read_verdict(fact)[0] or UNVERIFIED
    return found


def list_talks(talks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the conversations of a bundle as a page shows them, whatever else the items hold."""
    return [
        {"title": str(talk.get("title") or ""), "messages": list_messages(talk.get("messages"))}
        for talk in talks
    ]


def list_messages(messages: Any) -> list[dict[str, str]]:
    """Return the messages of a conversation, each with its texts."""
    found = [one for one in messages if isinstance(one, Mapping)] if isinstance(messages, list) else []
    return [{name: str(one.get(name) or "") for name in ("role", "content")} for one in found]

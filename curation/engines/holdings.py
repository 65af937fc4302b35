"""What a reader of a branch is told of it: its best facts, as the lines of a prompt."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from curation.engines.handoffs.briefing import describe_fact
from curation.engines.handoffs.packet import MAX_CANDIDATES, freeze_fact, rank_fact
from memory.engines.facts.assessment import attach_belief, searchable_rows
from memory.engines.sessions.briefing import MAX_TOKENS
from memory.models import Branch, Fact
from memory.ranking import count_tokens

MAX_LINES = 20


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


def list_best_facts(branch: Branch, limit: int = MAX_LINES) -> list[Fact]:
    """Return the best of the newest facts that a branch shows and a search finds."""
    lineage = branch.lineage()
    found = list(searchable_rows(lineage, timezone.now()).newest(MAX_CANDIDATES))
    attach_belief(found, lineage)
    return sorted(found, key=rank_fact, reverse=True)[:limit]


def describe_branch(branch: Branch) -> PromptLines:
    """Return the best facts of a branch as the lines of a prompt."""
    return measure_lines(describe_fact(freeze_fact(fact)) for fact in list_best_facts(branch))


def describe_frozen(facts: Sequence[Mapping[str, Any]]) -> PromptLines:
    """Return frozen facts as the lines of a prompt."""
    return measure_lines(describe_fact(dict(fact)) for fact in facts[:MAX_LINES])

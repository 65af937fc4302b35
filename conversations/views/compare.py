"""Two conversations beside each other: what they share, where they diverge, and what each learned."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as lazy

from conversations.engines.messages import may_read_thinking
from conversations.engines.semantic_diff.comparison import SAME, Comparison, DiffRow, RowDiffPage, Side
from conversations.engines.semantic_diff.engine import (
    DIVERGENT,
    EQUIVALENT,
    MIXED,
    SIMILAR,
    SemanticDiff,
    SemanticDiffEngine,
)
from conversations.views.conversations import Conversations
from conversations.views.thread import ThreadEntry, list_entries
from memory.engines.facts.links import LinkEngine
from memory.models import Fact
from memory.views.frame.base import ProjectPage
from memory.views.frame.view_context import ViewContext

diff_engine = SemanticDiffEngine()
VERDICTS: dict[str, tuple[str, Any, Any]] = {
    EQUIVALENT: ("good", lazy("equivalent"), lazy("They did and said nearly the same.")),
    SIMILAR: ("info", lazy("similar"), lazy("They went much the same way.")),
    DIVERGENT: ("conflict", lazy("divergent"), lazy("They did different things.")),
    MIXED: ("warning", lazy("mixed"), lazy("Some of it is alike, and some is not.")),
}


@dataclass(frozen=True)
class ComparedRow:
    """A row of two columns; ``diverges`` is the first that differs."""

    change: str
    first: ThreadEntry | None
    second: ThreadEntry | None
    diverges: bool


class ComparePage(ProjectPage):
    """Two conversations, the first of this branch, the second of ?other=, this branch without one."""

    template_name = "conversation/compare.html"
    section, title = "conversations", lazy("Compare two conversations")
    extra_context = {"list_title": Conversations.title}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        where: dict[str, Any] = {
            "conversation_id": kwargs.pop("first"),
            "other": kwargs.pop("second"),
            "actor": self.reader.actor,
            "branch_name": self.reader.branch.name,
            "other_branch": self.request.GET.get("other", ""),
        }
        shown = load_comparison(self.reader, where, self.paging())
        return super().get_context_data(**shown, thinking=may_read_thinking(self.reader.actor), **kwargs)


def load_comparison(reader: ViewContext, where: dict[str, Any], paging: dict[str, Any]) -> dict[str, Any]:
    """Return what a page tells of two conversations; what they mean only with the first rows."""
    page = diff_engine.diff_rows(**where, **paging)
    comparison = page.diff.comparison
    shown: dict[str, Any] = {"comparison": comparison, "rows": list_rows(page), "page": page}
    shown["changed"] = sum(count for name, count in page.diff.counts.items() if name != SAME)
    if paging["cursor"]:
        return shown
    found = diff_engine.semantic_diff(**where)
    return shown | describe_diff(found) | {"learned": list_learned(reader, comparison)}


def list_rows(page: RowDiffPage) -> list[ComparedRow]:
    first = next((row for row in page.diff.rows if row.change != SAME), None)
    return [build_row(row, row is first) for row in page.rows]


def build_row(row: DiffRow, diverges: bool) -> ComparedRow:
    entries = [list_entries([one])[0] if one else None for one in (row.first, row.second)]
    return ComparedRow(row.change, entries[0], entries[1], diverges)


def describe_diff(found: SemanticDiff) -> dict[str, Any]:
    """Return the verdict with its tone, and the notes, of a semantic difference."""
    tone, word, sentence = VERDICTS[found.verdict]
    return {"diff": found, "tone": tone, "verdict": word, "meaning": sentence}


def list_learned(reader: ViewContext, comparison: Comparison) -> list[tuple[Side, Sequence[Fact]]]:
    """Return for each side the facts that came of what it has alone."""
    return [(side, find_learned(reader, side)) for side in (comparison.first, comparison.second)]


def find_learned(reader: ViewContext, side: Side) -> Sequence[Fact]:
    facts = LinkEngine().facts_from(
        source_ids=[row.uid for row in side.messages],
        actor=reader.actor,
        branch_name=side.branch_name,
        at=side.seq,
    )
    return list({fact.uid: fact for found in facts.values() for fact in found}.values())

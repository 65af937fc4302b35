"""What pages show of the review queue: how much waits, the newest questions, those about a fact."""

from collections.abc import Sequence
from typing import Any

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from curation.engines.queue.engine import QueueEngine
from curation.engines.review.review_queue import ReviewEngine, count_backlog
from memory.actors import Actor
from memory.engines.facts.facts_across_branches import ProposalEngine
from memory.models import Branch, Fact
from memory.views.branches.branches import list_pending
from memory.views.frame.panels import Figure
from memory.views.frame.sparklines import draw_sparkline
from memory.views.frame.view_context import MAX_COUNTED_QUESTIONS, ViewContext, format_count
from memory.views.sessions.home import DAYS

MAX_WAITING, MAX_QUESTIONS = 3, 20


def count_decisions(actor: Actor, branch: Branch | None = None) -> str:
    """Return how many proposals and questions wait, on a branch or on all: "" for none, "99+" for many."""
    bounds: dict[str, Any] = {"actor": actor, "maximum": MAX_COUNTED_QUESTIONS}
    if branch:
        return format_count(QueueEngine().count_all_waiting(branch=branch, **bounds))
    count = ReviewEngine().count_open(**bounds) + ProposalEngine().count_proposals(**bounds)
    return format_count(min(count, MAX_COUNTED_QUESTIONS))


def load_waiting(reader: ViewContext) -> Any:
    """Return waiting merges and the newest open questions; None in the past or without the scope curate."""
    if not (reader.can["curate"] and reader.is_now):
        return None
    page = ReviewEngine().list_items(
        actor=reader.actor, branch_name=reader.branch.name, status="open", limit=MAX_WAITING
    )
    for item in page.results:
        item.both = [fact for fact in (item.fact, item.other) if fact]
    return {"rows": [*list_pending(reader.actor), *page.results]}


def load_questions(reader: ViewContext, fact: Fact) -> list[Any] | None:
    """Return the questions about a fact, for those who may answer them; None where there are none."""
    if not reader.can["curate"]:
        return None
    page = ReviewEngine().list_items(
        actor=reader.actor, branch_name=reader.branch.name, fact_id=fact.uid, limit=MAX_QUESTIONS
    )
    return list(page.results) or None


def load_review_figure(reader: ViewContext) -> Figure | None:
    """Return how much waits now, with the course of the questions; None for who may not answer, or then."""
    if not (reader.can["curate"] and reader.is_now):
        return None
    past = count_backlog(actor=reader.actor, until=reader.moment, days=DAYS - 1, branch=reader.branch)
    shown = reader.open_questions or "0"
    now = ReviewEngine().count_open(
        actor=reader.actor, maximum=max(past[-1], MAX_COUNTED_QUESTIONS), branch=reader.branch
    )
    return Figure(shown, reader.url("review"), gettext_lazy("Needs review"), draw_backlog([*past, now]))


def draw_backlog(counts: Sequence[int]) -> SafeString:
    """Return the drawing, which says in words how many there were first and last."""
    text = _("%(first)s questions waited %(days)s days ago, %(last)s wait now.")
    values = {"first": counts[0], "days": len(counts) - 1, "last": counts[-1]}
    return draw_sparkline(counts, text % values)

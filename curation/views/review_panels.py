"""What pages show of the review queue: how much waits, the newest questions, those about a fact."""

from typing import Any

from curation.engines.queue.engine import QueueEngine
from curation.engines.review.review_queue import ReviewEngine
from memory.actors import Actor
from memory.engines.facts.facts_across_branches import ProposalEngine
from memory.models import Branch, Fact
from memory.views.frame.view_context import MAX_COUNTED_QUESTIONS, ViewContext, format_count

MAX_WAITING, MAX_QUESTIONS = 5, 20


def count_decisions(actor: Actor, branch: Branch | None = None) -> str:
    """Return how many proposals and questions wait, on a branch or on all: "" for none, "99+" for many."""
    bounds: dict[str, Any] = {"actor": actor, "maximum": MAX_COUNTED_QUESTIONS}
    if branch:
        return format_count(QueueEngine().count_all_waiting(branch=branch, **bounds))
    count = ReviewEngine().count_open(**bounds) + ProposalEngine().count_proposals(**bounds)
    return format_count(min(count, MAX_COUNTED_QUESTIONS))


def load_waiting(reader: ViewContext) -> Any:
    """Return the newest open questions; None in the past or without the scope curate."""
    if not (reader.can["curate"] and reader.is_now):
        return None
    page = ReviewEngine().list_items(
        actor=reader.actor, branch_name=reader.branch.name, status="open", limit=MAX_WAITING
    )
    for item in page.results:
        item.both = [item.fact, item.other]
    return page


def load_questions(reader: ViewContext, fact: Fact) -> list[Any] | None:
    """Return the questions about a fact, for those who may answer them; None where there are none."""
    if not reader.can["curate"]:
        return None
    page = ReviewEngine().list_items(
        actor=reader.actor, branch_name=reader.branch.name, fact_id=fact.uid, limit=MAX_QUESTIONS
    )
    return list(page.results) or None

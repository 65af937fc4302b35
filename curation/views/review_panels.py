"""What other pages show of the review queue: its count, the newest questions, those about a fact."""

from typing import Any

from curation.engines.review.review_queue import ReviewEngine
from memory.actors import Actor
from memory.models import Branch, Fact
from memory.views.view_context import MAX_COUNTED_QUESTIONS, ViewContext, format_count

MAX_WAITING, MAX_QUESTIONS = 5, 20


def count_questions(actor: Actor, branch: Branch | None = None) -> str:
    """Return the number of open questions, on all branches or on one: "" for none, "99+" for many."""
    count = ReviewEngine().count_open(actor=actor, maximum=MAX_COUNTED_QUESTIONS, branch=branch)
    return format_count(count)


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

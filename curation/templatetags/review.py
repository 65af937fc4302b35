"""Template tags of the review queue: how much waits, beside an answer."""

from typing import Any

from django import template

from curation.engines.queue.engine import QueueEngine
from memory.models import Branch
from memory.views.frame.view_context import MAX_COUNTED_QUESTIONS, format_count

register = template.Library()


@register.inclusion_tag("parts/review_counts.html", takes_context=True)
def review_counts(context: template.Context, branch: Branch) -> dict[str, Any]:
    """Render how much waits on a branch, in all and by filter, for a script that updates the page."""
    reader = context["reader"]
    if not reader.can["curate"]:
        return {}
    by_reason = QueueEngine().count_waiting(
        actor=reader.actor, branch_name=branch.name, maximum=MAX_COUNTED_QUESTIONS
    )
    total = min(sum(by_reason.values()), MAX_COUNTED_QUESTIONS)
    counts = {"open-questions": total} | {f"waits-{reason}": count for reason, count in by_reason.items()}
    return {"branch": branch, "counts": [(name, format_count(count)) for name, count in counts.items()]}

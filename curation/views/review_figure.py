"""How much needs review, as a figure of Home with its course."""

from collections.abc import Sequence

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from curation.engines.review.review_queue import ReviewEngine, count_backlog
from memory.views.frame.sparklines import draw_sparkline
from memory.views.frame.view_context import MAX_COUNTED_QUESTIONS, ViewContext
from memory.views.sessions.home import DAYS, Figure


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

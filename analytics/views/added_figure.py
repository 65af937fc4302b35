"""How many facts the day that is read brought, as a figure of Home with its course."""

from collections.abc import Sequence

from django.utils.safestring import SafeString
from django.utils.translation import ngettext

from analytics.engines.engine import AnalyticsEngine
from memory.views.frame.panels import Figure
from memory.views.frame.sparklines import draw_sparkline
from memory.views.frame.view_context import ViewContext
from memory.views.sessions.home import DAYS


def load_added_figure(reader: ViewContext) -> Figure:
    """Return how many of the facts that the branch shows came on the last day, which leads to these."""
    span, counts = AnalyticsEngine().count_added(**reader.read_args, days=DAYS)
    since = (span.until - span.step).isoformat()
    if reader.is_now:
        text = ngettext("Fact added today", "Facts added today", counts[-1])
    else:
        text = ngettext("Fact added that day", "Facts added that day", counts[-1])
    return Figure(counts[-1], reader.url("facts", created_after=since), text, draw_days(counts))


def draw_days(counts: Sequence[int]) -> SafeString:
    """Return a sparkline of the last days, which says in words how many there were at most."""
    text = ngettext("At most {n} on one of {days} days.", "At most {n} on one of {days} days.", max(counts))
    return draw_sparkline(counts, text.format(n=max(counts), days=len(counts)))

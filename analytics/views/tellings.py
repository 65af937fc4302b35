"""What agents were told, as Insights shows it: the weeks, and the rows behind one number of them."""

from typing import Any
from urllib.parse import urlencode

from django.contrib.humanize.templatetags.humanize import intcomma
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as lazy

from analytics.engines.answers import Tellings, TellingWeek
from memory.views.frame.view_context import ViewContext

TITLES: dict[str, Any] = {
    "sessions": lazy("Sessions"),
    "facts": lazy("Facts"),
    "used": lazy("Used since"),
    "wrong": lazy("Said to be wrong"),
    "gone": lazy("Out of date"),
}
MAX_ROWS = 50  # of what a number counts, on the page


def show_tellings(request: HttpRequest, reader: ViewContext, found: Tellings) -> dict[str, Any]:
    """Return the weeks, their sums, and the sessions or facts that a number of the address counts."""
    sessions = {key for week in found.weeks for key in week.sessions}
    lines, tokens = (sum(getattr(week, name) for week in found.weeks) for name in ("lines", "tokens"))
    shown: dict[str, Any] = {
        "weeks": [show_week(request, week) for week in found.weeks],
        "is_cut": found.is_cut,
        "sums": {"n": len(sessions), "lines": lines, "tokens": tokens},
        "a_session": round(tokens / len(sessions)) if sessions else 0,
    }
    day, group = request.GET.get("week", ""), request.GET.get("told", "")
    week = next((one for one in found.weeks if one.start.isoformat() == day), None)
    return {**shown, **find_rows(reader, found, week, group)} if week and group in TITLES else shown


def show_week(request: HttpRequest, week: TellingWeek) -> dict[str, Any]:
    """Return the numbers of a week, those that list something as the way to it."""
    words = {name: value for name, value in request.GET.items() if name not in ("week", "told")}
    counts = {name: len(getattr(week, name)) for name in TITLES}
    address = {name: urlencode({**words, "week": week.start, "told": name}) for name in TITLES}
    links = {
        name: format_html('<a href="?{}#told">{}</a>', address[name], intcomma(count)) if count else 0
        for name, count in counts.items()
    }
    return {"start": week.start, "lines": week.lines, "tokens": week.tokens, **links}


def find_rows(reader: ViewContext, found: Tellings, week: TellingWeek, group: str) -> dict[str, Any]:
    """Return what one number of a week counts: the first facts or sessions."""
    chosen = {"week": week.start, "title": TITLES[group], "total": len(getattr(week, group))}
    if group == "sessions":
        shown = list(week.sessions.items())[:MAX_ROWS]
        reader.name_sessions(key for key, _counts in shown)
        return {**chosen, "sessions": [{"key": key, "counts": counts} for key, counts in shown]}
    return {**chosen, "facts": [found.facts[uid] for uid in getattr(week, group)[:MAX_ROWS]]}

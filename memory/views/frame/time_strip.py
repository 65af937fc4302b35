"""The strip in the bar: the commits of a branch by days, and the point that is read, to be moved."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory.engines.activity.contributors import Span, load_calendar
from memory.views.frame.view_context import ViewContext

HEIGHT, MIN_BAR = 24, 3  # pixels


@dataclass(frozen=True)
class TimeStrip:
    """The drawing, the days of its bars, and the place of the point that is read; the last place is now."""

    drawing: SafeString
    days: str
    position: int
    last: int
    text: str


def build_strip(reader: ViewContext) -> TimeStrip | None:
    """Return the strip, and None on a branch's first day, which has no earlier one to read."""
    spans = load_calendar(reader.branch)
    if len(spans) < 2:
        return None
    position = find_position(reader, spans)
    labels = [describe_span(span) for span in spans]
    return TimeStrip(
        drawing=draw_bars([span.commits for span in spans], position),
        days=",".join(span.until.isoformat() for span in spans[:-1]),
        position=position,
        last=len(spans) - 1,
        text=_("now") if reader.is_now else labels[position],
    )


def find_position(reader: ViewContext, spans: Sequence[Span]) -> int:
    """Return the bar that the point belongs to."""
    if reader.is_now:
        return len(spans) - 1
    day = reader.moment.astimezone(UTC).date()
    return next((place for place, span in enumerate(spans) if span.until >= day), len(spans) - 1)


def describe_span(span: Span) -> str:
    text = ngettext("{day}: {n} commit", "{day}: {n} commits", span.commits)
    return text.format(day=span.until.isoformat(), n=f"{span.commits:,}")


def draw_bars(counts: Sequence[int], position: int) -> SafeString:
    """Draw a bar for each count, and mark what comes after the point that is read."""
    html = (
        '<svg viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">'
        '<path class="bars" d="{}"></path><path class="unread" d="{}"></path></svg>'
    )
    return format_html(html, len(counts), HEIGHT, place_bars(counts), _cover(position + 1, len(counts)))


def place_bars(counts: Sequence[int]) -> str:
    """Return the path of the bars; a few commits beside thousands are still seen."""
    top = max([*counts, 1])
    found: list[Any] = []
    for place, count in enumerate(counts):
        if count:
            high = MIN_BAR + (HEIGHT - 2 - MIN_BAR) * (count / top) ** 0.5
            found.append(f"M{place + 0.1:.1f} {HEIGHT}v-{high:.1f}h.8v{high:.1f}z")
    return "".join(found)


def _cover(first: int, last: int) -> str:
    return f"M{first} 0H{last}V{HEIGHT}H{first}z" if first < last else ""

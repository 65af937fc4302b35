"""Analytics: what is written and recalled, whose facts are rejected, and junk with the way to archive it."""

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from analytics.answers.figures import CSV, stream_csv
from analytics.engines.answers import HEALTHY_YIELD, CurationFigures, Overview, Trends
from analytics.engines.engine import AnalyticsEngine
from analytics.engines.junk import GROUPS
from analytics.engines.ranges import MAX_DAYS
from memory.answers.derived import render_derived
from memory.conf import conf
from memory.exceptions import Invalid
from memory.views.base import ProjectPage
from memory.views.bulk import BulkActions
from memory.views.sparklines import draw_sparkline
from memory.views.widgets import parse_number

engine = AnalyticsEngine()
RANGES = (7, 30, 90, 365)
MAX_AGENTS = 20  # on the page
MAX_ROWS = 50  # facts of a group on the page
GROUP_TITLES: dict[str, Any] = {
    "never_recalled": lazy("Never recalled"),
    "stale": lazy("Past their end"),
    "contradicted": lazy("Contradicted"),
    "near_duplicate": lazy("Near duplicates"),
}
SERIES: dict[str, Any] = {
    "facts": lazy("Facts written"),
    "messages": lazy("Messages"),
    "observations": lazy("Observations"),
    "recalls": lazy("Recalls"),
    "misses": lazy("Recalls without a hit"),
}


class Analytics(BulkActions, ProjectPage):
    reads_past = True
    template_name, section, title = "analytics.html", "analytics", lazy("Analytics")

    @property
    def days(self) -> int:
        """Return the range in the address. Raises Invalid."""
        text = self.request.GET.get("days", "")
        days = parse_number(text, digits=5) if text else 30
        if not days or days > MAX_DAYS:
            raise Invalid(_("A range has 1 to {most} days.").format(most=MAX_DAYS), field="days")
        return days

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if request.GET.get("format") != CSV:
            return super().get(request, *args, **kwargs)
        trends = engine.trends(**self.reader.read_args, days=self.days)
        return stream_csv(render_derived(trends), "trends")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        found = engine.load_dashboard(**self.reader.read_args, days=self.days)
        overview = found.overview
        shown: dict[str, Any] = {"overview": overview, "ranges": RANGES, "chosen_days": self.days}
        shown |= {"figures": list_series(found.trends), "warning": describe_yield(overview)}
        if found.curation:
            shown |= self._load_curation(found.curation)
        shown |= {
            "verified": show_share(overview.verified_share),
            "yield_text": show_share(overview.consolidation.rate),
            "kept": describe_kept(self.days, conf().recall_days),
        }
        return super().get_context_data(**shown, **kwargs)

    def _load_curation(self, figures: CurationFigures) -> dict[str, Any]:
        groups = [(name, GROUP_TITLES[name], getattr(figures.junk, name)) for name in GROUPS]
        group = self.request.GET.get("junk", "") or next((name for name, _t, count in groups if count), "")
        facts = engine.list_junk(group=group, limit=MAX_ROWS, **self.reader.read_args) if group else []
        mark_chosen(facts)
        return {"curation": figures, "groups": groups, "group": group, "facts": facts} | {
            "agents": figures.agents[:MAX_AGENTS]
        }


def mark_chosen(facts: Any) -> None:
    """Tick all facts but what somebody pinned: whoever opens a group wants to see it gone."""
    for fact in facts:
        fact.ticked = not fact.pinned


def list_series(trends: Trends) -> list[tuple[Any, int, Any]]:
    """Return title, sum and drawing of each series."""
    found = []
    for name, title in SERIES.items():
        counts = [getattr(point, name) for point in trends.points]
        highest = ngettext("{title}: at most {n} in a point", "{title}: at most {n} in a point", max(counts))
        found.append((title, sum(counts), draw_sparkline(counts, highest.format(title=title, n=max(counts)))))
    return found


def show_share(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"


def describe_kept(days: int, recall_days: int) -> str:
    """Return up to when recalls are known, where the range begins before; 0 keeps them for ever."""
    if not 0 < recall_days < days:
        return ""
    text = ngettext(
        "Recalls are kept for {n} day: before, they are not counted.",
        "Recalls are kept for {n} days: before, they are not counted.",
        recall_days,
    )
    return text.format(n=recall_days)


def describe_yield(overview: Overview) -> str:
    """Return the warning where consolidation keeps too little or too much; "" where it is healthy."""
    found = overview.consolidation
    if found.healthy is not False or found.rate is None:
        return ""
    low, high = HEALTHY_YIELD
    if found.rate < low:
        text = _("Of what consolidation read, {share} became facts. Below {bound} little is learned.")
        return text.format(share=f"{found.rate:.1%}", bound=f"{low:.0%}")
    text = _("Of what consolidation read, {share} became facts. Above {bound} nearly everything is kept.")
    return text.format(share=f"{found.rate:.1%}", bound=f"{high:.0%}")

"""Analytics: what is written and recalled, whose facts are rejected, and junk with the way to archive it."""

from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from analytics.answers.figures import CSV, stream_csv
from analytics.engines.answers import HEALTHY_YIELD, CurationFigures, Overview, Trends
from analytics.engines.engine import AnalyticsEngine
from analytics.engines.junk import GROUPS
from analytics.engines.ranges import MAX_DAYS
from analytics.views.tellings import show_tellings
from conversations.views.home_leads import choose_sample
from memory.answers.derived import render_derived
from memory.conf import conf
from memory.exceptions import Invalid
from memory.templatetags.elements import meter
from memory.views.facts.bulk import BulkActions, mark_ticked
from memory.views.frame.base import MovedPage, ProjectPage
from memory.views.frame.panels import Figure
from memory.views.frame.sparklines import draw_sparkline
from memory.views.frame.widgets import parse_number
from memory.views.sessions.question_rows import (
    describe_recall,
    describe_recall_changes,
    show_recall_figure,
)

engine = AnalyticsEngine()
RANGES = (7, 30, 90, 365)
MAX_AGENTS = 20  # on the page
MAX_ROWS = 20  # facts of a group on the page
GROUP_TITLES: dict[str, Any] = {
    "stale": lazy("Expired or outdated"),
    "contradicted": lazy("Contradicted"),
    "near_duplicate": lazy("Near duplicates"),
    "rejected": lazy("Rejected"),
}
MIN_READ = 100  # messages and observations, before which a share says little
SERIES: dict[str, Any] = {
    "facts": lazy("Facts written"),
    "messages": lazy("Messages"),
    "observations": lazy("Observations"),
    "recalls": lazy("Searches"),
    "misses": lazy("Searches that found nothing"),
}
ASIDES: dict[str, Any] = {
    "facts": lazy("that are still here"),
    "messages": lazy("of people and agents, in conversations"),
    "observations": lazy("what agents’ tools did and saw"),
    "recalls": lazy("by agents and programs, not on these pages"),
    "misses": lazy("of these"),
}


class MovedAnalytics(MovedPage):
    """The address of Insights before its page had that name."""

    to = ("insights",)


class Insights(BulkActions, ProjectPage):
    reads_past = True
    template_name, section, title = "insights.html", "insights", lazy("Insights")

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

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show what would be archived, and archive it when that is confirmed."""
        asks = request.POST.get("action") == "archive" and "sure" not in request.POST
        if asks and request.POST.getlist("fact") and self.reader.allowed_now["curate"]:
            return self.render_to_response(self.get_context_data(confirming=True))
        return super().post(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        found = engine.load_dashboard(**self.reader.read_args, days=self.days)
        overview = found.overview
        shown: dict[str, Any] = {"overview": overview, "ranges": RANGES, "chosen_days": self.days}
        runs, series = describe_recall(self.reader), self._list_series(found.trends)
        shares = [*self._list_shares(overview), show_recall_figure(self.reader, runs)]
        shown |= {"figures": [*series, *filter(None, shares)], "warning": describe_yield(overview)}
        written = overview.counts["facts"] or found.tellings.weeks or any(one.count for one in series)
        shown |= {"is_empty": not written, "sample": "" if written else choose_sample(self.reader, False)}
        shown |= {"told": show_tellings(self.request, self.reader, found.tellings)}
        if found.curation:
            shown |= self._load_curation(found.curation, "confirming" in kwargs)
        shown |= {
            "since": found.trends.since,
            "kept": describe_kept(self.days, conf().recall_days),
            **describe_recall_changes(self.reader, runs),
        }
        return super().get_context_data(**shown, **kwargs)

    def _list_series(self, trends: Trends) -> list[Figure]:
        """Return the sum of each series, its drawing and the page of its rows; "" where none lists them."""
        since = trends.since.isoformat()
        pages = {
            "facts": self.reader.url("facts", created_after=since),
            "observations": self.reader.url("observations", after=since),
        }
        return [
            Figure(count, pages.get(name, ""), title, drawing, ASIDES[name])
            for name, (title, count, drawing) in draw_series(trends).items()
        ]

    def _list_shares(self, overview: Overview) -> list[Figure]:
        """Return what share of the facts is verified, and what share of what was read became facts."""
        count, learned = overview.counts["facts"], overview.consolidation
        facts = ngettext("of {n} fact now", "of {n} facts now", count).format(n=intcomma(count))
        low, high = (f"{100 * bound:.0f}" for bound in HEALTHY_YIELD)
        aside = _("of {n} messages and observations (yield of consolidation, usual: {low}–{high} %)")
        return [
            Figure(
                show_share(overview.verified_share),
                self.reader.url("facts", verification_status="verified"),
                _("of the facts are verified"),
                meter(overview.verified_share or 0),
                facts,
            ),
            Figure(
                show_share(learned.rate),
                self.reader.url("consolidations", branch="", at=""),
                _("of what was read became facts"),
                aside=aside.format(n=intcomma(learned.processed), low=low, high=high),
            ),
        ]

    def _load_curation(self, figures: CurationFigures, confirming: bool) -> dict[str, Any]:
        groups = [(name, GROUP_TITLES[name], getattr(figures.junk, name)) for name in GROUPS]
        group = self.request.GET.get("junk", "") or next((name for name, _t, count in groups if count), "")
        facts: Any = engine.list_junk(group=group, limit=MAX_ROWS, **self.reader.read_args) if group else []
        mark_ticked(facts, self.request)
        if confirming:
            facts = [fact for fact in facts if fact.ticked]
        return {"curation": figures, "groups": groups, "group": group, "facts": facts} | {
            "agents": figures.agents[:MAX_AGENTS]
        }


def draw_series(trends: Trends) -> dict[str, tuple[Any, int, Any]]:
    """Return title, sum and drawing of each series."""
    found = {}
    for name, title in SERIES.items():
        counts = [getattr(point, name) for point in trends.points]
        highest = ngettext("{title}: at most {n} in a point", "{title}: at most {n} in a point", max(counts))
        drawing = draw_sparkline(counts, highest.format(title=title, n=max(counts)))
        found[name] = title, sum(counts), drawing
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
    if found.healthy is not False or found.rate is None or found.processed < MIN_READ:
        return ""
    low, high = HEALTHY_YIELD
    if found.rate < low:
        text = _("Of what consolidation read, {share} became facts. Below {bound} little is learned.")
        return text.format(share=f"{found.rate:.1%}", bound=f"{low:.0%}")
    text = _("Of what consolidation read, {share} became facts. Above {bound} nearly everything is kept.")
    return text.format(share=f"{found.rate:.1%}", bound=f"{high:.0%}")

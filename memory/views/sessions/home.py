"""Home: health, open questions, and what agents learned today."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, time
from typing import Any

from django.utils.translation import gettext_lazy as _

from memory.engines.activity.contributors import TodayEngine, Work
from memory.engines.branches.feed import Burst, FeedEngine
from memory.engines.facts.engine import FactEngine
from memory.views.access.agent_setup import setup_context
from memory.views.frame.base import ProjectPage
from memory.views.frame.panels import HOME_LEADS, HOME_PANELS, Figure
from memory.views.frame.view_context import ViewContext
from memory.views.sessions.activity import describe_bursts
from memory.views.sessions.question_rows import describe_recall, show_recall_figure
from memory.views.store.store_state import describe_troubles, load_health

BURSTS = 4
DAYS = 14  # that a drawing shows


FIGURES: list[Callable[[ViewContext], Figure | None]] = []  # of apps to the right


def add_home_figure(load: Callable[[ViewContext], Figure | None]) -> None:
    """Show a figure on Home, unless there is none."""
    FIGURES.append(load)


class Home(ProjectPage):
    reads_past = True
    template_name = "home.html"
    section = "home"
    is_live = spans_branches = True
    title = _("Home")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        is_empty = not FactEngine().list_facts(**self.reader.read_args, limit=1).results
        if self.reader.is_now and is_empty:
            kwargs |= setup_context(self.request, self.reader)
        health = load_health(self.reader)
        return super().get_context_data(
            health=health,
            troubles=describe_troubles(health),
            is_empty=is_empty,
            leads=HOME_LEADS.load(self.reader),
            figures=self.load_figures(),
            panels=HOME_PANELS.load(self.reader),
            feed=self.feed(),
            work=self.work(),
            **kwargs,
        )

    def load_figures(self) -> list[Figure]:
        loaded = [load(self.reader) for load in FIGURES]
        recall = show_recall_figure(self.reader, describe_recall(self.reader))
        return [figure for figure in (*loaded, recall) if figure is not None]

    def feed(self) -> Sequence[Burst]:
        """Return what was done last on any branch, as the activity page lists it."""
        until = None if self.reader.is_now else self.reader.moment
        found = FeedEngine().list_bursts(actor=self.reader.actor, until=until, limit=BURSTS).results
        describe_bursts(found, self.reader)
        return found

    def work(self) -> list[Work]:
        """Return the work of the current day: today, or that of the past point."""
        until = self.reader.moment
        since = datetime.combine(until.astimezone(UTC).date(), time.min, UTC)
        return TodayEngine().list_contributors(actor=self.reader.actor, since=since, until=until)


class Help(ProjectPage):
    """The keyboard shortcuts and the glossary."""

    template_name = "help.html"
    title = _("Help")
    fragment_name = "parts/keys.html"  # what the key ? shows

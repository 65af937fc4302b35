"""Home: health, open questions, and what agents learned today."""

from datetime import datetime, time
from typing import Any

from django.core.cache import cache
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memory.engines.activity.contributors import TodayEngine, Work
from memory.engines.facts.engine import FactEngine
from memory.engines.review.review_queue import ReviewEngine
from memory.engines.store.health import check_health
from memory.views.agent_setup import setup_context
from memory.views.base import ProjectPage

NEWEST = 8
WAITING = 5
MAX_COUNTED_QUESTIONS = 100  # questions are counted up to this number
FRESH = 15  # seconds that the health is cached: pinging a broker may take one


class Home(ProjectPage):
    template_name = "home.html"
    section = "home"
    title = _("Home")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        work = self.work()
        newest = FactEngine().list_facts(**self.reader.where, limit=NEWEST)
        if self.reader.is_now and not newest.results:
            kwargs |= setup_context(self.request, self.reader)
        return super().get_context_data(
            health=self.health(),
            newest=newest,
            waiting=self.waiting(),
            work=work,
            added=sum(one.added for one in work),
            changed=sum(one.changed + one.removed for one in work),
            **kwargs,
        )

    def health(self) -> dict[str, Any]:
        key = f"health:{self.reader.project.pk}"
        return cache.get_or_set(key, lambda: check_health(self.reader.actor), FRESH) or {}

    def waiting(self) -> dict[str, Any] | None:
        """Return the newest open questions and their number; None in the past or without the scope curate."""
        if not (self.reader.can["curate"] and self.reader.is_now):
            return None
        page = ReviewEngine().list_items(actor=self.reader.actor, status="open", limit=WAITING)
        for item in page.results:
            item.both = [item.fact, item.other]
        count = ReviewEngine().count_open(actor=self.reader.actor, most=MAX_COUNTED_QUESTIONS)
        return {
            "results": page.results,
            "count": count if count < MAX_COUNTED_QUESTIONS else f"{MAX_COUNTED_QUESTIONS - 1}+",
        }

    def work(self) -> list[Work]:
        """Return the work of the current day: today, or that of the past point."""
        until = timezone.now() if self.reader.is_now else self.until()
        since = datetime.combine(until.date(), time.min, until.tzinfo)
        return TodayEngine().work(actor=self.reader.actor, since=since, until=until)

    def until(self) -> datetime:
        commit, at = self.reader.commit, self.reader.at
        if isinstance(at, datetime):
            return at
        return commit.at if commit else self.reader.branch.created_at


class Help(ProjectPage):
    """The keyboard shortcuts and the glossary."""

    template_name = "help.html"
    title = _("Help")
    fragment_name = "parts/keys.html"  # what the key ? shows

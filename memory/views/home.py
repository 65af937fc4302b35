"""Home: is memory healthy, what waits for me, what did agents learn today."""

from datetime import datetime, time
from typing import Any

from django.core.cache import cache
from django.utils import timezone

from memory.engines.facts import FactEngine
from memory.engines.health import health
from memory.engines.review import ReviewEngine
from memory.engines.today import TodayEngine, Work
from memory.views.base import ProjectPage

NEWEST = 8
WAITING = 5
MOST = 100  # questions are counted up to here
FRESH = 15  # seconds that an answer about the health is good for: asking a broker may take one


class Home(ProjectPage):
    template_name = "home.html"
    section = "home"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        work = self.work()
        return super().get_context_data(
            health=self.health(),
            newest=FactEngine().list_facts(**self.reader.where, limit=NEWEST),
            waiting=self.waiting(),
            work=work,
            added=sum(one.added for one in work),
            changed=sum(one.changed + one.removed for one in work),
            **kwargs,
        )

    def health(self) -> dict[str, Any]:
        key = f"health:{self.reader.project.pk}"
        return cache.get_or_set(key, lambda: health(self.reader.actor), FRESH) or {}

    def waiting(self) -> dict[str, Any] | None:
        """The newest open questions and how many there are, for who may answer them: now, not in the past."""
        if not (self.reader.can["curate"] and self.reader.is_now):
            return None
        page = ReviewEngine().list_items(actor=self.reader.actor, status="open", limit=WAITING)
        for item in page.results:
            item.both = [item.fact, item.other]  # type: ignore[attr-defined]
        count = ReviewEngine().count_open(actor=self.reader.actor, most=MOST)
        return {"results": page.results, "count": count if count < MOST else f"{MOST - 1}+"}

    def work(self) -> list[Work]:
        """Of the day that is read: today, or that of the past point."""
        until = timezone.now() if self.reader.is_now else self.until()
        since = datetime.combine(until.date(), time.min, until.tzinfo)
        return TodayEngine().work(actor=self.reader.actor, since=since, until=until)

    def until(self) -> datetime:
        commit, at = self.reader.commit, self.reader.at
        if isinstance(at, datetime):
            return at
        return commit.at if commit else self.reader.branch.created_at


class Help(ProjectPage):
    """The keys, and what the words mean."""

    template_name = "help.html"
    fragment_name = "parts/keys.html"  # what the key ? shows

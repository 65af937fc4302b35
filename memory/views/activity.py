"""Activity: what was done and learned, by day, agent and session; a burst of commits is one line."""

from collections.abc import Sequence
from typing import Any

import django_filters as df
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memory.answers import commits as commit_shapes
from memory.engines.branches.feed import Burst, FeedEngine, FeedFilter
from memory.exceptions import Invalid
from memory.models import Commit
from memory.views.frames import add_page
from memory.views.labels import ACTION_LABELS, FIELDS
from memory.views.list_base import Listing

MAX_BURSTS = 30  # on a page


class ActivityFilterSet(df.FilterSet):
    agent_id = df.CharFilter()
    session_id = df.CharFilter()
    kind = df.ChoiceFilter(choices=[(name, name) for name in ACTION_LABELS])
    after = df.IsoDateTimeFilter()
    before = df.IsoDateTimeFilter()

    class Meta:
        model = Commit
        fields: list[str] = []


@add_page("activity", "activity")
class Activity(Listing):
    """The feed of all branches; of one where the address names it."""

    reads_past = True
    template_name = "activity.html"
    section = "activity"
    is_live = spans_branches = True
    title = _("Activity")
    filters, words = ActivityFilterSet, ACTION_LABELS
    labels = {
        "agent_id": _("Agent"),
        "session_id": _("Session"),
        "kind": _("Action"),
        "after": FIELDS["after"],
        "before": FIELDS["before"],
    }
    extra_context = {
        "lead": _("What was done and learned, the newest first."),
        "search": _("Filters, such as agent:ledger or session:42"),
        "drawing": "clock",
        "none_fits": _("Nothing that was done until this time fits."),
        "none_yet": _(
            "Nothing was done here yet. What agents and people write stands here as it happens; connect an"
            " agent, or write a first fact:"
        ),
        "show_all": _("Show all activity"),
    }

    export_shape = commit_shapes.CommitDetailShape

    def list_results(self, page: Any) -> list[Commit]:
        """Return the commits: a file has no bursts."""
        return [commit for burst in page.results for commit in burst.commits]

    def export_row(self, row: Any) -> dict[str, Any]:
        return commit_shapes.commit_detail(row)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(only=self.branch_name, **kwargs)

    @property
    def branch_name(self) -> str:
        """Return the branch that the address asks for; "" for all."""
        return self.reader.branch.name if self.request.GET.get("branch") else ""

    def list_rows(self, payload: dict[str, Any]) -> Any:
        page = FeedEngine().list_bursts(
            actor=self.reader.actor,
            branch_name=self.branch_name,
            filters=FeedFilter.from_values(payload),
            until=None if self.reader.is_now else self.reader.moment,
            **self.paging(MAX_BURSTS),
        )
        set_days(page.results)
        return page

    def search_rows(self, query: str, payload: dict[str, Any]) -> Any:
        raise Invalid(
            "What was done is filtered by agent, session, action and time, and not searched.", field="q"
        )


def set_days(bursts: Sequence[Burst]) -> None:
    """Set the day of each burst in the reader's zone."""
    for burst in bursts:
        burst.day = timezone.localtime(burst.newest.at).date()

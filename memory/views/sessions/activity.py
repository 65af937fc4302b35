"""Activity: what was done and learned, by day, agent and session; a burst of commits is one line."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memory.answers import commits as commit_shapes
from memory.engines.branches.feed import Burst, FeedEngine
from memory.engines.fields.filters import one_of, recorded
from memory.engines.fields.types import OpenChoice, Reference
from memory.models import Commit
from memory.operations.action_labels import ACTION_LABELS
from memory.operations.base import Answer, Operation
from memory.views.frame.frames import add_page
from memory.views.frame.view_context import ViewContext
from memory.views.generic.list_page import ListPage
from memory.views.text.labels import FIELDS

MAX_BURSTS = 30  # on a page


BURSTS = Operation(
    "list",
    FeedEngine().list_bursts,
    "List what was done, newest first",
    Answer(commit_shapes.CommitDetailShape, commit_shapes.commit_detail),
    filters=(
        one_of("agent_id", Reference(200), "What this agent did."),
        one_of("session_id", Reference(200), "What was done in this session."),
        one_of("kind", OpenChoice([(name, name) for name in ACTION_LABELS]), "Actions of this kind."),
        *recorded("What was"),
    ),
    without=("until",),
)


@add_page("activity", "activity")
class Activity(ListPage):
    """The feed of all branches; of one where the address names it."""

    reads_past = True
    template_name = "activity.html"
    section = "activity"
    is_live = spans_branches = True
    title = _("Activity")
    operation, words = BURSTS, ACTION_LABELS
    page_size = MAX_BURSTS
    labels = {
        "agent_id": _("Agent"),
        "session_id": _("Session"),
        "kind": _("Action"),
        "after": FIELDS["after"],
        "before": FIELDS["before"],
    }
    extra_context = {
        "lead": _("What was done and learned, the newest first."),
        "search": _("Filters, such as agent:NAME or session:42"),
        "drawing": "clock",
        "none_fits": _("Nothing that was done until this time fits."),
        "none_yet": _(
            "No activity yet. What agents and people write appears here as it happens; connect an"
            " agent, or write a first fact:"
        ),
        "show_all": _("Show all activity"),
    }

    def list_results(self, page: Any) -> list[Commit]:
        """Return the commits: a file has no bursts."""
        return [commit for burst in page.results for commit in burst.commits]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(only=self.branch_name, **kwargs)

    @property
    def branch_name(self) -> str:
        """Return the branch that the address asks for; "" for all."""
        return self.reader.branch.name if self.request.GET.get("branch") else ""

    @property
    def place(self) -> dict[str, Any]:
        until = None if self.reader.is_now else self.reader.moment
        return {"actor": self.reader.actor, "branch_name": self.branch_name, "until": until}

    def list_rows(self, filters: Mapping[str, Any]) -> Any:
        page = super().list_rows(filters)
        describe_bursts(page.results, self.reader)
        return page


def describe_bursts(bursts: Sequence[Burst], reader: ViewContext) -> None:
    """Set the day of each burst in the reader's zone, and load the titles of their sessions."""
    reader.name_sessions(burst.newest.session_id for burst in bursts)
    for burst in bursts:
        burst.day = timezone.localtime(burst.newest.at).date()

"""The list of ratings by judges, with their state, result and cost."""

from django.utils.translation import gettext_lazy as lazy

from curation.models import Scoring
from curation.operations.scorings import SCORINGS
from memory.views.generic.list_page import ListPage


class Scorings(ListPage):
    """The ratings, newest first."""

    operation, words = SCORINGS["list"], dict(Scoring.State.choices)
    template_name = "scorings.html"
    list_page = "scorings"
    section, scope, title = "conversations", "curate", lazy("Ratings of conversations")
    extra_context = {
        "lead": lazy("What judges were asked, what they gave, and what that cost."),
        "search": lazy("Filters, such as state:done"),
        "drawing": "chart",
        "none_fits": lazy("No rating matches."),
        "show_all": lazy("Show all ratings"),
        "none_yet": lazy(
            "No conversation was rated yet. Open one and choose Ask the judges, or have a replay rated at its"
            " end."
        ),
    }

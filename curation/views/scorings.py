"""The list of ratings by judges, with their state, result and cost."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as lazy

from curation.answers.scores import ScoringShape, render_scoring
from curation.engines.orders import SCORINGS
from curation.engines.scoring.engine import ScoringEngine
from curation.filters import ScoringFilterSet
from curation.models import Scoring
from memory.views.token_list import TokenList

scoring_engine = ScoringEngine()


class Scorings(TokenList):
    """The ratings, newest first."""

    filters = ScoringFilterSet
    template_name = "scorings.html"
    order, list_page = SCORINGS, "scorings"
    export_shape, render_row = ScoringShape, staticmethod(render_scoring)
    section, scope, title = "conversations", "curate", lazy("Ratings of conversations")
    extra_context = {
        "lead": lazy("What judges were asked, what they gave, and what that cost."),
        "search": lazy("Filters, such as state:done"),
        "drawing": "chart",
        "none_fits": lazy("No rating fits."),
        "show_all": lazy("Show all ratings"),
        "none_yet": lazy(
            "No conversation was rated yet. Open one and choose Ask the judges, or have a replay rated at its"
            " end."
        ),
    }

    @property
    def token_choices(self) -> Mapping[str, Mapping[str, Any]]:
        return {"state": dict(Scoring.State.choices)}

    def list_filtered(self, filters: Mapping[str, Any]) -> Any:
        return scoring_engine.list_scorings(actor=self.reader.actor, **filters, **self.paging())

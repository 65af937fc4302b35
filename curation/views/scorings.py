"""The list of ratings by judges, with their state, result and cost."""

from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as lazy

from curation.api.score_shapes import ScoringShape, render_scoring
from curation.engines.orders import SCORINGS
from curation.engines.scoring.engine import ScoringEngine
from memory.engines.support import validation as c
from memory.views.exports import ExportedList
from memory.views.filter_tokens import refuse_unknown

scoring_engine = ScoringEngine()


class Scorings(ExportedList):
    """The ratings, newest first; of one conversation where ?conversation= names it."""

    template_name = "scorings.html"
    order, list_page = SCORINGS, "scorings"
    export_shape, render_row = ScoringShape, staticmethod(render_scoring)
    section, scope, title = "conversations", "curate", lazy("Ratings of conversations")
    extra_context = {
        "lead": lazy("What judges were asked, what they gave, and what that cost."),
        "drawing": "chart",
        "none_yet": lazy(
            "No conversation was rated yet. Open one and choose Ask the judges, or have a replay rated at its"
            " end."
        ),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(page=self.load_exported(), **kwargs)

    def load_exported(self) -> Any:
        refuse_unknown(self.request, (), ["conversation"])
        return scoring_engine.list_scorings(
            actor=self.reader.actor, conversation_id=self.conversation_id or "", **self.paging()
        )

    @property
    def conversation_id(self) -> UUID | None:
        text = self.request.GET.get("conversation", "")
        return c.parse_uuid("conversation", text) if text else None

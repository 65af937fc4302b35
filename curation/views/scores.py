"""Scores of a conversation: a small chart for each dimension, the form for a person's, and the judges."""

from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from conversations.models import Conversation
from curation.engines.fields.scores import DIMENSION_WORDS
from curation.engines.scoring.engine import ScoringEngine
from curation.engines.scoring.summary import DimensionSummary
from curation.models import Score, Scoring
from curation.operations.conversations import CONVERSATIONS
from curation.operations.scores import SCORES
from curation.operations.scorings import SCORINGS
from memory.views.frame.view_context import ViewContext
from memory.views.generic.actions import Action, ActionPage, Caution
from memory.views.generic.list_page import ListPage

scoring_engine = ScoringEngine()
TARGET = Score.Target.CONVERSATION.value
WIDTH, HEIGHT, MARGIN = 160, 16, 4  # pixels of a chart
DIMENSION_TITLES: dict[str, Any] = dict(DIMENSION_WORDS)
GIVE = Action(
    SCORES["create"],
    lazy("Your score is kept."),
    fields=("dimension", "value", "explanation"),
    fixed={"target_type": TARGET},
)


def load_scores(reader: ViewContext, conversation: Conversation) -> dict[str, Any]:
    """Return what the page of a conversation tells of its scores."""
    summary = scoring_engine.summarize_scores(
        target_type=TARGET,
        target_id=conversation.uid,
        actor=reader.actor,
        branch_name=reader.branch.name,
    )
    scorings = scoring_engine.list_scorings(
        actor=reader.actor, conversation_id=conversation.uid, limit=1
    ).results
    return {
        "rows": [describe_dimension(one) for one in summary.dimensions],
        "guesses": summary.guesses,
        "scoring": scorings[0] if scorings else None,
        "is_open": bool(scorings) and scorings[0].state not in Scoring.ENDED,
        "is_rated": bool(scorings) and scorings[0].state == Scoring.State.DONE,
        "form": GIVE.build_form() if reader.allowed_now["curate"] else None,
        "uid": conversation.uid,
    }


def describe_dimension(one: DimensionSummary) -> dict[str, Any]:
    count = ngettext("{n} scorer", "{n} scorers", one.count).format(n=one.count)
    title = DIMENSION_TITLES.get(one.dimension, one.dimension)
    return {"title": title, "average": f"{one.average:.2f}", "count": count, "chart": draw_range(one)}


def draw_range(one: DimensionSummary) -> SafeString:
    """Draw the average of a dimension between the least and the greatest score, on a line from 0 to 1."""
    text = _("{average} on average, from {low} to {high}").format(
        average=f"{one.average:.2f}", low=f"{one.min:.2f}", high=f"{one.max:.2f}"
    )
    html = (
        '<svg class="range" viewBox="0 0 {} {}" role="img" aria-label="{}"><path class="axis" d="M{} 8H{}">'
        '</path><path class="spread" d="M{} 8H{}"></path><circle cx="{}" cy="8" r="4"></circle></svg>'
    )
    spread = [place_value(value) for value in (one.min, one.max, one.average)]
    return format_html(html, WIDTH, HEIGHT, text, MARGIN, WIDTH - MARGIN, *spread)


def place_value(value: float) -> str:
    return f"{MARGIN + value * (WIDTH - 2 * MARGIN):.1f}"


def tell_asked(row: Scoring) -> str:
    """Return what came of the wish that judges rate."""
    if row.method == Score.Method.HEURISTIC:
        return Caution(_("No judge is set: 0.5 in each dimension, which is no judgement."))
    if row.is_earlier:
        return Caution(_("They rated it already, and nothing was said since."))
    return _("Queued: the judges rate it.")


class ScoreConversation(ActionPage):
    """What the panel sends: a person's score, or the wish that judges rate."""

    scope, usual = "curate", "give"
    http_method_names = ["post"]
    warns = ("give", "judge", "again")
    actions = {
        "give": GIVE,
        "judge": Action(CONVERSATIONS["evaluate"], tell_asked),
        "again": Action(CONVERSATIONS["evaluate"], tell_asked, fixed={"again": True}),
    }

    def carry_out(self, name: str, values: dict[str, Any]) -> Any:
        target = {"target_id": self.kwargs["conversation_id"]} if name == "give" else {}
        return super().carry_out(name, values | target)

    def find_next(self, action: Action, result: Any) -> str:
        return f"{self.reader.url('conversation', self.kwargs['conversation_id'])}#scores"


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

"""Scores of a conversation: a small chart for each dimension, the form for a person's, and the judges."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from conversations.models import Conversation
from curation.engines.fields.scores import SCORE
from curation.engines.scoring.engine import ScoringEngine
from curation.engines.scoring.summary import DimensionSummary
from curation.models import Score, Scoring
from memory.exceptions import Day1Error
from memory.views.base import ProjectPage
from memory.views.error_text import error_sentence
from memory.views.flash import flash_success, flash_warning
from memory.views.view_context import ViewContext

scoring_engine = ScoringEngine()
TARGET = Score.Target.CONVERSATION.value
WIDTH, HEIGHT, MARGIN = 160, 16, 4  # pixels of a chart
DIMENSION_TITLES: dict[str, Any] = {
    "helpfulness": lazy("helpfulness"),
    "correctness": lazy("correctness"),
    "coherence": lazy("coherence"),
    "efficiency": lazy("efficiency"),
    "safety": lazy("safety"),
    "instruction_following": lazy("instruction following"),
    "creativity": lazy("creativity"),
    "completeness": lazy("completeness"),
}


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
        "form": build_form() if reader.allowed_now["curate"] else None,
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


def build_form(data: Any = None) -> forms.Form:
    """Return the form of a person's score."""
    form = forms.Form(data)
    choices = list(DIMENSION_TITLES.items())
    form.fields["dimension"] = forms.ChoiceField(label=SCORE["dimension"].label, choices=choices)
    number = forms.NumberInput({"min": 0, "max": 1, "step": "0.05", "required": True})
    form.fields["value"] = forms.CharField(
        label=SCORE["value"].label, widget=number, help_text=_("0 to 1, such as 0.8.")
    )
    why = forms.TextInput({"dir": "auto", "maxlength": 500})
    form.fields["explanation"] = forms.CharField(label=SCORE["explanation"].label, required=False, widget=why)
    return form


class ScoreConversation(ProjectPage):
    """What the panel sends: a person's score, or the wish that judges rate."""

    scope = "curate"
    http_method_names = ["post"]

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        uid = self.kwargs["conversation_id"]
        try:
            self._give_score(uid) if (do := request.POST.get("do", "")) == "" else self._ask_judges(uid, do)
        except Day1Error as error:
            if error.status == 404:
                raise
            flash_warning(request, error_sentence(error))
        return redirect(f"{self.reader.url('conversation', uid)}#scores")

    def _ask_judges(self, uid: Any, do: str) -> None:
        row = scoring_engine.start_scoring(conversation_id=uid, again=do == "again", **self.reader.write_args)
        if row.method == Score.Method.HEURISTIC:
            flash_warning(self.request, _("No judge is set: 0.5 in each dimension, which is no judgement."))
        elif row.is_earlier:
            flash_warning(self.request, _("They rated it already, and nothing was said since."))
        else:
            flash_success(self.request, _("Queued: the judges rate it."))

    def _give_score(self, uid: Any) -> None:
        typed = {
            name: self.request.POST.get(name, "").strip() for name in ("dimension", "value", "explanation")
        }
        fields: dict[str, Any] = {name: text for name, text in typed.items() if text}
        if "value" in fields:
            fields["value"] = read_number(fields["value"])
        scoring_engine.create_score(target_type=TARGET, target_id=uid, **self.reader.write_args, **fields)
        flash_success(self.request, _("Your score is kept."))


def read_number(text: str) -> Any:
    """Return the number that was typed; the engine refuses a text that is none."""
    try:
        return float(text)
    except ValueError:
        return text

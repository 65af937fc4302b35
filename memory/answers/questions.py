"""What is answered of saved questions."""

from typing import Any

from rest_framework import serializers as s

from memory.answers import declared_serializers as d
from memory.answers.rendering import build_renderer
from memory.engines.fields.base import Use
from memory.engines.fields.questions import EVAL, QUESTION
from memory.models.questions import EvalRun, Question


@d.declare_fields(QUESTION.select_fields(Use.ANSWER))
class SavedQuestionShape(d.AnswerShape):
    """A saved question and the facts that a search should find."""


class SavedQuestionsShape(s.Serializer):
    """The saved questions in the order given."""

    results = SavedQuestionShape(many=True)
    created = s.IntegerField(help_text="How many are new: what the branch has already is not saved twice.")


render = build_renderer(SavedQuestionShape)


def render_saved(done: tuple[list[Question], int]) -> dict[str, Any]:
    """Return several questions, and how many of them are new."""
    rows, created = done
    return {"results": [render(row) for row in rows], "created": created}


# ---- runs ----------------------------------------------------------------------------------------------


@d.declare_fields(EVAL.select_fields(Use.VERSION))
class EvalShape(d.AnswerShape):
    """A run of all questions."""


@d.declare_fields(EVAL.select_fields(Use.ANSWER))
class EvalDetailShape(d.AnswerShape):
    """A run with the ranks of each question."""


_render_run, _render_detail = build_renderer(EvalShape, "against"), build_renderer(EvalDetailShape, "against")


def render_eval(run: EvalRun) -> dict[str, Any]:
    return _render_run(run, against=run.against or None)


def render_eval_detail(run: EvalRun) -> dict[str, Any]:
    return _render_detail(run, against=run.against or None)

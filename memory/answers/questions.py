"""What is answered of saved questions."""

from typing import Any

from rest_framework import serializers as s

from memory.answers import declared_serializers as d
from memory.answers.rendering import build_renderer
from memory.engines.fields.base import Use
from memory.engines.fields.questions import QUESTION
from memory.models.questions import Question


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

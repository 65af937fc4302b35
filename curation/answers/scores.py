"""What is answered of scores and scorings."""

from typing import Any

from curation.engines.fields.scores import SCORE, SCORING
from curation.models import Score, Scoring
from memory.answers import declared_serializers as d
from memory.answers.rendering import build_renderer
from memory.engines.fields.base import Use


@d.declare_fields(SCORE.select_fields(Use.ANSWER))
class GivenScoreShape(d.AnswerShape):
    """A score, as it is read."""


@d.declare_fields(SCORING.select_fields(Use.ANSWER))
class ScoringShape(d.AnswerShape):
    """A rating of a conversation by judges."""

    scores = GivenScoreShape(many=True, help_text="The median of the votes; empty until it is done.")


_score = build_renderer(GivenScoreShape, "branch")
_scoring = build_renderer(ScoringShape, "branch", "scores")


def render_score(row: Score) -> dict[str, Any]:
    return _score(row, branch=row.branch.name if row.branch else "")


def render_scoring(row: Scoring) -> dict[str, Any]:
    return _scoring(row, branch=row.branch.name, scores=[_own_score(row, one) for one in row.scores.all()])


def _own_score(row: Scoring, one: Score) -> dict[str, Any]:
    return _score(one, branch=row.branch.name)

"""What is answered of scores and scorings."""

from typing import Any

from rest_framework import serializers as s

from curation.engines.fields.scores import SCORE, SCORING
from curation.engines.scoring.summary import ScoreSummary
from curation.models import Score, Scoring
from memory.answers import declared_serializers as d
from memory.answers.rendering import build_renderer
from memory.engines.fields.base import Use

NO_JUDGEMENT = "Left out of them: scores of a heuristic, which are no judgement."


@d.declare_fields(SCORE.select_fields(Use.ANSWER))
class GivenScoreShape(d.AnswerShape):
    """A score, as it is read."""


@d.declare_fields(SCORING.select_fields(Use.ANSWER))
class ScoringShape(d.AnswerShape):
    """A rating of a conversation by judges."""

    scores = GivenScoreShape(many=True, help_text="The median of the votes; empty until it is done.")


class DimensionSummaryShape(s.Serializer):
    """What judges and people give in one dimension."""

    dimension = s.CharField()
    count = s.IntegerField()
    average = s.FloatField()
    min = s.FloatField()
    max = s.FloatField()


class ScoreSummaryShape(s.Serializer):
    """The scores of a target; the newest of each scorer counts, a key or a person once."""

    dimensions = DimensionSummaryShape(many=True)
    guesses = s.IntegerField(help_text=NO_JUDGEMENT)
    warning = s.CharField(help_text="Empty, or that nobody has judged yet.")


_score = build_renderer(GivenScoreShape, "branch")
_scoring = build_renderer(ScoringShape, "branch", "scores")
_dimension = build_renderer(DimensionSummaryShape)


def render_score(row: Score) -> dict[str, Any]:
    return _score(row, branch=row.branch.name if row.branch else "")


def render_scoring(row: Scoring) -> dict[str, Any]:
    return _scoring(row, branch=row.branch.name, scores=[_own_score(row, one) for one in row.scores.all()])


def _own_score(row: Scoring, one: Score) -> dict[str, Any]:
    return _score(one, branch=row.branch.name)


def render_summary(found: ScoreSummary) -> dict[str, Any]:
    only_guesses = found.guesses and not found.dimensions
    return {
        "dimensions": [_dimension(one) for one in found.dimensions],
        "guesses": found.guesses,
        "warning": "A heuristic alone gave scores, which are no judgement." if only_guesses else "",
    }

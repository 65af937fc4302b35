"""What may be done with scores of facts and conversations."""

from curation.answers import scores as shapes
from curation.engines.fields.scores import SCORE, SCORE_FILTERS
from curation.engines.scoring.engine import ScoringEngine
from curation.engines.scoring.summary import ScoreSummary
from curation.models import Score
from memory.answers.derived import derive_shape, render_derived
from memory.engines.fields.base import Use
from memory.operations.base import Answer, Resource, Row

engine = ScoringEngine()
ROW = Answer(shapes.GivenScoreShape, shapes.render_score)

SCORES = Resource("scores", "score", row=Row("score_id", "pk", "uuid"), model=Score)
SCORES.add(
    "create",
    engine.create_score,
    "Give a fact or a conversation a score",
    ROW,
    body="ScoreInput",
    about="A score of a person or of an outside judge.",
    fields=SCORE.select_fields(Use.CREATE),
)
SCORES.add(
    "list",
    engine.list_scores,
    "List the scores of a fact or a conversation, newest first",
    ROW,
    fields=(SCORE["target_type"], SCORE["target_id"]),
    filters=SCORE_FILTERS,
)
SCORES.add_read(
    "summary",
    engine.summarize_scores,
    "Count, average, least and greatest score in each dimension",
    Answer(derive_shape(ScoreSummary), render_derived),
    of_row=False,
    path="summary/<target_type>/<uuid:target_id>",
)

"""What may be done with ratings of conversations by judges."""

from curation.answers import scores as shapes
from curation.engines.fields.scores import SCORING_FILTERS
from curation.engines.orders import SCORINGS as ORDER
from curation.engines.scoring.engine import ScoringEngine
from curation.models import Scoring
from memory.operations.base import Answer, Resource, Row

engine = ScoringEngine()
ROW = Answer(shapes.ScoringShape, shapes.render_scoring)

SCORINGS = Resource("scorings", "scoring", row=Row("scoring_id", "pk", "uuid"), model=Scoring)
SCORINGS.add(
    "list",
    engine.list_scorings,
    "List ratings of conversations, newest first",
    ROW,
    filters=SCORING_FILTERS,
    order=ORDER,
)
SCORINGS.add("retrieve", engine.get_scoring, "Read a rating of a conversation", ROW)

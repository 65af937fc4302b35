"""What curation adds to conversations: judges rate them."""

from conversations.operations.conversations import CONVERSATIONS
from curation.answers import scores as shapes
from curation.engines.fields.scores import SCORING
from curation.engines.scoring.engine import ScoringEngine
from curation.models import Scoring
from memory.engines.fields.base import Use
from memory.operations.base import Answer


def choose_code(row: Scoring) -> int:
    """Return 200 for an earlier rating, 201 for one that has ended, 202 while judges are at it."""
    return 200 if row.is_earlier else 201 if row.state in Scoring.ENDED else 202


CONVERSATIONS.add(
    "evaluate",
    ScoringEngine().start_scoring,
    "Have judges rate a conversation: 202 while they are at it, 200 where they had rated it before",
    Answer(shapes.ScoringShape, shapes.render_scoring, codes=(200, 201, 202), choose_code=choose_code),
    body="EvaluateInput",
    about="How a conversation is rated by judges.",
    fields=SCORING.select_fields(Use.CREATE),
    in_query=("wait",),
)

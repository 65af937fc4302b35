"""What may be done with ratings of conversations by judges."""

from django.utils.translation import gettext_lazy as _

from curation.answers import scores as shapes
from curation.engines.fields.scores import SCORING_FILTERS
from curation.engines.orders import SCORINGS as ORDER
from curation.engines.scoring.engine import ScoringEngine
from curation.models import Scoring
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column

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
SCORINGS.show(
    "list",
    Column("id", head="id"),
    Column("conversation_id", _("Conversation"), "conversation", order="created_at", tone="text"),
    Column("state", _("State"), "state", "word"),
    Column("average", _("Average"), "average", "share"),
    Column("judges", _("Judges"), kind="names"),
    Column("calls", _("Calls"), kind="number"),
    Column("input_tokens", _("Tokens"), kind="number"),
    Column("branch", _("Branch"), of="branch.name"),
    Column("created_by", _("By"), "by"),
    Column("created_at", head="begun", kind="time"),
)
SCORINGS.add("retrieve", engine.get_scoring, "Read a rating of a conversation", ROW)

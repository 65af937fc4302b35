"""/conversations/ID/evaluate: have judges rate a conversation."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.conversations import ConversationViewSet
from curation.answers import scores as shapes
from curation.api.facts import WAIT, check_wait
from curation.engines.fields.scores import SCORING
from curation.engines.scoring.engine import ScoringEngine
from curation.models import Scoring
from memory.api.base import get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import document_routes, route
from memory.engines.fields.base import Use
from memory.engines.support import validation as c
from memory.operations.inputs import Input, parse_id, parse_integer

scoring_engine = ScoringEngine()
ROUTES = {
    "ScoredConversationViewSet": {
        "evaluate": route(
            "Have judges rate a conversation: 202 while they are at it, 200 where they had rated it before",
            {200: shapes.ScoringShape, 201: shapes.ScoringShape, 202: shapes.ScoringShape},
            shapes.EvaluateInput,
            [WAIT],
        )
    }
}


@serve_at("conversations", "conversation")
@document_routes(ROUTES, shapes)
class ScoredConversationViewSet(ConversationViewSet):
    @action(detail=True, methods=["post"])
    def evaluate(self, request: Request, pk: str) -> Response:
        uid, payload, actor = parse_id(pk), Input(request), get_request_actor(request)
        branch = payload.take_branch()
        wait = check_wait(payload.take_value("wait", parse_integer, 0))
        again = payload.take_value("again", c.check_boolean, False)
        options = payload.take_fields(SCORING.field_names(Use.CREATE))
        row = scoring_engine.start_scoring(
            conversation_id=uid, actor=actor, branch_name=branch, again=again, **options
        )
        # See facts.py: a repeatable request is stored before a worker can see it.
        if wait and "Idempotency-Key" not in request.headers:
            row = scoring_engine.wait_for_scoring(scoring_id=row.pk, actor=actor, seconds=wait)
        return Response(shapes.render_scoring(row), status=choose_status(row))


def choose_status(row: Scoring) -> int:
    """Return 200 for an earlier rating, 201 for one that has ended, 202 while judges are at it."""
    return 200 if row.is_earlier else 201 if row.state in Scoring.ENDED else 202

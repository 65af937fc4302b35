"""/scores: give one, list and summarize those of a fact or a conversation."""

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from curation.answers import scores as shapes
from curation.engines.fields.scores import SCORE, SCORE_FILTERS
from curation.engines.scoring.engine import ScoringEngine
from curation.filters import ScoreFilterSet
from memory.answers.rendering import page_shape
from memory.api.base import ResourceViewSet, build_row_response, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import (
    BRANCH,
    KINDS,
    PAGING,
    document_routes,
    list_filter_parameters,
    page,
    query,
    route,
)
from memory.engines.fields.base import Use
from memory.engines.support import validation as c
from memory.operations.inputs import Input, parse_id

scoring_engine = ScoringEngine()
ROUTES = {
    "ScoreViewSet": {
        "create": route(
            "Give a fact or a conversation a score", {201: shapes.GivenScoreShape}, shapes.ScoreInput
        ),
        "list": route(
            "List the scores of a fact or a conversation, newest first",
            {200: page(shapes.GivenScoreShape)},
            None,
            [
                query("target_type", KINDS, "What was rated.", required=True),
                query("target_id", {"type": "string", "format": "uuid"}, "Its id.", required=True),
                BRANCH,
                *list_filter_parameters(ScoreFilterSet),
                *PAGING,
            ],
        ),
        "summary": route(
            "Count, average, least and greatest score in each dimension",
            {200: shapes.ScoreSummaryShape},
            None,
            [BRANCH],
        ),
    }
}


@serve_at("scores", "score")
@document_routes(ROUTES, shapes)
class ScoreViewSet(ResourceViewSet):
    filterset_class = ScoreFilterSet

    def create(self, request: Request) -> Response:
        payload = Input(request)
        branch, actor = payload.take_branch(), get_request_actor(request)
        target_type = payload.take_needed("target_type", c.plain_text)
        target_id = payload.take_needed("target_id", c.parse_uuid)
        fields = payload.take_fields(SCORE.field_names(Use.CREATE))
        row = scoring_engine.create_score(
            target_type=target_type, target_id=target_id, actor=actor, branch_name=branch, **fields
        )
        return build_row_response(shapes.render_score(row), 201)

    def list(self, request: Request) -> Response:
        payload = Input(request)
        branch, paging = payload.take_branch(), payload.take_paging()
        target = {
            "target_type": payload.take_needed("target_type", c.plain_text),
            "target_id": payload.take_needed("target_id", c.parse_uuid),
        }
        filters = payload.take_filters(SCORE_FILTERS)
        payload.refuse_unknown()
        where: dict[str, Any] = {"actor": get_request_actor(request), "branch_name": branch}
        found = scoring_engine.list_scores(**target, **where, **filters, **paging)
        return Response(page_shape(found, shapes.render_score))

    @action(detail=False, methods=["get"], url_path="summary/(?P<target_type>[^/]+)/(?P<target>[^/]+)")
    def summary(self, request: Request, target_type: str, target: str) -> Response:
        target_id, payload = parse_id(target), Input(request)
        branch = payload.take_branch()
        payload.refuse_unknown()
        found = scoring_engine.summarize_scores(
            target_type=target_type,
            target_id=target_id,
            actor=get_request_actor(request),
            branch_name=branch,
        )
        return Response(shapes.render_summary(found))

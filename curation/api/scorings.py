"""/scorings: ratings of conversations by judges, and how far they are."""

from rest_framework.request import Request
from rest_framework.response import Response

from curation.answers import scores as shapes
from curation.engines.fields.scores import SCORING_FILTERS
from curation.engines.orders import SCORINGS
from curation.engines.scoring.engine import ScoringEngine
from curation.filters import ScoringFilterSet
from memory.answers.rendering import page_shape
from memory.api.base import ResourceViewSet, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import document_routes, list_filter_parameters, page, paging_by, route
from memory.operations.inputs import Input, parse_id

scoring_engine = ScoringEngine()
ROUTES = {
    "ScoringViewSet": {
        "list": route(
            "List ratings of conversations, newest first",
            {200: page(shapes.ScoringShape)},
            None,
            [*list_filter_parameters(ScoringFilterSet), *paging_by(SCORINGS)],
        ),
        "retrieve": route("Read a rating of a conversation", {200: shapes.ScoringShape}),
    }
}


@serve_at("scorings", "scoring")
@document_routes(ROUTES, shapes)
class ScoringViewSet(ResourceViewSet):
    lookup_value_regex = "[^/]+"
    filterset_class = ScoringFilterSet

    def list(self, request: Request) -> Response:
        payload = Input(request)
        paging = payload.take_paging(order=SCORINGS)
        filters = payload.take_filters(SCORING_FILTERS)
        payload.refuse_unknown()
        found = scoring_engine.list_scorings(actor=get_request_actor(request), **filters, **paging)
        return Response(page_shape(found, shapes.render_scoring))

    def retrieve(self, request: Request, pk: str) -> Response:
        Input(request).refuse_unknown()
        row = scoring_engine.get_scoring(scoring_id=parse_id(pk), actor=get_request_actor(request))
        return Response(shapes.render_scoring(row))

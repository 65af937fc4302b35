"""What has no form of an operation at /observations: the search of texts."""

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import capture as shapes
from memory.api.base import get_request_actor
from memory.api.operations import build_view
from memory.api.routes import serve_at
from memory.api.schema import LOOKING, list_filter_parameters, route
from memory.engines.sessions.observations import ObservationFilter
from memory.filters import ObservationFilterSet
from memory.operations.inputs import Input
from memory.operations.observations import OBSERVATIONS, engine
from memory.operations.search_inputs import parse_text_search

DeclaredView: Any = build_view(OBSERVATIONS)
FILTERS = list_filter_parameters(ObservationFilterSet)


@serve_at("observations", "observation")
class ObservationViewSet(DeclaredView):
    @route("Search observations", {200: shapes.ObservationsFoundShape}, None, [*LOOKING, *FILTERS])
    @action(detail=False, methods=["get"])
    def search(self, request: Request) -> Response:
        payload = Input(request)
        branch, query, options = parse_text_search(payload)
        filters = ObservationFilter.from_values(payload.take_unchecked(ObservationFilterSet.base_filters))
        payload.refuse_unknown()
        found = engine.search_observations(
            query=query, actor=get_request_actor(request), branch_name=branch, filters=filters, **options
        )
        return Response(shapes.observations_found(found, branch))

"""/observations: record, read, list, search."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import capture as shapes
from memory.answers.rendering import page_shape
from memory.api.base import ResourceViewSet, build_row_response, get_request_actor
from memory.api.capture_schema import documented
from memory.api.routes import serve_at
from memory.engines.sessions.observations import ObservationEngine, ObservationFilter
from memory.engines.support.ordering import BY_AGE
from memory.filters import ObservationFilterSet
from memory.operations.inputs import Input, parse_id, parse_point
from memory.operations.search_inputs import parse_text_search

observation_engine = ObservationEngine()


@serve_at("observations", "observation")
@documented
class ObservationViewSet(ResourceViewSet):
    lookup_value_regex = "[^/]+"
    filterset_class = ObservationFilterSet

    def create(self, request: Request) -> Response:
        payload = Input(request)
        branch, actor = payload.take_branch(), payload.take_actor(get_request_actor(request))
        row = observation_engine.write_observation(actor=actor, branch_name=branch, **payload.take_fields())
        return build_row_response(shapes.observation(row, branch=branch), 201)

    def list(self, request: Request) -> Response:
        return self._list_rows(request, timeline=False)

    @action(detail=False, methods=["get"])
    def timeline(self, request: Request) -> Response:
        return self._list_rows(request, timeline=True)

    @action(detail=False, methods=["get"])
    def search(self, request: Request) -> Response:
        payload = Input(request)
        branch, query, options = parse_text_search(payload)
        filters = ObservationFilter.from_values(payload.take_unchecked(ObservationFilterSet.base_filters))
        payload.refuse_unknown()
        found = observation_engine.search_observations(
            query=query, actor=get_request_actor(request), branch_name=branch, filters=filters, **options
        )
        return Response(shapes.observations_found(found, branch))

    def _list_rows(self, request: Request, timeline: bool) -> Response:
        payload = Input(request)
        branch = payload.take_branch()
        paging = payload.take_paging(order=None if timeline else BY_AGE)
        where = {} if timeline else {"at": payload.take_value("at", parse_point)}
        filters = payload.take_unchecked(ObservationFilterSet.base_filters)
        payload.refuse_unknown()
        who = {"actor": get_request_actor(request), "branch_name": branch, **paging}
        if timeline:
            found = observation_engine.list_timeline(**who, **filters)
        else:
            found = observation_engine.list_observations(
                **who, **where, filters=ObservationFilter.from_values(filters)
            )
        return Response(page_shape(found, lambda row: shapes.observation(row, branch=branch)))

    def retrieve(self, request: Request, pk: str) -> Response:
        uid, payload = parse_id(pk), Input(request)
        branch, at = payload.take_branch(), payload.take_value("at", parse_point)
        payload.refuse_unknown()
        row = observation_engine.get_observation(
            observation_id=uid, actor=get_request_actor(request), branch_name=branch, at=at
        )
        return build_row_response(shapes.observation(row, branch=branch))

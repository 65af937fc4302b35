"""/observations: recorded, read, listed along time."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api import capture_shapes as shapes
from memory.api.base import Resource, actor_of, one
from memory.api.capture_filters import ObservationFilterSet
from memory.api.capture_schema import documented
from memory.api.reading import Input, identity, point
from memory.api.searches import looking
from memory.api.shapes import page
from memory.engines.observations import ObservationEngine, ObservationFilter

ENGINE = ObservationEngine()


@documented
class ObservationViewSet(Resource):
    lookup_value_regex = "[^/]+"
    filterset_class = ObservationFilterSet

    def create(self, request: Request) -> Response:
        given = Input(request)
        branch, actor = given.branch(), given.actor(actor_of(request))
        row = ENGINE.write_observation(actor=actor, branch_name=branch, **given.fields())
        return one(shapes.observation(row, branch=branch), 201)

    def list(self, request: Request) -> Response:
        return self._listed(request, timeline=False)

    @action(detail=False, methods=["get"])
    def timeline(self, request: Request) -> Response:
        return self._listed(request, timeline=True)

    @action(detail=False, methods=["get"])
    def search(self, request: Request) -> Response:
        given = Input(request)
        branch, query, how = looking(given)
        filters = ObservationFilter.of(given.some(ObservationFilterSet.base_filters))
        given.end()
        found = ENGINE.search_observations(
            query=query, actor=actor_of(request), branch_name=branch, filters=filters, **how
        )
        return Response(shapes.observations_found(found, branch))

    def _listed(self, request: Request, timeline: bool) -> Response:
        given = Input(request)
        branch, paging = given.branch(), given.paging()
        where = {} if timeline else {"at": given.take("at", point)}
        filters = given.some(ObservationFilterSet.base_filters)
        given.end()
        who = {"actor": actor_of(request), "branch_name": branch, **paging}
        if timeline:
            found = ENGINE.timeline(**who, **filters)
        else:
            found = ENGINE.list_observations(**who, **where, filters=ObservationFilter.of(filters))
        return Response(page(found, lambda row: shapes.observation(row, branch=branch)))

    def retrieve(self, request: Request, pk: str) -> Response:
        uid, given = identity(pk), Input(request)
        branch, at = given.branch(), given.take("at", point)
        given.end()
        row = ENGINE.get_observation(observation_id=uid, actor=actor_of(request), branch_name=branch, at=at)
        return one(shapes.observation(row, branch=branch))

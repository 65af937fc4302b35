"""/relations: the knowledge graph, stated, walked, closed."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api import capture_shapes as shapes
from memory.api.base import Resource, actor_of, one
from memory.api.capture_filters import RelationFilterSet
from memory.api.capture_schema import documented
from memory.api.reading import Input, identity, point, whole
from memory.api.shapes import page
from memory.engines import cleaning as c
from memory.engines.relations import RelationEngine
from memory.exceptions import Invalid

ENGINE = RelationEngine()
NEEDED = ("source_entity", "relation_type", "target_entity")


@documented
class RelationViewSet(Resource):
    lookup_value_regex = "[^/]+"
    filterset_class = RelationFilterSet

    def create(self, request: Request) -> Response:
        given = Input(request)
        branch, actor = given.branch(), given.actor(actor_of(request))
        wanted = given.fields()
        for name in NEEDED:
            if name not in wanted:
                raise Invalid("{field} is needed.", field=name)
        done = ENGINE.write_relation(actor=actor, branch_name=branch, **wanted)
        row = {**shapes.relation(done.relation, branch=branch), "created": done.created}
        return one(row, 201 if done.created else 200)

    def list(self, request: Request) -> Response:
        given = Input(request)
        branch, at, paging = given.branch(), given.take("at", point), given.paging()
        wanted = {name: given.take(name, c.text(200), "") for name in ("source", "target", "relation_type")}
        open_only = given.take("open_only", c.boolean, False)
        given.end()
        found = ENGINE.list_relations(
            actor=actor_of(request), branch_name=branch, at=at, open_only=open_only, **wanted, **paging
        )
        return Response(page(found, lambda row: shapes.relation(row, branch=branch)))

    def retrieve(self, request: Request, pk: str) -> Response:
        uid, given = identity(pk), Input(request)
        branch, at = given.branch(), given.take("at", point)
        given.end()
        row = ENGINE.get_relation(relation_id=uid, actor=actor_of(request), branch_name=branch, at=at)
        return one(shapes.relation(row, branch=branch))

    @action(detail=False, methods=["get"])
    def graph(self, request: Request) -> Response:
        given = Input(request)
        branch, at = given.branch(), given.take("at", point)
        entity = given.take("entity", c.plain_text)
        kind, depth = given.take("relation_type", c.text(200), ""), given.take("depth", whole, 2)
        given.end()
        if entity is None:
            raise Invalid("{field} is needed.", field="entity")
        found = ENGINE.graph_query(
            entity=entity, actor=actor_of(request), branch_name=branch, relation_type=kind, depth=depth, at=at
        )
        return Response(shapes.graph(found, branch))

    @action(detail=True, methods=["post"])
    def close(self, request: Request, pk: str) -> Response:
        uid, given = identity(pk), Input(request)
        branch, actor = given.branch(), given.actor(actor_of(request))
        until = given.take("valid_until", c.moment)
        given.end()
        row = ENGINE.close_relation(relation_id=uid, actor=actor, branch_name=branch, valid_until=until)
        return one(shapes.relation(row, branch=branch))

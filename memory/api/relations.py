"""/relations: the knowledge graph: create, read, traverse, close."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import capture as shapes
from memory.answers.rendering import page_shape
from memory.api.base import ResourceViewSet, build_row_response, get_request_actor
from memory.api.capture_schema import documented
from memory.api.routes import serve_at
from memory.engines.graph.engine import RelationEngine
from memory.engines.support import validation as c
from memory.engines.support.ordering import BY_AGE
from memory.filters import RelationFilterSet
from memory.operations.inputs import Input, parse_id, parse_integer, parse_point

relation_engine = RelationEngine()
NEEDED = ("source_entity", "relation_type", "target_entity")


@serve_at("relations", "relation")
@documented
class RelationViewSet(ResourceViewSet):
    lookup_value_regex = "[^/]+"
    filterset_class = RelationFilterSet

    def create(self, request: Request) -> Response:
        payload = Input(request)
        payload.accept_alias("type", "relation_type")
        branch, actor = payload.take_branch(), payload.take_actor(get_request_actor(request))
        requested = payload.take_fields(needed=NEEDED)
        done = relation_engine.write_relation(actor=actor, branch_name=branch, **requested)
        row = {**shapes.relation(done.relation, branch=branch), "created": done.created}
        return build_row_response(row, 201 if done.created else 200)

    def list(self, request: Request) -> Response:
        payload = Input(request)
        payload.accept_alias("type", "relation_type")
        branch, at, paging = (
            payload.take_branch(),
            payload.take_value("at", parse_point),
            payload.take_paging(order=BY_AGE),
        )
        requested = {
            name: payload.take_value(name, c.text_check(200), "")
            for name in ("source", "target", "relation_type")
        }
        open_only = payload.take_value("open_only", c.check_boolean, False)
        payload.refuse_unknown()
        found = relation_engine.list_relations(
            actor=get_request_actor(request),
            branch_name=branch,
            at=at,
            open_only=open_only,
            **requested,
            **paging,
        )
        return Response(page_shape(found, lambda row: shapes.relation(row, branch=branch)))

    def retrieve(self, request: Request, pk: str) -> Response:
        uid, payload = parse_id(pk), Input(request)
        branch, at = payload.take_branch(), payload.take_value("at", parse_point)
        payload.refuse_unknown()
        row = relation_engine.get_relation(
            relation_id=uid, actor=get_request_actor(request), branch_name=branch, at=at
        )
        return build_row_response(shapes.relation(row, branch=branch))

    @action(detail=False, methods=["get"])
    def graph(self, request: Request) -> Response:
        payload = Input(request)
        payload.accept_alias("type", "relation_type")
        branch, at = payload.take_branch(), payload.take_value("at", parse_point)
        entity = payload.take_needed("entity", c.plain_text)
        kind = payload.take_value("relation_type", c.text_check(200), "")
        depth = payload.take_value("depth", parse_integer, 2)
        payload.refuse_unknown()
        found = relation_engine.graph_query(
            entity=entity,
            actor=get_request_actor(request),
            branch_name=branch,
            relation_type=kind,
            depth=depth,
            at=at,
        )
        return Response(shapes.graph_shape(found, branch))

    @action(detail=True, methods=["post"])
    def close(self, request: Request, pk: str) -> Response:
        uid, payload = parse_id(pk), Input(request)
        branch, actor = payload.take_branch(), payload.take_actor(get_request_actor(request))
        until = payload.take_value("valid_until", c.parse_time)
        payload.refuse_unknown()
        row = relation_engine.close_relation(
            relation_id=uid, actor=actor, branch_name=branch, valid_until=until
        )
        return build_row_response(shapes.relation(row, branch=branch))

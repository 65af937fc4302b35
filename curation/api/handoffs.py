"""/handoffs: create, list, read, accept, reject."""

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from curation.answers import handoffs as shapes
from curation.engines.fields.handoffs import HANDOFF_FILTERS
from curation.engines.handoffs.engine import HandoffEngine
from curation.engines.orders import HANDOFFS
from curation.filters import HandoffFilterSet
from memory.answers.rendering import page_shape
from memory.api.base import ResourceViewSet, build_row_response, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import document_routes, list_filter_parameters, page, paging_by, route
from memory.engines.support import validation as c
from memory.operations.inputs import Input, parse_id

handoff_engine = HandoffEngine()
FILTERS = list_filter_parameters(HandoffFilterSet)
ROUTES = {
    "HandoffViewSet": {
        "create": route("Hand over", {201: shapes.HandoffPacketShape}, shapes.HandoffInput),
        "list": route(
            "List handoffs, newest first",
            {200: page(shapes.HandoffShape)},
            None,
            [*FILTERS, *paging_by(HANDOFFS)],
        ),
        "retrieve": route("Read a handoff with its packet", {200: shapes.HandoffPacketShape}),
        "accept": route("Accept a handoff", {200: shapes.HandoffPacketShape}, shapes.HandoffAcceptInput),
        "reject": route("Reject a handoff", {200: shapes.HandoffShape}, shapes.HandoffRejectInput),
    }
}


@serve_at("handoffs", "handoff")
@document_routes(ROUTES, shapes)
class HandoffViewSet(ResourceViewSet):
    lookup_value_regex = "[^/]+"
    filterset_class = HandoffFilterSet

    def create(self, request: Request) -> Response:
        payload = Input(request)
        actor = payload.take_actor(get_request_actor(request))
        fields: Any = payload.take_fields()
        return build_row_response(
            shapes.render_packet(handoff_engine.create_handoff(actor=actor, **fields)), 201
        )

    def list(self, request: Request) -> Response:
        payload = Input(request)
        paging = payload.take_paging(order=HANDOFFS)
        filters = payload.take_filters(HANDOFF_FILTERS)
        payload.refuse_unknown()
        found = handoff_engine.list_handoffs(actor=get_request_actor(request), **filters, **paging)
        return Response(page_shape(found, shapes.render_handoff))

    def retrieve(self, request: Request, pk: str) -> Response:
        Input(request).refuse_unknown()
        row = handoff_engine.get_handoff(handoff_id=parse_id(pk), actor=get_request_actor(request))
        return Response(shapes.render_packet(row))

    @action(detail=True, methods=["post"])
    def accept(self, request: Request, pk: str) -> Response:
        payload = Input(request)
        actor = payload.take_actor(get_request_actor(request))
        payload.refuse_unknown()
        row = handoff_engine.accept_handoff(handoff_id=parse_id(pk), actor=actor)
        return Response(shapes.render_packet(row))

    @action(detail=True, methods=["post"])
    def reject(self, request: Request, pk: str) -> Response:
        payload = Input(request)
        actor = payload.take_actor(get_request_actor(request))
        reason = payload.take_value("reason", c.plain_text, "")
        payload.refuse_unknown()
        row = handoff_engine.reject_handoff(handoff_id=parse_id(pk), reason=reason, actor=actor)
        return Response(shapes.render_handoff(row))

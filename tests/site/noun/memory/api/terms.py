"""/terms: write, list."""

import sys

from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import declared_serializers as d
from memory.answers.rendering import page_shape
from memory.answers.terms import TermShape, render
from memory.api.base import Resource, build_row_response, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import PAGING, document_routes, page, route
from memory.engines.fields.base import Use
from memory.engines.fields.terms import TERM
from memory.engines.graph.terms import TermEngine
from memory.operations.inputs import Input

term_engine = TermEngine()


@d.declare_fields(TERM.select_fields(Use.CREATE))
class TermInput(d.RequestShape):
    """A new term."""


ROUTES = {
    "TermViewSet": {
        "create": route("Write a term", {201: TermShape}, TermInput),
        "list": route("List terms, newest first", {200: page(TermShape)}, None, PAGING),
    }
}


@serve_at("terms", "term")
@document_routes(ROUTES, sys.modules[__name__])
class TermViewSet(Resource):
    def create(self, request: Request) -> Response:
        fields = Input(request).take_fields()
        return build_row_response(
            render(term_engine.write_term(actor=get_request_actor(request), **fields)), 201
        )

    def list(self, request: Request) -> Response:
        payload = Input(request)
        paging = payload.take_paging()
        payload.refuse_unknown()
        return Response(
            page_shape(term_engine.list_terms(actor=get_request_actor(request), **paging), render)
        )

"""/erasures: preview, erase, list, read."""

from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import erasures as shapes
from memory.answers.rendering import page_shape
from memory.api.base import ResourceViewSet, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import document_routes, list_filter_parameters, page, paging_by, route
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.erasure.scopes import MAX_MATCH
from memory.engines.fields.erasures import ERASURE_FILTERS
from memory.engines.fields.orders import ERASURES
from memory.engines.support import validation as c
from memory.filters import ErasureFilterSet
from memory.models import Erasure
from memory.operations.inputs import Input, parse_id

erasure_engine = ErasureEngine()
PLAN_OR_RESULT = {200: shapes.ErasurePlanShape, 201: shapes.ErasureShape, 202: shapes.ErasureShape}
ROUTES = {
    "ErasureViewSet": {
        "create": route("Erase, or say what would be erased", PLAN_OR_RESULT, shapes.ErasureInput),
        "list": route(
            "List erasures, newest first",
            {200: page(shapes.ErasureShape)},
            None,
            [*list_filter_parameters(ErasureFilterSet), *paging_by(ERASURES)],
        ),
        "retrieve": route("Read an erasure, and check that it holds", {200: shapes.ErasureCheckShape}),
    },
}


@serve_at("erasures", "erasure")
@document_routes(ROUTES, shapes)
class ErasureViewSet(ResourceViewSet):
    lookup_value_regex = "[^/]+"
    filterset_class = ErasureFilterSet
    # No answer is stored: it would keep what is erased. A second erasure of the same is refused anyway.
    reads = True

    def create(self, request: Request) -> Response:
        payload, actor = Input(request), get_request_actor(request)
        fields = {
            "scope": payload.take_needed("scope", c.one_of(Erasure.Scope.values)),
            "target": payload.take_needed("target", c.text_check(MAX_MATCH, min_length=1)),
        }
        confirm = payload.take_value("confirm", c.text_check(200))
        # Who sends the name has read the preview, and must not take another one for the erasure.
        dry_run = payload.take_value("dry_run", c.check_boolean, confirm is None)
        drop_copies = payload.take_value("drop_copies", c.check_boolean, False)
        payload.refuse_unknown()
        if dry_run:
            plan = erasure_engine.preview_erasure(actor=actor, **fields)
            return Response(shapes.erasure_plan(plan))
        done = erasure_engine.erase(actor=actor, **fields, confirm=confirm or "", drop_copies=drop_copies)
        status = 201 if done.state == Erasure.State.DONE else 202
        return Response(shapes.erasure(done), status=status)

    def list(self, request: Request) -> Response:
        payload = Input(request)
        filters = payload.take_filters(ERASURE_FILTERS)
        paging = payload.take_paging(order=ERASURES)
        payload.refuse_unknown()
        page = erasure_engine.list_erasures(actor=get_request_actor(request), **filters, **paging)
        return Response(page_shape(page, shapes.erasure))

    def retrieve(self, request: Request, pk: str) -> Response:
        erasure_id = parse_id(pk)
        Input(request).refuse_unknown()
        found = erasure_engine.verify_erasure(erasure_id=erasure_id, actor=get_request_actor(request))
        return Response(shapes.erasure_check(found))

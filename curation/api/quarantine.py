"""/quarantine: preview, begin, list, read, release."""

import sys
from typing import Any

from rest_framework import serializers as s
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from curation.answers import quarantine as shapes
from curation.answers.quarantine import QuarantineDetailShape, QuarantineShape, render, render_detail
from curation.engines.fields.quarantines import QUARANTINE, QUARANTINE_FILTERS
from curation.engines.orders import QUARANTINES
from curation.engines.quarantine.engine import QuarantineEngine
from curation.filters import QuarantineFilterSet
from memory.answers import declared_serializers as d
from memory.answers.rendering import page_shape
from memory.api.base import ResourceViewSet, build_row_response, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import document_routes, list_filter_parameters, page, paging_by, route
from memory.engines.fields.base import Use
from memory.engines.support import validation as c
from memory.exceptions import Invalid
from memory.operations.inputs import Input, parse_id

quarantine_engine = QuarantineEngine()
FILTERS = list_filter_parameters(QuarantineFilterSet)


@d.declare_fields(QUARANTINE.select_fields(Use.CREATE))
class QuarantineInput(d.RequestShape):
    """A new quarantine."""

    dry_run = s.BooleanField(required=False, help_text="Only count what it would hide; nothing is hidden.")


ROUTES = {
    "QuarantineViewSet": {
        "create": route(
            "Put a source into quarantine, or preview that",
            {200: QuarantineDetailShape, 201: QuarantineDetailShape},
            QuarantineInput,
        ),
        "list": route(
            "List quarantines, newest first",
            {200: page(QuarantineShape)},
            None,
            [*FILTERS, *paging_by(QUARANTINES)],
        ),
        "retrieve": route("Read a quarantine", {200: QuarantineDetailShape}),
        "release": route("Release a quarantine", {200: QuarantineShape}),
    }
}


@serve_at("quarantine", "quarantine")
@document_routes(ROUTES, sys.modules[__name__], shapes)
class QuarantineViewSet(ResourceViewSet):
    filterset_class = QuarantineFilterSet
    lookup_value_regex = "[^/]+"

    def create(self, request: Request) -> Response:
        payload = Input(request)
        dry_run = payload.take_value("dry_run", c.check_boolean, False)
        fields: Any = payload.take_fields(QUARANTINE.field_names(Use.CREATE))
        for name in ("source", "target"):
            if fields.get(name) is None:
                raise Invalid("{field} is needed.", field=name)
        actor = get_request_actor(request)
        if dry_run:
            found = quarantine_engine.preview_quarantine(actor=actor, **fields)
            return Response(render_detail(found.quarantine, found.examples, dry_run=True))
        made = quarantine_engine.create_quarantine(actor=actor, **fields)
        facts = quarantine_engine.list_hidden(quarantine_id=made.pk, actor=actor)
        return build_row_response(render_detail(made, facts), 201)

    def list(self, request: Request) -> Response:
        payload = Input(request)
        paging = payload.take_paging(order=QUARANTINES)
        filters = payload.take_filters(QUARANTINE_FILTERS)
        payload.refuse_unknown()
        found = quarantine_engine.list_quarantines(actor=get_request_actor(request), **filters, **paging)
        return Response(page_shape(found, render))

    def retrieve(self, request: Request, pk: str) -> Response:
        where: dict[str, Any] = {"quarantine_id": parse_id(pk), "actor": get_request_actor(request)}
        Input(request).refuse_unknown()
        row = quarantine_engine.get_quarantine(**where)
        return build_row_response(render_detail(row, quarantine_engine.list_hidden(**where)))

    @action(detail=True, methods=["post"])
    def release(self, request: Request, pk: str) -> Response:
        quarantine_id = parse_id(pk)
        Input(request).refuse_unknown()
        row = quarantine_engine.release_quarantine(
            quarantine_id=quarantine_id, actor=get_request_actor(request)
        )
        return build_row_response(render(row))

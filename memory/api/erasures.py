"""What has no form of an operation at /erasures: an erasure, which answers otherwise where it only plans."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import erasures as shapes
from memory.api.base import get_request_actor
from memory.api.operation_views import build_view
from memory.api.routes import serve_at
from memory.api.schema import route
from memory.engines.erasure.scopes import MAX_MATCH
from memory.engines.support import validation as c
from memory.models import Erasure
from memory.operations.erasures import ERASURES, engine
from memory.operations.inputs import Input

DeclaredView: Any = build_view(ERASURES)


@serve_at("erasures", "erasure")
class ErasureViewSet(DeclaredView):
    # No answer is stored: it would keep what is erased. A second erasure of the same is refused anyway.
    reads = True

    @route(
        "Erase, or say what would be erased",
        {200: shapes.ErasurePlanShape, 201: shapes.ErasureShape, 202: shapes.ErasureShape},
        shapes.ErasureInput,
    )
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
            return Response(shapes.erasure_plan(engine.preview_erasure(actor=actor, **fields)))
        done = engine.erase(actor=actor, **fields, confirm=confirm or "", drop_copies=drop_copies)
        status = 201 if done.state == Erasure.State.DONE else 202
        return Response(shapes.erasure(done), status=status)

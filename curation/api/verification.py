"""/verification/batch: facts that are verified in the background, chosen by filters in an object."""

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from curation.answers import verification as shapes
from curation.api import requests as r
from curation.engines.selection import DEFAULT_LIMIT
from curation.engines.verification import VerificationEngine
from curation.operations.verification import VERIFICATION
from memory.api.base import get_request_actor
from memory.api.operations import build_view
from memory.api.routes import serve_at
from memory.api.schema import document_routes, route
from memory.engines.facts.filters import FactFilter
from memory.engines.support import validation as c
from memory.exceptions import Invalid
from memory.operations.inputs import Input, parse_ids, parse_integer

verification_engine = VerificationEngine()
ROUTES = {
    "VerificationViewSet": {
        "batch": route("Verify facts of a branch in the background", {202: shapes.JobShape}, r.BatchInput),
    },
}

DeclaredView: Any = build_view(VERIFICATION)


@serve_at("verification", "verification")
@document_routes(ROUTES, shapes, r)
class VerificationViewSet(DeclaredView):
    @action(detail=False, methods=["post"])
    def batch(self, request: Request) -> Response:
        payload = Input(request)
        branch, actor = payload.take_branch(), payload.take_actor(get_request_actor(request))
        numbers = {name: payload.take_value(name, parse_integer) for name in ("limit", "budget", "votes")}
        requested = {
            "filters": payload.take_value("filters", parse_filters),
            "fact_ids": payload.take_value("fact_ids", parse_ids, ()),
            "again": payload.take_value("again", c.check_boolean, False),
            **numbers,
            "limit": DEFAULT_LIMIT if numbers["limit"] is None else numbers["limit"],
        }
        payload.refuse_unknown()
        job = verification_engine.verify_batch(actor=actor, branch_name=branch, **requested)
        return Response(shapes.render_job(job), status=202)


def parse_filters(name: str, value: Any) -> FactFilter | None:
    """Parse the filters of a batch, as a list of facts takes them. Raises Invalid, UnknownField."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise Invalid("{field} must be an object.", field=name)
    return FactFilter.from_values(value)

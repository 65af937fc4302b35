"""/verification: batches, the merge gate, a branch's summary, the judge's agreement with people."""

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from curation.answers import verification as shapes
from curation.api import requests as r
from curation.engines.calibration import calibrate
from curation.engines.overview import check_merge_gate, summarize_branch
from curation.engines.selection import DEFAULT_LIMIT
from curation.engines.verification import VerificationEngine
from memory.api.base import ResourceViewSet, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import document_routes, page, route
from memory.engines.facts.filters import FactFilter
from memory.engines.support import validation as c
from memory.exceptions import Invalid
from memory.operations.inputs import Input, parse_ids, parse_integer

verification_engine = VerificationEngine()
NAME = c.text_check(200, min_length=1)
ROUTES = {
    "VerificationViewSet": {
        "batch": route("Verify facts of a branch in the background", {202: shapes.JobShape}, r.BatchInput),
        "merge_gate": route(
            "Check whether a merge passes the verification gate",
            {200: shapes.MergeReadinessShape},
            r.MergeGateInput,
        ),
        "summary": route("Count the facts of a branch by verdict", {200: shapes.SummaryShape}),
        "calibration": route(
            "Compare the judge with people's verdicts", {200: page(shapes.CalibrationShape)}
        ),
    },
}


@serve_at("verification", "verification")
@document_routes(ROUTES, shapes, r)
class VerificationViewSet(ResourceViewSet):
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

    @action(detail=False, methods=["post"], url_path="merge-gate")
    def merge_gate(self, request: Request) -> Response:
        payload = Input(request)
        source, target = (payload.take_value(f"{one}_branch", NAME) for one in ("source", "target"))
        wants = payload.take_value("require_verified", c.check_boolean, True)
        payload.refuse_unknown()
        if source is None:
            raise Invalid("{field} is needed.", field="source_branch")
        found = check_merge_gate(
            source_branch=source,
            target_branch=target or "",
            require_verified=wants,
            actor=get_request_actor(request),
        )
        return Response(shapes.render_readiness(found))

    @action(detail=False, methods=["get"], url_path="summary/(?P<name>.+?)")
    def summary(self, request: Request, name: str) -> Response:
        Input(request).refuse_unknown()
        found = summarize_branch(branch_name=name, actor=get_request_actor(request))
        return Response(shapes.render_summary(found))

    @action(detail=False, methods=["get"])
    def calibration(self, request: Request) -> Response:
        Input(request).refuse_unknown()
        return Response(shapes.calibrations_shape(calibrate(actor=get_request_actor(request))))


def parse_filters(name: str, value: Any) -> FactFilter | None:
    """Parse the filters of a batch, as a list of facts takes them. Raises Invalid, UnknownField."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise Invalid("{field} must be an object.", field=name)
    return FactFilter.from_values(value)

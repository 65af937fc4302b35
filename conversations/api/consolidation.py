"""/consolidation/runs: start, list, read, undo."""

import sys
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.answers import consolidation as shapes
from conversations.answers.consolidation import (
    ConsolidationDetailShape,
    ConsolidationShape,
    render,
    render_report,
)
from conversations.engines.consolidation.engine import CHECK_SHARE, ConsolidationEngine
from conversations.engines.consolidation.report import ConsolidationReport
from conversations.engines.fields import CONSOLIDATION, CONSOLIDATION_FILTERS
from conversations.engines.orders import RUNS
from conversations.filters import ConsolidationFilterSet
from conversations.models import ConsolidationRun
from memory.answers import declared_serializers as d
from memory.answers.rendering import page_shape
from memory.api.base import ResourceViewSet, build_row_response, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import document_routes, list_filter_parameters, page, paging_by, route
from memory.engines.facts.bulk_actions import MAX_FACTS
from memory.engines.fields.base import Use
from memory.engines.support import validation as c
from memory.exceptions import Invalid
from memory.operations.inputs import Input, parse_id, parse_ids

consolidation_engine = ConsolidationEngine()
FILTERS = list_filter_parameters(ConsolidationFilterSet)
COUNT = c.integer_check(0, 2**53)
CHECKS = CONSOLIDATION.field_checks(Use.CREATE)


@d.declare_fields(CONSOLIDATION.select_fields(Use.CREATE))
class ConsolidationInput(d.RequestShape):
    """A run to start."""

    branch = s.CharField(required=False, help_text="Of an agent's run, or of dreaming; main by default.")
    current_cycle = s.IntegerField(required=False, help_text="Of dreaming: not before the branch's own.")
    dry_run = s.BooleanField(required=False, help_text="Answer the same, and write nothing.")


class AcceptChangesInput(s.Serializer):
    """Which facts of a run are accepted."""

    fact_ids = s.ListField(child=s.UUIDField(), required=False, max_length=MAX_FACTS)
    min_confidence = s.FloatField(
        required=False,
        min_value=0,
        max_value=1,
        help_text="And all of at least this confidence that nobody answered yet.",
    )


class RejectChangesInput(s.Serializer):
    """Which facts of a run are rejected."""

    fact_ids = s.ListField(child=s.UUIDField(), max_length=MAX_FACTS)


RUN = route("Read a run, with what it did", {200: ConsolidationDetailShape})
ROUTES = {
    "ConsolidationViewSet": {
        "runs": route(
            "List runs, newest first", {200: page(ConsolidationShape)}, None, [*FILTERS, *paging_by(RUNS)]
        ),
        "start_run": route(
            "Consolidate a session, an agent's facts or a task, or dream on a branch",
            {200: ConsolidationDetailShape, 201: ConsolidationDetailShape, 202: ConsolidationDetailShape},
            ConsolidationInput,
        ),
        "one_run": RUN,
        "undo": route("Undo a run whole", {200: ConsolidationShape}),
        "accept": route("Accept facts of a run as true", {200: ConsolidationDetailShape}, AcceptChangesInput),
        "reject": route(
            "Undo what it did to some facts", {200: ConsolidationDetailShape}, RejectChangesInput
        ),
    }
}


@serve_at("consolidation", "consolidation")
@document_routes(ROUTES, sys.modules[__name__], shapes)
class ConsolidationViewSet(ResourceViewSet):
    filterset_class = ConsolidationFilterSet

    @extend_schema(operation_id="consolidation_runs_list")  # else it is called as one run
    @action(detail=False, methods=["get"])
    def runs(self, request: Request) -> Response:
        payload = Input(request)
        paging, branch = payload.take_paging(order=RUNS), payload.take_value("branch", c.plain_text, "")
        filters = payload.take_filters(CONSOLIDATION_FILTERS)
        payload.refuse_unknown()
        found = consolidation_engine.list_runs(
            actor=get_request_actor(request), branch_name=branch, **filters, **paging
        )
        return Response(page_shape(found, render))

    @runs.mapping.post
    def start_run(self, request: Request) -> Response:
        payload = Input(request)
        branch, dry_run = payload.take_branch(), payload.take_value("dry_run", c.check_boolean, False)
        cycle = payload.take_value("current_cycle", COUNT, None)
        fields: Any = payload.take_fields(CONSOLIDATION.field_names(Use.CREATE))
        if fields.get("level") is None:
            raise Invalid("{field} is needed.", field="level")
        values = c.validate(fields, CHECKS)
        report = consolidation_engine.consolidate(
            **values,
            branch_name=branch,
            dry_run=dry_run,
            current_cycle=cycle,
            actor=get_request_actor(request),
        )
        return build_row_response(render_report(report), get_status(report))

    @action(detail=False, methods=["get"], url_path="runs/(?P<run_id>[^/]+)")
    def one_run(self, request: Request, run_id: str) -> Response:
        where: dict[str, Any] = {"run_id": parse_id(run_id), "actor": get_request_actor(request)}
        Input(request).refuse_unknown()
        return build_row_response(render_report(consolidation_engine.get_run(**where)))

    @action(detail=False, methods=["post"], url_path="runs/(?P<run_id>[^/]+)/undo")
    def undo(self, request: Request, run_id: str) -> Response:
        where: dict[str, Any] = {"run_id": parse_id(run_id), "actor": get_request_actor(request)}
        Input(request).refuse_unknown()
        return build_row_response(render(consolidation_engine.undo_run(**where)))

    @action(detail=False, methods=["post"], url_path="runs/(?P<run_id>[^/]+)/accept")
    def accept(self, request: Request, run_id: str) -> Response:
        where: dict[str, Any] = {"run_id": parse_id(run_id), "actor": get_request_actor(request)}
        payload = Input(request)
        where["fact_ids"] = payload.take_value("fact_ids", parse_ids, [])
        where["min_confidence"] = payload.take_value("min_confidence", CHECK_SHARE)
        payload.refuse_unknown()
        return build_row_response(render_report(consolidation_engine.accept_changes(**where)))

    @action(detail=False, methods=["post"], url_path="runs/(?P<run_id>[^/]+)/reject")
    def reject(self, request: Request, run_id: str) -> Response:
        where: dict[str, Any] = {"run_id": parse_id(run_id), "actor": get_request_actor(request)}
        payload = Input(request)
        where["fact_ids"] = payload.take_value("fact_ids", parse_ids, [])
        payload.refuse_unknown()
        return build_row_response(render_report(consolidation_engine.reject_changes(**where)))


def get_status(report: ConsolidationReport) -> int:
    """Return the status of the answer to a start: a queued run is not done yet."""
    if report.run.dry_run:
        return 200
    return 202 if report.run.state == ConsolidationRun.State.QUEUED else 201

"""/analytics: figures of a project, as JSON or CSV."""

import sys
from collections.abc import Callable
from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.answers import figures as shapes
from analytics.answers.figures import CSV, JSON, render_figures, stream_csv
from analytics.engines.engine import DAYS, AnalyticsEngine
from analytics.engines.ranges import MAX_DAYS, STEPS
from memory.api.base import ResourceViewSet, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import AT, BRANCH, TEXT, document_routes, query, route
from memory.engines.support import validation as c
from memory.operations.inputs import Input, parse_id, parse_integer, parse_point

FORMAT = query("format", {"type": "string", "enum": [JSON, CSV]}, "csv, as with Accept: text/csv.")
RANGE = {"type": "integer", "minimum": 1, "maximum": MAX_DAYS, "default": DAYS}
SPAN = [BRANCH, AT, query("days", RANGE, "The last days, today included."), FORMAT]
ANY_BRANCH = query("branch", TEXT, "When it is not given: main, else where it is found.")
TIME = {"type": "string", "format": "date-time"}
TRENDS = [
    query("granularity", {"type": "string", "enum": list(STEPS), "default": "day"}, "Of the points, in UTC."),
    query("since", TIME, "Instead of days."),
    query("until", TIME, "The end of the range."),
]
ROUTES = {
    "AnalyticsViewSet": {
        "overview": route("What a branch holds and what happened", {200: shapes.OverviewShape}, None, SPAN),
        "sessions": route("What a session did", {200: shapes.SessionFiguresShape}, None, [FORMAT]),
        "agents": route("What an agent did", {200: shapes.AgentFiguresShape}, None, [ANY_BRANCH, AT, FORMAT]),
        "trends": route("What was written over time", {200: shapes.TrendsShape}, None, [*SPAN, *TRENDS]),
        "conversations": route(
            "Who said how much", {200: shapes.ConversationFiguresShape}, None, [ANY_BRANCH, AT, FORMAT]
        ),
        "curation": route("Verdicts, answers and junk", {200: shapes.CurationFiguresShape}, None, SPAN),
    }
}


@serve_at("analytics", "analytics")
@document_routes(ROUTES, sys.modules[__name__], shapes)
class AnalyticsViewSet(ResourceViewSet):
    @action(detail=False, methods=["get"])
    def overview(self, request: Request) -> Any:
        return answer(request, AnalyticsEngine().overview, take_branch, take_days)

    @action(detail=False, methods=["get"], url_path="sessions/(?P<session_id>.+?)")
    def sessions(self, request: Request, session_id: str) -> Any:
        return answer(request, AnalyticsEngine().session_analytics, session_id=session_id)

    @action(detail=False, methods=["get"], url_path="agents/(?P<agent_id>.+?)")
    def agents(self, request: Request, agent_id: str) -> Any:
        return answer(request, AnalyticsEngine().agent_analytics, take_any_branch, agent_id=agent_id)

    @action(detail=False, methods=["get"])
    def trends(self, request: Request) -> Any:
        return answer(request, AnalyticsEngine().trends, take_branch, take_days, take_span)

    @action(detail=False, methods=["get"], url_path="conversations/(?P<conversation_id>[^/]+)")
    def conversations(self, request: Request, conversation_id: str) -> Any:
        found = parse_id(conversation_id)
        return answer(
            request, AnalyticsEngine().conversation_analytics, take_any_branch, conversation_id=found
        )

    @action(detail=False, methods=["get"])
    def curation(self, request: Request) -> Any:
        return answer(request, AnalyticsEngine().curation_analytics, take_branch, take_days)


def answer(
    request: Request, method: Callable[..., Any], *takes: Callable[[Input], dict[str, Any]], **options: Any
) -> Any:
    """Return what a method of the engine answers, in the form that the request asks for."""
    payload = Input(request)
    for take in takes:
        options |= take(payload)
    form = payload.take_value("format", c.one_of([JSON, CSV]), "") or accepted_form(request)
    payload.refuse_unknown()
    values = render_figures(method(actor=get_request_actor(request), **options))
    if form == JSON:
        return Response(values)
    return stream_csv(values, method.__name__)


def accepted_form(request: Request) -> str:
    kinds = [part.partition(";")[0].strip().lower() for part in request.headers.get("Accept", "").split(",")]
    return CSV if "text/csv" in kinds and "application/json" not in kinds else JSON


def take_branch(payload: Input) -> dict[str, Any]:
    return {"branch_name": payload.take_branch(), "at": payload.take_value("at", parse_point)}


def take_any_branch(payload: Input) -> dict[str, Any]:
    """Take a branch that may be left out: the engine finds one."""
    return {"branch_name": payload.take_branch(""), "at": payload.take_value("at", parse_point)}


def take_days(payload: Input) -> dict[str, Any]:
    return {"days": payload.take_value("days", parse_integer, DAYS)}


def take_span(payload: Input) -> dict[str, Any]:
    return {
        "granularity": payload.take_value("granularity", c.text_check(10), "day"),
        **{name: payload.take_value(name, c.parse_time) for name in ("since", "until")},
    }

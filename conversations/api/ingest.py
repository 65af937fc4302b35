"""POST /ingest/hook: events as agents' programs send them."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.capture.engine import MAX_EVENTS, Ingested, IngestEngine
from memory.api.base import ResourceViewSet, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import BRANCH, TEXT, query
from memory.engines.support import validation as c
from memory.engines.versions.lookup import MAIN
from memory.exceptions import Invalid, LimitReached, QuotaExceeded, UnknownField

EVENTS = {"oneOf": [{"type": "object"}, {"type": "array", "items": {}, "maxItems": MAX_EVENTS}]}
CLIENT = query("client", TEXT, "The program that sends them, such as claude-code.")
PARAMETERS = frozenset({"branch", "branch_name", "client"})
ANSWER = (
    "An empty body, or what the program reads: {hookSpecificOutput: {hookEventName, additionalContext}}, "
    "for Cursor {additional_context}. Of a list, and of a part of a transcript: {left_out_count, left_out: "
    "[{event, record, reason}]} where something says nothing for its form, the first 100 of them. The header "
    "Day1-Left-Out has the first reason."
)
LEFT_OUT = "Day1-Left-Out"  # header: the reason of the first one
ingest_engine = IngestEngine()


@serve_at("ingest", "ingest")
class IngestViewSet(ResourceViewSet):
    names_redacted = False  # the programs read their own answers

    @extend_schema(
        summary="Take in events of an agent's program",
        description="One event or an array of up to 1,000, which is one transaction but for parts of "
        "transcripts. Unknown events are left out. The answer is empty, or what the program of a single "
        "event reads; at the quota of the project a refusal has it as answer.",
        tags=["ingest"],
        parameters=[BRANCH, CLIENT],
        request={"application/json": EVENTS},
        responses={200: OpenApiResponse(description=ANSWER)},
    )
    @action(detail=False, methods=["post"])
    def hook(self, request: Request) -> Response:
        branch, client = parse_query(request)
        many = isinstance(request.data, list)
        events: list[Any] = request.data if isinstance(request.data, list) else [request.data]
        if not many and not isinstance(request.data, dict):
            raise Invalid("The body must be an event, which is an object, or a list of events.")
        where: dict[str, Any] = {"actor": get_request_actor(request), "branch_name": branch, "client": client}
        try:
            return respond(ingest_engine.ingest_events(events=events, answered=not many, **where), many)
        except (QuotaExceeded, LimitReached) as full:
            if not many and (answer := ingest_engine.read_answer(event=request.data, **where)):
                full.answer = answer
            raise


def respond(done: Ingested, many: bool) -> Response:
    """Respond with what was left out: in a header alone where a program reads the body."""
    if done.left_out is None:
        return Response(done.answer)
    first = done.left_out["left_out"][0]
    is_own = many or "record" in first
    return Response(done.left_out if is_own else done.answer, headers={LEFT_OUT: first["reason"]})


def parse_query(request: Request) -> tuple[str, str]:
    """Return branch and client from the query: the body is the program's own. Raises UnknownField,
    Invalid.
    """
    payload: dict[str, Any] = {name: request.query_params[name] for name in request.query_params}
    for name in payload:
        if name not in PARAMETERS:
            raise UnknownField(field=name)
        payload[name] = c.text_check(200)(name, payload[name])
    return payload.get("branch") or payload.get("branch_name") or MAIN, payload.get("client", "")

"""/events for OpenAPI. The stream itself is served outside of Django: see day1site/events."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import events as shapes
from memory.api.base import ResourceViewSet
from memory.api.routes import serve_at
from memory.api.schema import TEXT, document_routes, header, query, route
from memory.exceptions import Unavailable

NAMES = {"type": "array", "items": TEXT}
STREAM = OpenApiResponse(
    shapes.EventShape, "A stream without end: each message without a name has an event as its data."
)
FOLLOWING = [
    query("branch", NAMES, "Branches, or patterns such as task/*; every branch of the key when not given."),
    query("kind", NAMES, "Kinds of events, or patterns such as fact.*; all when not given."),
    query("last_event_id", {"type": "integer", "minimum": 0}, "As the header, for who cannot send one."),
    header("Last-Event-ID", "Go on after this event; from now on when it is not given."),
]
ANSWERS: Any = {(200, "text/event-stream"): STREAM}
documented = document_routes(
    {"EventViewSet": {"list": route("Follow what happens", ANSWERS, None, FOLLOWING)}}, shapes
)


@serve_at("events", "event")
@documented
class EventViewSet(ResourceViewSet):
    def list(self, request: Request) -> Response:
        """Refuse the request: on a server that runs Django alone a stream would block a thread for ever."""
        raise Unavailable("Events are streamed by the server that `manage.py up` starts, not by this one.")

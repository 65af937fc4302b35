"""What is kept of each request: its id in the answer, its count and time, a line where asked for."""

import logging
import re
from collections.abc import Awaitable, Callable, MutableMapping
from functools import lru_cache
from time import perf_counter
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from day1site.sub_path import find_client_address, join_values
from memory import metrics
from memory.request_context import begin_request, current_request, render_limits

logger = logging.getLogger("day1.access")
Message = MutableMapping[str, Any]
METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
NOTED = frozenset({b"x-request-id", b"traceparent", b"tracestate"})
UNMATCHED = "unmatched"  # no view: an address that anybody may make up is no label
GROUP = re.compile(r"\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)|<(?:\w+:)?(\w+)>")
SIGNS = re.compile(r"[\^$?]")
SECRET = "{secret}"  # the place in an address of a link that lets somebody in


class RequestLog:
    """Sends the answer to one request on, with its id, and keeps its status."""

    def __init__(
        self,
        scope: MutableMapping[str, Any],
        send: Callable[[Message], Awaitable[None]],
        route: str,
        streams: bool,
    ) -> None:
        self.scope, self.send, self.streams = scope, send, streams
        self.status, self.started = 0, perf_counter()
        headers = {name: value.decode("latin-1") for name, value in scope["headers"] if name in NOTED}
        self.request = begin_request(headers.pop(b"x-request-id", ""))
        self.request.route = route
        peer = (scope.get("client") or ("",))[0]
        self.request.address = find_client_address(join_values(scope["headers"], b"x-forwarded-for"), peer)
        self.request.trace = {name.decode(): value for name, value in headers.items()}
        if streams:
            metrics.add("day1_streams", route=route)

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            named = (b"x-request-id", self.request.id.encode())
            headers = [*message["headers"], named, *render_limits(self.request)]
            message = {**message, "headers": headers}
        await self.send(message)

    def finish(self) -> None:
        """Count the request; the time of one that streams says nothing."""
        seconds, route = perf_counter() - self.started, self.request.route or UNMATCHED
        method = self.scope["method"] if self.scope["method"] in METHODS else "other"
        metrics.add("day1_http_requests", method=method, route=route, status=self.status)
        if self.streams:
            metrics.add("day1_streams", -1, route=route)
        else:
            metrics.observe("day1_http_request_seconds", seconds, route=route)
        if settings.ACCESS_LOG:
            path = route if SECRET in route else self.scope["path"]
            text = "%s %s %s in %.0f ms"
            logger.info(text, method, ascii(path)[1:-1], self.status or "aborted", seconds * 1000)


def note_route(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Note the route of a request that Django answers, for its count."""

    def answer(request: HttpRequest) -> Any:
        response = get_response(request)
        if (noted := current_request.get()) and request.resolver_match:
            noted.route = name_route(request.resolver_match.route)
        return response

    return answer


@lru_cache(maxsize=1024)
def name_route(route: str) -> str:
    """Return a route of Django's as people write it: /api/v1/facts/{fact_id}."""
    return "/" + SIGNS.sub("", GROUP.sub(lambda found: f"{{{found[1] or found[2]}}}", route)).rstrip("/")

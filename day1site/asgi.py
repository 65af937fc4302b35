"""The ASGI application of the one process that `up` starts.

Django's own ASGI handler runs each request in a new thread, and so opens a new database connection for
each. Here Django runs as a WSGI application in a pool of threads that stay, and each thread keeps its
connection (CONN_MAX_AGE is None): nothing is opened, and no cache is cold, in a request.
"""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from a2wsgi import WSGIMiddleware

from day1site.wsgi import application as wsgi_application

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

THREADS = 16
MIB = 1024 * 1024
BODY_LIMIT = 8 * MIB
DRAIN_LIMIT = 64 * MIB  # so much of a refused body is read and dropped, so that the client sees the answer

django = WSGIMiddleware(wsgi_application, workers=THREADS)  # type: ignore[arg-type]

# Paths that an asynchronous application serves; everything else is Django's. An entry is a path and
# all below it: ("/mcp", mcp_app), ("/events", events_app).
ASYNC_APPS: list[tuple[str, App]] = []


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Every request: its body is read, within the limit, then the application of its path answers."""
    if scope["type"] != "http":
        return
    declared = content_length(scope)
    if declared is not None and declared > BODY_LIMIT:
        await refuse(receive, send, 0)
        return
    body = await read_body(receive, send)
    if body is not None:
        with_length(scope, len(body), declared)
        await app_for(scope["path"])(scope, replay(body, receive), send)


def app_for(path: str) -> App:
    for prefix, app in ASYNC_APPS:
        if path == prefix or path.startswith(f"{prefix}/"):
            return app
    return django  # type: ignore[return-value]


async def read_body(receive: Receive, send: Send) -> bytes | None:
    """The whole body; None when it was refused or the client went away.

    It is read here, not in Django's thread, so that a slow client holds some memory and no thread.
    """
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if len(body) > BODY_LIMIT:
            size = len(body)
            del body
            await refuse(receive, send, size if message.get("more_body") else DRAIN_LIMIT)
            return None
        if not message.get("more_body"):
            return bytes(body)


def replay(body: bytes, receive: Receive) -> Receive:
    """A receive that gives the body in one piece, and then what follows it (a disconnect)."""
    pieces = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive_again() -> Message:
        return next(pieces, None) or await receive()

    return receive_again


def with_length(scope: Scope, length: int, declared: int | None) -> None:
    """WSGI reads no body without a length, and a chunked request states none."""
    if declared is None and length:
        scope["headers"] = [*scope["headers"], (b"content-length", str(length).encode())]


def content_length(scope: Scope) -> int | None:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return None


async def refuse(receive: Receive, send: Send, seen: int) -> None:
    """Answer 413, after dropping what the client is still sending."""
    while seen < DRAIN_LIMIT:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        seen += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    await send_problem(send)


async def send_problem(send: Send) -> None:
    problem = {
        "type": "/errors/too_large",
        "title": "Content Too Large",
        "status": 413,
        "code": "too_large",
        "detail": f"The request body is over the limit of {BODY_LIMIT // MIB} MiB.",
    }
    body = json.dumps(problem).encode()
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})

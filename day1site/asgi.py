"""The ASGI application of the one process that `up` starts.

Django's own ASGI handler runs each request in a new thread, and so opens a new database connection for
each. Here Django runs as a WSGI application in a pool of threads that stay, and each thread keeps its
connection (CONN_MAX_AGE is None): nothing is opened, and no cache is cold, in a request.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

from a2wsgi import WSGIMiddleware
from django.utils.module_loading import import_string

from day1site.wsgi import application as wsgi_application

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Problem = tuple[int, str, str, str]  # status, title, code, detail

THREADS = 16
PIECES = 10_000  # of an answer that wait for a slow reader, so that no thread does
MIB = 1024 * 1024
BODY_LIMIT = 8 * MIB
DRAIN_LIMIT = 64 * MIB  # of a refused body is read and dropped
BODY_SECONDS = 30.0  # for the whole body, however it drips
REQUESTS = 1000  # in progress at once
ROOM = 128 * MIB  # for the bodies of all of them; small ones always find room
SMALL = MIB // 16

TOO_LARGE: Problem = (
    413, "Content Too Large", "too_large", f"The request body is over the limit of {BODY_LIMIT // MIB} MiB.",
)  # fmt: skip
TOO_SLOW: Problem = (
    408, "Request Timeout", "too_slow", "The request body did not arrive in time: send it whole, at once.",
)  # fmt: skip
BUSY: Problem = (
    503, "Service Unavailable", "unavailable", "The server has too many requests at once; try again.",
)  # fmt: skip

django = WSGIMiddleware(wsgi_application, workers=THREADS, send_queue_size=PIECES)  # type: ignore[arg-type]


class Later:
    """An asynchronous application that its first request imports and starts; it lives until ``stop``.

    ``path`` names a context manager that takes the pool of threads and gives the application. One that
    ``streams`` has answers without end: they end when the server is asked to stop.
    """

    def __init__(self, path: str, streams: bool = False) -> None:
        self.path, self.streams = path, streams
        self._started: asyncio.Future[App] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (await asyncio.shield(self._start()))(scope, receive, send)

    def _start(self) -> "asyncio.Future[App]":
        """The application, once for each event loop; after a failure it is tried anew."""
        loop, there = asyncio.get_running_loop(), self._started
        if there is None or there.get_loop() is not loop or (there.done() and there.exception()):
            self._started = there = loop.create_future()
            self._stopping = asyncio.Event()
            self._life = loop.create_task(self._live(there, self._stopping))
        return there

    async def _live(self, started: "asyncio.Future[App]", stopping: asyncio.Event) -> None:
        try:
            running = await asyncio.to_thread(import_string, self.path)
            async with running(django.executor) as app:
                started.set_result(app)
                await stopping.wait()
        except Exception as error:
            if started.done():
                raise
            started.set_exception(error)

    async def stop(self) -> None:
        """End it, where it was started."""
        if self._started is not None and self._started.get_loop() is asyncio.get_running_loop():
            self._stopping.set()
            await self._life
            self._started = None


# Paths that an asynchronous application serves; everything else is Django's. An entry is a path and
# all below it.
ASYNC_APPS: list[tuple[str, Later]] = [
    ("/mcp", Later("day1site.mcp.http.running")),
    ("/api/v1/events", Later("day1site.events.http.running", streams=True)),
]


class Refused(Exception):
    """This request goes no further; ``problem`` is what its client is told."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem


class Room:
    """What the requests in progress hold together, so that slow clients leave room for the others."""

    requests = held = 0

    def enter(self) -> bool:
        """Whether one more may begin."""
        if self.requests >= REQUESTS:
            return False
        self.requests += 1
        return True

    def take(self, body: bytearray, piece: bytes) -> Refused | None:
        """Add to a body. When it, or all of them together, become too large it is forgotten and refused."""
        body += piece
        self.held += len(piece)
        too_large = len(body) > BODY_LIMIT
        if not too_large and (len(body) <= SMALL or self.held <= ROOM):
            return None
        self.drop(body)
        return Refused(TOO_LARGE if too_large else BUSY)

    def drop(self, body: bytearray) -> None:
        self.held -= len(body)
        body.clear()

    def leave(self, body: bytearray) -> None:
        self.drop(body)
        self.requests -= 1


room = Room()


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Every request: its body is read, within the limits, then the application of its path answers."""
    if scope["type"] == "lifespan":
        with suppress(asyncio.CancelledError):  # a second Ctrl-C: the server goes without saying so
            await live(receive, send)
        return
    if scope["type"] != "http":
        return
    if not room.enter():
        await send_problem(send, BUSY)
        return
    body = bytearray()
    try:
        if await whole(body, content_length(scope), receive, send):
            with_length(scope, len(body), content_length(scope))
            await app_for(scope["path"])(scope, replay(bytes(body), receive), send)
    finally:
        room.leave(body)


async def live(receive: Receive, send: Send) -> None:
    """The server's life: at its end the asynchronous applications end too."""
    while (message := await receive())["type"] != "lifespan.shutdown":
        await send({"type": f"{message['type']}.complete"})
    for _, app in ASYNC_APPS:
        await app.stop()
    await send({"type": "lifespan.shutdown.complete"})


async def end_streams() -> None:
    """What never ends by itself ends now: a server that stops waits for all requests."""
    for _, app in ASYNC_APPS:
        if isinstance(app, Later) and app.streams:
            await app.stop()


async def whole(body: bytearray, declared: int | None, receive: Receive, send: Send) -> bool:
    """Read the whole body; False when it was refused or the client went away."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await read_body(body, declared, receive)
    except TimeoutError:
        await send_problem(send, TOO_SLOW)
    except Refused as refused:
        await send_problem(send, refused.problem)
    return False


def app_for(path: str) -> App:
    for prefix, app in ASYNC_APPS:
        if path == prefix or path.startswith(f"{prefix}/"):
            return app
    return django  # type: ignore[return-value]


async def read_body(body: bytearray, declared: int | None, receive: Receive) -> bool:
    """Read the whole body; False when the client went away. Raises Refused.

    It is read here, not in Django's thread, so that a slow client holds some memory and no thread. The
    rest of a refused one is dropped, up to a limit, so that the client sees the answer.
    """
    refused, seen = Refused(TOO_LARGE) if (declared or 0) > BODY_LIMIT else None, 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return False
        piece = message.get("body", b"")
        seen += len(piece)
        refused = refused or room.take(body, piece)
        if refused and (seen >= DRAIN_LIMIT or not message.get("more_body")):
            raise refused
        if not message.get("more_body"):
            return True


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


async def send_problem(send: Send, problem: Problem) -> None:
    status, title, code, detail = problem
    told = {"type": f"/errors/{code}", "title": title, "status": status, "code": code, "detail": detail}
    body = json.dumps(told).encode()
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    if status == 503:
        headers.append((b"retry-after", b"1"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

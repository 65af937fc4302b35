"""The ASGI application of each process that `up` starts.

Django's own ASGI handler runs each request in a new thread, and so opens a new database connection for each.
Here Django runs as a WSGI application in a pool of permanent threads, and each thread keeps its connection
(CONN_MAX_AGE is None): no request opens a connection or starts with a cold cache.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from contextvars import Context
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from day1site.fair_turns import FairTurns, name_project
from day1site.refusal_pace import PacedSend
from day1site.request_log import RequestLog
from day1site.sub_path import apply_prefix
from day1site.wsgi import application as wsgi_application
from day1site.wsgi_bridge import WSGIBridge
from memory.db.backend import get_features
from memory.db.work_slots import SlotExecutor
from memory.request_context import get_request_id

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Problem = tuple[int, str, str, str]  # status, title, code, detail

THREADS = max(4, 16 // settings.PROCESSES)  # each keeps a connection with a cache of its own
MIB = 1024 * 1024
BODY_LIMIT = 8 * MIB
DRAIN_LIMIT = 64 * MIB  # so much of a refused body is read and dropped
BODY_SECONDS = 30.0  # for the whole body, at any speed
REQUESTS = 1000  # in progress at once
BODY_BUDGET_BYTES = 128 * MIB  # memory for all request bodies together; small ones are always accepted
SMALL = MIB // 16

TOO_LARGE: Problem = (
    413,
    "Content Too Large",
    "too_large",
    f"The request body is over the limit of {BODY_LIMIT // MIB} MiB.",
)
TOO_SLOW: Problem = (
    408,
    "Request Timeout",
    "too_slow",
    "The request body did not arrive in time: send it whole, at once.",
)
BUSY: Problem = (
    503,
    "Service Unavailable",
    "unavailable",
    "The server has too many requests at once; try again.",
)

STOPPING: Problem = (
    503,
    "Service Unavailable",
    "unavailable",
    "The server stopped before it could answer: look whether it was done before you try again.",
)

# A database server works beside the threads, SQLite within them.
pool = SlotExecutor if get_features().has_online_backup else ThreadPoolExecutor
turns = FairTurns(THREADS)
django = WSGIBridge(wsgi_application, pool(THREADS, thread_name_prefix="WSGI"))


class LazyApp:
    """Asynchronous application that is imported and started by its first request, and runs until ``stop``.

    ``path`` names a context manager that takes the thread pool and yields the application. One that
    ``streams`` sends endless responses: they end when the server is about to stop.
    """

    def __init__(self, path: str, streams: bool = False) -> None:
        self.path, self.streams = path, streams
        self._started: asyncio.Future[App] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (await asyncio.shield(self._start()))(scope, receive, send)

    def _start(self) -> "asyncio.Future[App]":
        """Start the application once per event loop; a failed start is tried again."""
        loop, started = asyncio.get_running_loop(), self._started
        if started is None or started.get_loop() is not loop or (started.done() and started.exception()):
            self._started = started = loop.create_future()
            self._stopping = asyncio.Event()
            life = self._live(started, self._stopping)
            self._life = loop.create_task(life, context=Context())  # it outlives the request
        return started

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
        """Stop the application, in the event loop in which it was started."""
        if self._started is not None and self._started.get_loop() is asyncio.get_running_loop():
            self._stopping.set()
            await self._life
            self._started = None


# Paths served by asynchronous applications, subpaths included; everything else is Django's.
ASYNC_APPS: list[tuple[str, LazyApp]] = [
    ("/mcp", LazyApp("day1site.mcp.http.running")),
    ("/api/v1/events", LazyApp("day1site.events.http.running", streams=True)),
    ("/live", LazyApp("day1site.events.pages.running", streams=True)),
]


class Refused(Exception):
    """Refusal of a request; ``problem`` is the response to the client."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem


class RequestBudget:
    """Limits on concurrent requests and the total size of their bodies, so that slow clients leave
    capacity.
    """

    requests = buffered = 0

    def enter(self) -> bool:
        """Count a new request; return False when there are too many."""
        if self.requests >= REQUESTS:
            return False
        self.requests += 1
        return True

    def take(self, body: bytearray, piece: bytes) -> Refused | None:
        """Add a piece to a body. When it, or all bodies together, become too large, drop it and return a
        refusal.
        """
        body += piece
        self.buffered += len(piece)
        too_large = len(body) > BODY_LIMIT
        if not too_large and (len(body) <= SMALL or self.buffered <= BODY_BUDGET_BYTES):
            return None
        self.drop(body)
        return Refused(TOO_LARGE if too_large else BUSY)

    def drop(self, body: bytearray) -> None:
        self.buffered -= len(body)
        body.clear()

    def leave(self, body: bytearray) -> None:
        self.drop(body)
        self.requests -= 1


request_budget = RequestBudget()


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Serve a request, and note how it ended."""
    if scope["type"] == "lifespan":
        with suppress(asyncio.CancelledError):  # a second Ctrl-C: the server exits at once
            await run_lifespan(receive, send)
        return
    if scope["type"] != "http":
        return
    apply_prefix(scope)
    prefix, app = find_app(scope["path"])
    log = RequestLog(scope, send, prefix, getattr(app, "streams", False))
    try:
        await serve_request(app, scope, receive, log)
    finally:
        log.finish()


async def serve_request(app: App, scope: Scope, receive: Receive, send: Send) -> None:
    """Read a request's body, within the limits, then call the application for its path."""
    if not request_budget.enter():
        await send_problem(scope, send, BUSY)
        return
    body, paced = bytearray(), PacedSend(send, find_header(scope, b"authorization"))
    try:
        if await receive_body(body, scope, receive, send):
            with_length(scope, len(body), content_length(scope))
            async with find_turn(app, scope):
                whole = {"type": "http.request", "body": bytes(body), "more_body": False}
                await run_app(app, scope, replay_first(whole, receive), paced)
    finally:
        request_budget.leave(body)
    await paced.release()  # who waits counts no more


def find_turn(app: App, scope: Scope) -> AbstractAsyncContextManager[None]:
    """Return the turn of a request; one that streams, or is of no project, needs none."""
    project = None if is_endless(app, scope) else name_project(scope["headers"], scope["path"])
    return nullcontext() if project is None else turns.hold_turn(project)


def is_endless(app: App, scope: Scope) -> bool:
    """Return whether an answer may go on for hours: a stream of events, or of MCP."""
    return getattr(app, "streams", False) or (isinstance(app, LazyApp) and scope["method"] == "GET")


async def run_app(app: App, scope: Scope, receive: Receive, send: Send) -> None:
    """Call an application; answer with 503 what a stopping server waits for no longer."""
    answered = False

    async def send_noted(message: Message) -> None:
        nonlocal answered
        answered = True
        await send(message)

    try:
        await app(scope, receive, send_noted)
    except asyncio.CancelledError:
        if answered:
            raise
        await send_problem(scope, send, STOPPING)


async def run_lifespan(receive: Receive, send: Send) -> None:
    """Run the ASGI lifespan; at its end stop the asynchronous applications."""
    while (message := await receive())["type"] != "lifespan.shutdown":
        await send({"type": f"{message['type']}.complete"})
    for _, app in ASYNC_APPS:
        await app.stop()
    await send({"type": "lifespan.shutdown.complete"})


async def end_streams() -> None:
    """End endless responses: a stopping server waits for all requests."""
    for _, app in ASYNC_APPS:
        if isinstance(app, LazyApp) and app.streams:
            await app.stop()


async def receive_body(body: bytearray, scope: Scope, receive: Receive, send: Send) -> bool:
    """Read the whole body; return False when it was refused or the client disconnected."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await read_body(body, content_length(scope), receive)
    except TimeoutError:
        await send_problem(scope, send, TOO_SLOW)
    except Refused as refused:
        await send_problem(scope, send, refused.problem)
    return False


def find_app(path: str) -> tuple[str, App]:
    """Return the application that answers a path, with its prefix; "" for Django, which has routes."""
    for prefix, app in ASYNC_APPS:
        if path == prefix or path.startswith(f"{prefix}/"):
            return prefix, app
    return "", django


async def read_body(body: bytearray, declared: int | None, receive: Receive) -> bool:
    """Read the whole body; return False when the client disconnected. Raises Refused.

    This happens outside of Django's threads, so that a slow client occupies memory but no thread. The rest of
    a refused body is dropped, up to a limit, so that the client sees the response.
    """
    refused, seen = Refused(TOO_LARGE) if (declared or 0) > BODY_LIMIT else None, 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return False
        piece = message.get("body", b"")
        seen += len(piece)
        refused = refused or request_budget.take(body, piece)
        if refused and (seen >= DRAIN_LIMIT or not message.get("more_body")):
            raise refused
        if not message.get("more_body"):
            return True


def replay_first(first: Message, receive: Receive) -> Receive:
    """Return a receive function that yields a message that was read, then the later ones."""
    pieces = iter([first])

    async def receive_again() -> Message:
        return next(pieces, None) or await receive()

    return receive_again


def with_length(scope: Scope, length: int, declared: int | None) -> None:
    """Add the content length that a chunked request lacks: without it WSGI reads no body."""
    if declared is None and length:
        scope["headers"] = [*scope["headers"], (b"content-length", str(length).encode())]


def content_length(scope: Scope) -> int | None:
    value = find_header(scope, b"content-length")
    return int(value) if value.isdigit() else None


def find_header(scope: Scope, name: bytes) -> bytes:
    """Return the first header of this name, b"" without one."""
    return next((value for header, value in scope["headers"] if header == name), b"")


async def send_problem(scope: Scope, send: Send, problem: Problem) -> None:
    """Refuse a request: with a page where a browser asked for one, else with a problem in JSON."""
    is_page = b"text/html" in find_header(scope, b"accept")
    body = render_page(problem) if is_page else render_json(problem)
    headers = [
        (b"content-type", b"text/html; charset=utf-8" if is_page else b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    if problem[0] == 503:
        headers.append((b"retry-after", b"1"))
    await send({"type": "http.response.start", "status": problem[0], "headers": headers})
    await send({"type": "http.response.body", "body": body})


def render_json(problem: Problem) -> bytes:
    status, title, code, detail = problem
    document = {"type": f"/errors/{code}", "title": title, "status": status, "code": code, "detail": detail}
    document |= {"request_id": get_request_id()}
    return json.dumps(document).encode()


def render_page(problem: Problem) -> bytes:
    """Return the page of a problem, on which a form that was refused can be gone back to."""
    from day1site.error_views import render_failure  # with the API's, which a first request loads
    from day1site.failures import BACK, Failure

    status, title, _code, detail = problem
    return render_failure(Failure(status, title, detail, BACK)).content

"""GET /api/v1/events: a stream of server-sent events. See day1site/asgi.py."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from day1site.asgi import App, Receive, Scope, Send
from day1site.events.hub import Hub, Stream
from day1site.events.stream_headers import HEADERS
from day1site.server.asgi_auth import bearer, check_origin, refuse, refuse_for
from memory.engines.access.key_actors import get_actor
from memory.engines.access.keys import REST_SURFACE, KeyEngine
from memory.engines.activity.events import EventEngine
from memory.engines.support.rate_limits import count_key_request
from memory.exceptions import Invalid
from memory.limits import LIMITS
from memory.models.usage import get_usage
from memory.operations.inputs import FROM_TEXT, Query, count, parse_names

logger = logging.getLogger(__name__)

PATHS = ("/api/v1/events", "/api/v1/events/")
BEAT_SECONDS = 15.0  # of silence before a heartbeat: proxies close silent connections
SLOW_SECONDS = 30.0  # a client that reads nothing for so long is gone
PIECE = 64 * 1024  # bytes at once
STREAMS, KEY_STREAMS = LIMITS["streams"], LIMITS["key_streams"]
RETRY = 2000  # milliseconds before a client reconnects


@asynccontextmanager
async def running(threads: Executor) -> AsyncIterator[App]:
    """Run the application; at exit, end its streams."""
    hub = Hub(threads)
    looking = asyncio.create_task(hub.run())
    looking.add_done_callback(tell_end)
    try:
        yield partial(answer, hub)
    finally:
        hub.end_all("the server stops")
        looking.cancel()
        await asyncio.gather(
            looking, return_exceptions=True
        )  # an error of the reader must not keep the server from stopping


def tell_end(looking: "asyncio.Task[None]") -> None:
    if not looking.cancelled():
        logger.error("The reader of events ended.", exc_info=looking.exception())


async def answer(hub: Hub, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one request: a refusal, or a stream until either side ends it."""
    headers = dict(scope["headers"])
    if problem := check_origin(headers) or check_request(scope):
        await refuse(send, *problem)
        return
    try:
        query = scope.get("query_string", b"").decode("latin-1")
        stream = await hub.work(partial(stream_for, query, headers))
        hub.join(stream)
    except Exception as error:
        await refuse_for(send, scope, error)
        return
    gone = asyncio.create_task(watch_disconnect(stream, receive))
    try:
        await tell(hub, stream, send)
    except TimeoutError:
        logger.info("A stream of events ended: its client took nothing for %s seconds.", SLOW_SECONDS)
    finally:
        hub.leave(stream)
        gone.cancel()


def check_request(scope: Scope) -> tuple[int, str, str] | tuple[int, str, str, tuple[bytes, bytes]] | None:
    if scope["path"] not in PATHS:
        return 404, "not_found", "There is no such address: GET /api/v1/ tells which there are."
    if scope["method"] != "GET":
        text = f"This address does not know the method {scope['method'][:20]}."
        return 405, "method_not_allowed", text, (b"allow", b"GET")
    return None


def stream_for(query: str, headers: Mapping[bytes, bytes]) -> Stream:
    """Return the stream that a request describes. Raises Unauthenticated, RateLimited, and as
    EventEngine.open_watch does.
    """
    key = KeyEngine().verify_token(bearer(headers))
    count_key_request(str(key.pk), key.rate_per_minute, key.project_id)
    inputs = Query(query)
    branches = [
        *inputs.take_value("branch", parse_names, []),
        *inputs.take_value("branch_name", parse_names, []),
    ]
    kinds, after = inputs.take_value("kind", parse_names, []), inputs.take_value("last_event_id", count)
    inputs.refuse_unknown()
    if (header := headers.get(b"last-event-id", b"").decode("latin-1").strip()) != "":
        after = parse_event_id(header)  # a reconnecting client's header is newer than its address
    who = get_actor(key, REST_SURFACE)
    who.require_every_user()
    watch = EventEngine().open_watch(actor=who, branches=branches, kinds=kinds, after=after)
    most = get_usage(who.project_id).limits[STREAMS.name]
    return Stream(watch, key.max_streams or KEY_STREAMS.default, most)


def parse_event_id(text: str) -> int:
    try:
        found: int = count("Last-Event-ID", FROM_TEXT[count](text))
    except Invalid:
        raise Invalid("Last-Event-ID must be the id of an event.", field="Last-Event-ID") from None
    return found


async def watch_disconnect(stream: Stream, receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    stream.end("the client has gone")


# ---- output --------------------------------------------------------------------------------------------


async def tell(hub: Hub, stream: Stream, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await say(send, f"retry: {RETRY}\n".encode() + mark("start", stream.position))
    while not stream.over:
        stream.wake.clear()
        events, position = await hub.next(stream)
        more, stream.position = position > stream.position, position
        await say(send, b"".join(text for event, text in events if stream.watch.matches_event(event)))
        if not more and not stream.over:
            await rest(stream, send)
    await say(send, f": {stream.over}\n\n".encode(), last=True)


async def rest(stream: Stream, send: Send) -> None:
    """Wait for something to send; after long silence send a heartbeat."""
    try:
        async with asyncio.timeout(BEAT_SECONDS):
            await stream.wake.wait()
    except TimeoutError:
        await say(send, mark("beat", stream.position))


async def say(send: Send, text: bytes, last: bool = False) -> None:
    """Send in pieces, so that a slow client buffers little. Raises TimeoutError when it stops reading."""
    pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
    for number, piece in enumerate(pieces, 1):
        async with asyncio.timeout(SLOW_SECONDS):
            more = not last or number < len(pieces)
            await send({"type": "http.response.body", "body": piece, "more_body": more})


def mark(name: str, position: int) -> bytes:
    """Return a message with the stream's position; its name keeps clients from treating it as an event."""
    data: dict[str, Any] = {"id": position}
    return f"event: {name}\nid: {position}\ndata: {json.dumps(data)}\n\n".encode()

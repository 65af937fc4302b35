"""GET /live/<project>/first-event: reports to a page that an agent's key was used. See day1site/asgi.py.

It is for people: the browser sends the cookie of their session, which is checked again each time.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest, QueryDict
from django.http.cookie import parse_cookie

from day1site.asgi import App, Receive, Scope, Send
from day1site.server.asgi_auth import check_origin, in_thread, refuse, refuse_for
from memory.engines.access.key_activity import KeyActivity, KeyActivityEngine
from memory.engines.access.members import build_member_actor, list_memberships
from memory.exceptions import Day1Error, NotFound, Unauthenticated, Unavailable
from memory.views.agent_setup import read_key
from memory.views.frames import WEB

PATH = re.compile(r"/live/([-a-zA-Z0-9_]+)/first-event")
POLL_SECONDS = 1.0
BEAT_SECONDS = 15.0  # of silence: proxies close what is silent
SEND_SECONDS = 30.0  # a page that takes nothing for so long has gone
MAX_STREAMS = 50  # each reads the database once a second
RETRY_MS = 3000
HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # nginx would collect the events
]


@asynccontextmanager
async def running(threads: Executor) -> AsyncIterator[App]:
    """Yield the application; its end ends the streams."""
    streams = PageStreams(threads)
    try:
        yield streams.answer
    finally:
        streams.end_all()


class PageStreams:
    """The streams of this process."""

    def __init__(self, threads: Executor) -> None:
        self.threads = threads
        self.ended: set[asyncio.Event] = set()

    def end_all(self) -> None:
        for ended in self.ended:
            ended.set()

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request: a refusal, or a stream until the page leaves or the person may not read on."""
        if problem := check_origin(dict(scope["headers"])) or check_request(scope):
            await refuse(send, *problem)
            return
        if len(self.ended) >= MAX_STREAMS:
            error = Unavailable(
                "The server has {most} streams at once; try again.", most=MAX_STREAMS, retry_after=5
            )
            await refuse_for(send, scope, error)
            return
        ended = asyncio.Event()
        self.ended.add(ended)
        try:
            await self._answer(scope, ended, receive, send)
        finally:
            self.ended.discard(ended)

    async def _answer(self, scope: Scope, ended: asyncio.Event, receive: Receive, send: Send) -> None:
        try:
            activity = await self._read(scope)
        except Exception as error:
            await refuse_for(send, scope, error)
            return
        watching = asyncio.create_task(watch_disconnect(receive, ended))
        with suppress(TimeoutError):  # the page has gone
            await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            await self._tell(activity, scope, ended, partial(send_text, send))
            await send_text(send, "", more=False)
        watching.cancel()

    async def _tell(
        self, activity: KeyActivity | None, scope: Scope, ended: asyncio.Event, say: Callable[..., Any]
    ) -> None:
        """Send an event for the state now, and one for each change."""
        loop = asyncio.get_running_loop()
        known, said_at = None, 0.0
        await say(f"retry: {RETRY_MS}\n")
        while activity is not None:
            if activity != known or loop.time() > said_at + BEAT_SECONDS:
                await say(message(activity) if activity != known else ": still here\n\n")
                known, said_at = activity, loop.time()
            await wait(ended, POLL_SECONDS)
            activity = None if ended.is_set() else await self._read_again(scope)

    async def _read_again(self, scope: Scope) -> KeyActivity | None:
        """Return the activity; None when the person logged out or is no member any more."""
        try:
            return await self._read(scope)
        except Day1Error:
            return None

    async def _read(self, scope: Scope) -> KeyActivity:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.threads, in_thread, read_activity, scope)


def check_request(scope: Scope) -> tuple[int, str, str] | tuple[int, str, str, tuple[bytes, bytes]] | None:
    if not PATH.fullmatch(scope["path"]):
        return 404, "not_found", "There is no such address."
    if scope["method"] != "GET":
        return 405, "method_not_allowed", "This address knows the method GET only.", (b"allow", b"GET")
    return None


def read_activity(scope: Scope) -> KeyActivity:
    """Return what the page's keys did last. Raises Unauthenticated, NotFound, Invalid."""
    user = read_user(dict(scope["headers"]).get(b"cookie", b"").decode("latin-1"))
    path = PATH.fullmatch(scope["path"])
    assert path is not None  # check_request has refused any other
    member = next((one for one in list_memberships(user) if one.project.slug == path[1]), None)
    if member is None:
        raise NotFound("There is no project here that you belong to.")
    query = QueryDict(scope.get("query_string", b"").decode("latin-1"))
    actor = build_member_actor(member, user, WEB.surface)
    return KeyActivityEngine().get_latest(actor=actor, key_id=read_key(query))


def read_user(cookies: str) -> Any:
    """Return the person whose session a browser sends. Raises Unauthenticated."""
    request = HttpRequest()
    store = import_module(settings.SESSION_ENGINE).SessionStore
    request.session = store(parse_cookie(cookies).get(settings.SESSION_COOKIE_NAME))
    user = get_user(request)
    if not user.is_authenticated:
        raise Unauthenticated("This needs a person who is logged in.")
    return user


# ---- what is sent --------------------------------------------------------------------------------------


def message(activity: KeyActivity) -> str:
    at = activity.at.isoformat() if activity.at else None
    data = {"state": activity.state, "label": activity.label, "at": at}
    return f"event: activity\ndata: {json.dumps(data)}\n\n"


async def send_text(send: Send, text: str, more: bool = True) -> None:
    """Send a piece. Raises TimeoutError when the page takes nothing any more."""
    async with asyncio.timeout(SEND_SECONDS):
        await send({"type": "http.response.body", "body": text.encode(), "more_body": more})


async def watch_disconnect(receive: Receive, ended: asyncio.Event) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    ended.set()


async def wait(ended: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await ended.wait()
    except TimeoutError:
        pass

"""Streams for the pages of people: the browser sends the cookie of their session, which is checked later too.

See day1site/asgi.py. What is told is what a subclass reads.
"""

import asyncio
import re
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, TypeVar

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest, QueryDict
from django.http.cookie import parse_cookie

from day1site.asgi import Receive, Scope, Send
from day1site.events.stream_headers import HEADERS
from day1site.server.asgi_auth import check_origin, in_thread, refuse, refuse_for
from memory.actors import Actor
from memory.engines.access.members import WEB_SURFACE, build_member_actor, list_memberships
from memory.engines.access.second_factors import require_factor
from memory.exceptions import NotFound, Unauthenticated, Unavailable

BEAT_SECONDS = 15.0  # of silence: proxies close what is silent
SEND_SECONDS = 30.0  # a page that takes nothing for so long has gone
RETRY_MS = 3000
STILL_HERE = ": still here\n\n"
T = TypeVar("T")
Say = Callable[..., Any]


class PageStreams:
    """The streams of one kind in this process."""

    path: ClassVar[re.Pattern[str]]  # with the project's slug as its first group
    max_streams: ClassVar[int]

    def __init__(self, threads: Executor) -> None:
        self.threads = threads
        self.ended: set[asyncio.Event] = set()

    def end_all(self) -> None:
        for ended in self.ended:
            ended.set()

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request: a refusal, or a stream until the page leaves or the person may not read on."""
        if problem := check_origin(dict(scope["headers"])) or check_method(scope):
            await refuse(send, *problem)
            return
        if len(self.ended) >= self.max_streams:
            text = "The server has {most} streams at once; try again."
            await refuse_for(send, scope, Unavailable(text, most=self.max_streams, retry_after=5))
            return
        ended = asyncio.Event()
        self.ended.add(ended)
        try:
            await self._answer(scope, ended, receive, send)
        finally:
            self.ended.discard(ended)

    async def _answer(self, scope: Scope, ended: asyncio.Event, receive: Receive, send: Send) -> None:
        try:
            state = await self.work(self.begin, scope)
        except Exception as error:
            await refuse_for(send, scope, error)
            return
        watching = asyncio.create_task(watch_disconnect(receive, ended))
        with suppress(TimeoutError):  # the page has gone
            await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            say = partial(send_text, send)
            await say(f"retry: {RETRY_MS}\n")
            await self.tell(state, scope, ended, say)
            await say("", more=False)
        watching.cancel()

    def begin(self, scope: Scope) -> Any:
        """Read what a stream begins with, in a thread. Raises Unauthenticated, NotFound, Invalid."""
        raise NotImplementedError

    async def tell(self, state: Any, scope: Scope, ended: asyncio.Event, say: Say) -> None:
        """Send what is new, until ``ended`` is set or the person may not read on."""
        raise NotImplementedError

    async def work(self, do: Callable[..., T], *arguments: Any) -> T:
        """Run work with the database in one of the threads that serve Django."""
        return await asyncio.get_running_loop().run_in_executor(self.threads, in_thread, do, *arguments)

    def read_actor(self, scope: Scope) -> Actor:
        """Return who reads the project of the path. Raises Unauthenticated, NotFound."""
        login = read_login(dict(scope["headers"]).get(b"cookie", b"").decode("latin-1"))
        user: Any = login.user
        path = self.path.fullmatch(scope["path"])
        assert path is not None  # it was chosen by its path
        member = next((one for one in list_memberships(user) if one.project.slug == path[1]), None)
        if member is None:
            raise NotFound("There is no project here that you belong to.")
        require_factor(member.project, login.session)
        return build_member_actor(member, user, WEB_SURFACE)


def check_method(scope: Scope) -> tuple[int, str, str, tuple[bytes, bytes]] | None:
    if scope["method"] != "GET":
        return 405, "method_not_allowed", "This address knows the method GET only.", (b"allow", b"GET")
    return None


def read_query(scope: Scope) -> QueryDict:
    return QueryDict(scope.get("query_string", b"").decode("latin-1"))


def read_login(cookies: str) -> HttpRequest:
    """Return a request with the person and the session that a browser sends. Raises Unauthenticated."""
    request = HttpRequest()
    store = import_module(settings.SESSION_ENGINE).SessionStore
    request.session = store(parse_cookie(cookies).get(settings.SESSION_COOKIE_NAME))
    request.user = get_user(request)
    if not request.user.is_authenticated:
        raise Unauthenticated("This needs a person who is logged in.")
    return request


async def send_text(send: Send, text: str, more: bool = True) -> None:
    """Send a piece. Raises TimeoutError when the page takes nothing any more."""
    async with asyncio.timeout(SEND_SECONDS):
        await send({"type": "http.response.body", "body": text.encode(), "more_body": more})


async def watch_disconnect(receive: Receive, ended: asyncio.Event) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    ended.set()


async def wait(ended: asyncio.Event, seconds: float) -> None:
    """Wait until the event is set, or so long."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await ended.wait()

"""MCP over HTTP, beside Django in one ASGI application. See day1site/asgi.py."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from functools import partial
from urllib.parse import parse_qs

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from day1site.asgi import BODY_LIMIT, App, Receive, Scope, Send
from day1site.entrance import bearer, in_thread, refuse, refuse_for, wrong_place
from day1site.mcp.calls import SURFACE, Caller
from day1site.mcp.server import Context, build
from memory.engines.keys import KeyEngine, actor_of
from memory.exceptions import Unauthenticated

CALLER = "day1.caller"
BRANCH_HEADER = b"day1-branch"


@asynccontextmanager
async def running(threads: Executor) -> AsyncIterator[App]:
    """The application, while its tasks run."""
    server = build(caller_in, threads)
    # Each request stands alone: no session holds memory, and any process may answer.
    manager = StreamableHTTPSessionManager(
        server, json_response=True, stateless=True, max_request_body_size=BODY_LIMIT
    )
    async with manager.run():
        yield partial(answer, manager, threads)


async def answer(
    manager: StreamableHTTPSessionManager, threads: Executor, scope: Scope, receive: Receive, send: Send
) -> None:
    """One request: from a host that is ours, by a key that we know, then to the server."""
    headers = dict(scope["headers"])
    if problem := wrong_place(headers):
        await refuse(send, *problem)
        return
    try:
        look = partial(in_thread, caller_of, scope, headers)
        caller = await asyncio.get_running_loop().run_in_executor(threads, look)
    except Unauthenticated as error:
        await refuse_for(send, scope, error, challenge(error.text))
        return
    except Exception as error:
        await refuse_for(send, scope, error)
        return
    if scope["method"] != "POST":
        text = "MCP is spoken by POST here: no stream is kept open, and no session is there to end."
        await refuse(send, 405, "method_not_allowed", text, (b"allow", b"POST"))
        return
    await manager.handle_request({**scope, CALLER: caller}, receive, send)


# ---- who asks ----------------------------------------------------------------------------------------


def caller_in(ctx: Context) -> Caller:
    """Who sent the request, as ``answer`` found out."""
    found: Caller = ctx.request.scope[CALLER]  # type: ignore[union-attr]
    return found


def caller_of(scope: Scope, headers: dict[bytes, bytes]) -> Caller:
    """The key's actor, and the branch of the address or the header. Raises Unauthenticated."""
    key = KeyEngine().verify(bearer(headers))
    return Caller(actor_of(key, SURFACE), branch_in(scope, headers), key.rate_per_minute)


def branch_in(scope: Scope, headers: dict[bytes, bytes]) -> str:
    asked = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("branch", [""])[0]
    return asked or headers.get(BRANCH_HEADER, b"").decode("latin-1").strip()


def challenge(text: str) -> tuple[bytes, bytes]:
    told = text.replace('"', "'")
    return b"www-authenticate", f'Bearer error="invalid_token", error_description="{told}"'.encode("latin-1")

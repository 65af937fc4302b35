"""MCP over HTTP, beside Django in one ASGI application. See day1site/asgi.py."""

import asyncio
import json
from collections.abc import AsyncIterator
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from day1site.asgi import BODY_LIMIT, App, Receive, Scope, Send
from day1site.mcp.calls import SURFACE, Caller
from day1site.mcp.server import Context, build, in_thread
from memory.engines.keys import KeyEngine, actor_of
from memory.exceptions import Unauthenticated

CALLER = "day1.caller"
BRANCH_HEADER = b"day1-branch"
LOCAL_NAMES = [".localhost", "127.0.0.1", "[::1]"]  # Django's own, where DEBUG is on and none are set
WRONG_KEY = "This needs an API key: send it as Authorization: Bearer KEY."


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
        await refuse(send, 401, "unauthenticated", error.text, challenge(error.text))
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
    scheme, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated(WRONG_KEY)
    key = KeyEngine().verify(token.strip())
    return Caller(actor_of(key, SURFACE), branch_in(scope, headers), key.rate_per_minute)


def branch_in(scope: Scope, headers: dict[bytes, bytes]) -> str:
    asked = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("branch", [""])[0]
    return asked or headers.get(BRANCH_HEADER, b"").decode("latin-1").strip()


def challenge(text: str) -> tuple[bytes, bytes]:
    told = text.replace('"', "'")
    return b"www-authenticate", f'Bearer error="invalid_token", error_description="{told}"'.encode("latin-1")


# ---- where from ---------------------------------------------------------------------------------------


def wrong_place(headers: dict[bytes, bytes]) -> tuple[int, str, str] | None:
    """Why a request is refused before anything is looked at: a web page must not reach a local server.

    A page of another site names that site in Origin, and one whose name was bent to this machine's
    address (DNS rebinding) also as Host.
    """
    host = headers.get(b"host", b"").decode("latin-1")
    if not ours(host):
        return 421, "invalid", "This server is not called by that name: see DAY1_ALLOWED_HOSTS."
    origin = headers.get(b"origin", b"").decode("latin-1")
    if origin and not (urlsplit(origin).netloc == host or named(urlsplit(origin).netloc)):
        return 403, "forbidden", "A page of another site may not use this server."
    return None


def ours(host: str) -> bool:
    """Whether Django would answer to this Host."""
    return validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS or LOCAL_NAMES)


def named(host: str) -> bool:
    """The same by a name that is written down: where every name will do, only the Host's own counts."""
    known = [name for name in settings.ALLOWED_HOSTS or LOCAL_NAMES if name != "*"]
    return bool(host) and validate_host(split_domain_port(host)[0], known)


async def refuse(send: Send, status: int, code: str, text: str, *more: tuple[bytes, bytes]) -> None:
    told = {"type": f"/errors/{code}", "status": status, "code": code, "detail": text}
    body = json.dumps(told).encode()
    headers: list[Any] = [
        (b"content-type", b"application/problem+json"), (b"content-length", str(len(body)).encode()), *more,
    ]  # fmt: skip
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

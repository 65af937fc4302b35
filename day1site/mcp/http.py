"""MCP over HTTP, served next to Django in one ASGI application. See day1site/asgi.py."""

import asyncio
import json
from collections.abc import AsyncIterator
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from urllib.parse import parse_qs

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import INVALID_REQUEST

from day1site.asgi import BODY_LIMIT, App, Receive, Scope, Send, replay_first
from day1site.mcp.call_context import SURFACE, Caller
from day1site.mcp.server import Context, build
from day1site.mcp_profiles import DEFAULT, PROFILES
from day1site.server.asgi_auth import bearer, check_origin, in_thread, refuse, refuse_for
from memory.answers.challenges import find_base_of_headers
from memory.engines.access.key_actors import MCP, get_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.fields.common import END_USER, STATED_CHECKS
from memory.engines.support.validation import one_of
from memory.engines.versions.repositories import parse_repository
from memory.exceptions import Unauthenticated
from memory.models import ApiKey, Project
from memory.repository_names import ANY

CALLER = "day1.caller"
NO_BATCH = "A request is one JSON-RPC message: batches are no part of the protocol."


@asynccontextmanager
async def running(threads: Executor) -> AsyncIterator[App]:
    """Run the application and its tasks."""
    server = build(caller_in, threads)
    # Each request is independent: there are no sessions in memory, and any process may answer.
    manager = StreamableHTTPSessionManager(
        server, json_response=True, stateless=True, max_request_body_size=BODY_LIMIT
    )
    async with manager.run():
        yield partial(answer, manager, threads)


async def answer(
    manager: StreamableHTTPSessionManager, threads: Executor, scope: Scope, receive: Receive, send: Send
) -> None:
    """Answer one request: check the host and the key, then pass it to the server."""
    headers = dict(scope["headers"])
    if problem := check_origin(headers):
        await refuse(send, *problem)
        return
    try:
        find_caller = partial(in_thread, authenticate_caller, scope, headers)
        caller = await asyncio.get_running_loop().run_in_executor(threads, find_caller)
    except Exception as error:
        await refuse_for(send, scope, error)
        return
    if scope["method"] != "POST":
        text = "MCP is spoken by POST here: no stream is kept open, and no session is there to end."
        await refuse(send, 405, "method_not_allowed", text, (b"allow", b"POST"))
        return
    first = await receive()
    if first.get("body", b"").lstrip()[:1] == b"[":
        await refuse_batch(send)
        return
    await manager.handle_request({**scope, CALLER: caller}, replay_first(first, receive), send)


async def refuse_batch(send: Send) -> None:
    """Refuse an array of messages, which the protocol has no longer, in its own words."""
    error = {"code": INVALID_REQUEST, "message": NO_BATCH}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": body})


# ---- callers -----------------------------------------------------------------------------------------


async def caller_in(ctx: Context) -> Caller:
    """Return the request's caller, as ``answer`` stored it."""
    assert ctx.request is not None  # over HTTP there always is one
    found: Caller = ctx.request.scope[CALLER]
    return found


def authenticate_caller(scope: Scope, headers: dict[bytes, bytes]) -> Caller:
    """Return the key's actor with the branch, profile, repository, session, end user and app of the address
    or headers.

    What they do not say is that of the session whose events the key's hooks bring: see ``Caller.locate``.

    Raises Unauthenticated, Invalid, UserForbidden.
    """
    key = KeyEngine().verify_token(bearer(headers))
    require_project(key, scope["path"].removeprefix(MCP).strip("/"))
    branch = setting_in(scope, headers, "branch")
    profile = one_of(PROFILES)("profile", setting_in(scope, headers, "profile") or DEFAULT)
    repository = parse_repository("repository", setting_in(scope, headers, "repository"))
    session = STATED_CHECKS["session_id"]("session", setting_in(scope, headers, "session"))
    whose: dict[str, str] = {}
    for one in END_USER:  # user, or user_id as everywhere else
        named = setting_in(scope, headers, one.name[:-3]) or setting_in(scope, headers, one.name)
        whose |= {one.name: one.check(one.name, named)} if named else {}
    actor = replace(get_actor(key, SURFACE), repository=repository).with_origin(session_id=session, **whose)
    is_located = bool(session) or repository == ANY
    base = find_base_of_headers(scope)
    return Caller(actor, branch, key.rate_per_minute, profile, base=base, is_located=is_located)


def require_project(key: ApiKey, slug: str) -> None:
    """Refuse a key of another project than the one that the address names. Raises Unauthenticated."""
    if slug and not Project.objects.filter(keys=key, slug=slug).exists():
        raise Unauthenticated("This key is of another project than the one that the address names.")


def setting_in(scope: Scope, headers: dict[bytes, bytes], name: str) -> str:
    """Return a setting of the connection: that of the address, else that of the header Day1-NAME."""
    requested = parse_qs(scope.get("query_string", b"").decode("latin-1")).get(name, [""])[0]
    return requested or decode_header(headers.get(f"day1-{name}".encode(), b"").strip())


def decode_header(value: bytes) -> str:
    """Return the text of a header: most programs write UTF-8, and some Latin-1."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")

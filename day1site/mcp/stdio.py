"""MCP on standard input and output, on the local store, as the local user."""

import asyncio
import json
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import TextIOWrapper
from typing import Any, BinaryIO

import anyio
import mcp_types as m
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from day1site.mcp.bridge import NO_JSON, NO_MESSAGE
from day1site.mcp.call_context import Caller
from day1site.mcp.roots import TIMEOUT_SECONDS, find_common_repository
from day1site.mcp.server import Context, build
from memory.actors import Actor
from memory.engines.support.write_buffer import buffer
from memory.engines.versions.repositories import parse_repository
from memory.texts import BYTE_ORDER_MARK, clean_value

logger = logging.getLogger(__name__)
THREADS = 4
# Claude Code passes its session id to stdio servers.
SESSION = "CLAUDE_CODE_SESSION_ID"
HALF_PAIR = r"\ud"  # as JSON writes it


def serve(actor: Actor, branch: str, profile: str, repository: str) -> None:
    """Answer as ``actor`` until the input ends; ``branch`` and ``repository`` are for calls that name none.

    Raises Invalid for a repository that is none.
    """
    actor = replace(actor, repository=parse_repository("repository", repository))
    caller = Caller(actor.with_origin(session_id=os.environ.get(SESSION, "")), branch, profile=profile)
    buffer.start()
    with ThreadPoolExecutor(THREADS, "day1-mcp") as threads:
        asyncio.run(_serve(caller, threads))
    buffer.stop()


class Connection:
    """The one client. Where nothing says its repository, its roots do; they are asked for once."""

    def __init__(self, caller: Caller) -> None:
        self.caller, self.is_known = caller, bool(caller.actor.repository)
        self._lock = asyncio.Lock()

    async def find_caller(self, ctx: Context) -> Caller:
        """Return the caller, with the repository of its roots."""
        async with self._lock:
            if not self.is_known:
                name = parse_repository("repository", find_common_repository(await list_roots(ctx)))
                self.caller = replace(self.caller, actor=replace(self.caller.actor, repository=name))
                self.is_known = True
        return self.caller


async def list_roots(ctx: Context) -> list[str]:
    """Return the addresses of the client's roots; none where it offers none, or does not answer."""
    offered = ctx.session.client_capabilities
    if offered is None or offered.roots is None or not ctx.session.can_send_request:
        return []
    try:
        found = await ctx.session.send_request(m.ListRootsRequest(), m.ListRootsResult, TIMEOUT_SECONDS)
    except (MCPError, ValidationError) as error:
        logger.warning("The client's roots are not known: %s", error)
        return []
    return [str(root.uri) for root in found.roots]


class StorableLines(TextIOWrapper):
    """Lines of JSON whose texts can be stored: halves of surrogate pairs become U+FFFD.

    The transport's parser refuses them, and could not say to which request.
    """

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(stream, encoding="utf-8", errors="replace")

    def readline(self, size: Any = -1, /) -> Any:
        while (line := super().readline(size).lstrip(BYTE_ORDER_MARK)).isspace():
            pass  # nobody asks anything
        if HALF_PAIR not in line.lower():
            return line
        try:
            return json.dumps(clean_value(json.loads(line))) + "\n"
        except (ValueError, RecursionError):
            return line


class Messages:
    """Messages of the client; a line that is none is answered with the error, where the library is silent."""

    def __init__(self, incoming: Any, outgoing: Any) -> None:
        self._incoming, self._outgoing = incoming, outgoing

    def __getattr__(self, name: str) -> Any:
        return getattr(self._incoming, name)

    async def __aenter__(self) -> "Messages":
        await self._incoming.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._incoming.__aexit__(*error)

    def __aiter__(self) -> "Messages":
        return self

    async def __anext__(self) -> Any:
        while isinstance(item := await self._incoming.__anext__(), Exception):
            await self._outgoing.send(SessionMessage(build_error(item)))
        return item


def build_error(error: Exception) -> m.JSONRPCError:
    """Return the answer to a line that is no message; whose request it was is not known."""
    is_json = isinstance(error, ValidationError) and error.errors()[0]["type"] != "json_invalid"
    code, text = (m.INVALID_REQUEST, NO_MESSAGE) if is_json else (m.PARSE_ERROR, NO_JSON)
    return m.JSONRPCError(jsonrpc="2.0", id=None, error=m.ErrorData(code=code, message=text))


def take_input() -> BinaryIO:
    """Return the standard input; what else would read it, such as a child, finds none."""
    wire = os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return wire


async def _serve(caller: Caller, threads: ThreadPoolExecutor) -> None:
    server = build(Connection(caller).find_caller, threads)
    lines: Any = anyio.wrap_file(StorableLines(take_input()))  # what the transport reads is lines alone
    async with stdio_server(lines) as (incoming, outgoing):
        messages: Any = Messages(incoming, outgoing)
        await server.run(messages, outgoing, server.create_initialization_options())

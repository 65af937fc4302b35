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
from pydantic import ValidationError

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
        line = super().readline(size).lstrip(BYTE_ORDER_MARK)
        if HALF_PAIR not in line.lower():
            return line
        try:
            return json.dumps(clean_value(json.loads(line))) + "\n"
        except (ValueError, RecursionError):
            return line


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
        await server.run(incoming, outgoing, server.create_initialization_options())

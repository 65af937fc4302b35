"""MCP on standard input and output, on the local store, as the local user."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from mcp.server.stdio import stdio_server

from day1site.mcp.call_context import Caller
from day1site.mcp.server import build
from memory.actors import Actor
from memory.engines.support.write_buffer import buffer
from memory.engines.versions.repositories import parse_repository

THREADS = 4
# Claude Code passes its session id to stdio servers.
SESSION = "CLAUDE_CODE_SESSION_ID"


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


async def _serve(caller: Caller, threads: ThreadPoolExecutor) -> None:
    server = build(lambda _: caller, threads)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())

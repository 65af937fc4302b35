"""MCP on standard input and output, on the local store, as the local user."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor

from mcp.server.stdio import stdio_server

from day1site.cli.local import DEFAULT, actor_for
from day1site.mcp.calls import SURFACE, Caller
from day1site.mcp.server import build
from memory.engines.buffers import buffer

THREADS = 4
# Claude Code tells its stdio servers which session they serve.
SESSION = "CLAUDE_CODE_SESSION_ID"


def serve(project: str, branch: str) -> None:
    """Answer until the input ends. Raises as the commands on the local store do."""
    caller = Caller(
        actor_for(project or DEFAULT, SURFACE).stating(session_id=os.environ.get(SESSION, "")), branch
    )
    buffer.start()
    with ThreadPoolExecutor(THREADS, "day1-mcp") as threads:
        asyncio.run(_serve(caller, threads))
    buffer.stop()


async def _serve(caller: Caller, threads: ThreadPoolExecutor) -> None:
    server = build(lambda _: caller, threads)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())

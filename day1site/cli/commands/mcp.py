"""``mcp``: the memory as a server of the Model Context Protocol, on standard input and output."""

import os

from day1site.cli.client import server_key, server_url
from day1site.cli.invocation import Invocation, command
from day1site.cli.parameters import OneOf, option
from day1site.mcp_profiles import DEFAULT, PROFILES


@command(
    "mcp",
    "Serve MCP on standard input and output, for clients that start their servers.",
    "day1 mcp --branch task/login",
)
@option("--branch", default="", metavar="NAME", help="where a call works that names none; default: main")
@option(
    "--profile",
    type=OneOf(PROFILES),
    default=DEFAULT,
    help="tools that are listed",
)
@option(
    "--repository",
    default="",
    metavar="NAME",
    help="where the caller works; * is any; default: the repository of this folder",
)
def mcp(run: Invocation, branch: str, profile: str, repository: str) -> None:
    """Serve until the input ends: the server of DAY1_URL, else the local store."""
    repository = repository or find_own_repository()
    if url := server_url():
        from day1site.cli.transport.http_transport import HttpTransport
        from day1site.mcp.bridge import serve as serve_bridge

        transport = HttpTransport(url, server_key(run.project))
        serve_bridge(transport.url, transport.key, branch, profile, repository, find_own_session())
        return
    from day1site.cli.transport.local_store import find_actor, open_store

    open_store(make=True)
    from day1site.mcp.call_context import SURFACE
    from day1site.mcp.stdio import serve

    serve(find_actor(run.project, SURFACE), branch, profile, repository)


def find_own_repository() -> str:
    """Return the repository in which this server was started, as hooks name it; "" outside of any."""
    from day1site.hooks.client.capture import find_repository, find_start

    return str(find_repository(find_start()))


def find_own_session() -> str:
    """Return the session of Claude Code that started this server; "" where another program did."""
    return os.environ.get("CLAUDE_CODE_SESSION_ID", "")

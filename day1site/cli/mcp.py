"""``mcp``: the memory as a server of the Model Context Protocol, on standard input and output."""

import os
from argparse import Namespace

from day1site.cli.client import server
from day1site.cli.errors import CliError, UsageError


def mcp(args: Namespace) -> None:
    """Until the input ends. On the server of DAY1_URL, else on the local store."""
    if url := server():
        _pass_on(url, args)
        return
    from day1site.cli.store import open_store

    open_store(make=True)
    from day1site.mcp.stdio import serve

    serve(args.project, args.branch)


def _pass_on(url: str, args: Namespace) -> None:
    from day1site.cli.remote import Api
    from day1site.mcp.bridge import serve

    if args.project:
        raise UsageError("--project is for the local store: on a server the key decides.")
    if not (key := os.environ.get("DAY1_KEY", "")):
        raise CliError("unauthenticated", "DAY1_URL is set, but DAY1_KEY is not: both are needed.")
    serve(Api(url, key).url, key, args.branch)

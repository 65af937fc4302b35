"""``context``: what the next session in a folder would be told."""

import json
import os
from functools import partial
from typing import Any

from day1site.cli.client import Client, open_client, server_url
from day1site.cli.connect.clients import CLIENTS
from day1site.cli.connect.state import config_file
from day1site.cli.errors import CliError, UsageError
from day1site.cli.http_streams import HttpStreams
from day1site.cli.http_transport import HttpTransport
from day1site.cli.importing.writer import find_project
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import note
from day1site.cli.parameters import OneOf, option
from day1site.cli.rest import Api
from day1site.hooks.client import capture

NOTHING = "The next session in {where} would be told nothing."
NO_REPOSITORY = "{folder} is in no git repository: its sessions are known by the folder."


@command(
    "context", "Show what the next session here would be told; nothing is stored.", "day1 context --cwd ."
)
@option("--cwd", "folder", default=".", metavar="FOLDER", help="default: the current folder")
@option("--client", type=OneOf(tuple(CLIENTS)), help="of a connected program; default: the first")
@option("--branch", metavar="NAME", help="default: that of the program's hooks, else main")
def context(run: Invocation, folder: str, client: str | None, branch: str | None) -> None:
    """Ask the server of DAY1_URL, else that of a connected program, else the local store."""
    folder = os.path.abspath(folder)
    if not os.path.isdir(folder):
        raise UsageError(f"There is no folder {folder}.")
    if not capture.find_repository(folder):
        note(NO_REPOSITORY.format(folder=folder))
    settings = {} if server_url() or run.project else find_settings(client or "")
    chosen = branch or settings.get("branch") or "main"
    answer = open_server(run, settings).preview_context(chosen, find_project(folder))
    if not answer["context"]:
        note(NOTHING.format(where=answer["repository"]))
    run.show(answer, lambda out: out.line(answer["context"]) if answer["context"] else None)


def find_settings(client: str) -> dict[str, Any]:
    """Return the settings of a program's hooks, {} where none is connected. Raises CliError."""
    for name in [client] if client else list(CLIENTS):
        file = config_file(name)
        if file.exists():
            try:
                found = json.loads(file.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                raise CliError("invalid", f"{file} cannot be read as JSON.") from None
            return found if isinstance(found, dict) else {}
        if client:
            raise CliError("not_found", f"{client} is not connected: day1 connect {client} does it.")
    return {}


def open_server(run: Invocation, settings: dict[str, Any]) -> Client:
    if not settings:
        return open_client(run.project)
    if not settings.get("url") or not settings.get("key"):
        raise CliError("unauthenticated", "The settings of the hooks lack url or key: day1 doctor says more.")
    transport = HttpTransport(settings["url"].rstrip("/").removesuffix("/api/v1"), settings["key"])
    return Client(transport, partial(HttpStreams, Api(transport)))

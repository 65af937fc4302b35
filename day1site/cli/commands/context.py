"""``context``: what the next session in a folder would be told."""

import os
from typing import Any

from day1site.cli.client import open_client, open_server, server_url
from day1site.cli.connect.clients import CLIENTS
from day1site.cli.connect.state import config_file
from day1site.cli.errors import CliError, UsageError
from day1site.cli.importing.writer import find_project
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import note
from day1site.cli.parameters import OneOf, option
from day1site.hooks.client import capture
from day1site.settings.first_key import read_file

NOTHING = "The next session in {where} would be told nothing."
NO_REPOSITORY = "{folder} is in no git repository: its sessions are known by the folder."


@command(
    "context", "Show what the next session here would be told; nothing is stored.", "day1 context --cwd ."
)
@option("--cwd", "folder", default=".", metavar="FOLDER", help="default: the current folder")
@option("--client", "program", type=OneOf(tuple(CLIENTS)), help="of a connected program; default: the first")
@option("--branch", metavar="NAME", help="default: that of the program's hooks, else main")
def context(run: Invocation, folder: str, program: str | None, branch: str | None) -> None:
    """Ask the server of DAY1_URL, else that of a connected program, else the local store."""
    folder = os.path.abspath(folder)
    if not os.path.isdir(folder):
        raise UsageError(f"There is no folder {folder}.")
    if not capture.find_repository(folder):
        note(NO_REPOSITORY.format(folder=folder))
    settings = {} if server_url() or run.project else find_settings(program or "")
    chosen = branch or settings.get("branch") or "main"
    client = open_server(settings["url"], settings["key"]) if settings else open_client(run.project)
    answer = client.call("sessions.next_context", branch=chosen, repository=find_project(folder))
    if not answer["context"]:
        note(NOTHING.format(where=answer["repository"]))
    run.show(answer, lambda _: print(answer["context"]) if answer["context"] else None)


def find_settings(program: str) -> dict[str, Any]:
    """Return the settings of a program's hooks, {} where none is connected. Raises CliError."""
    for name in [program] if program else CLIENTS:
        file = config_file(name)
        if file.exists():
            settings = read_file(file)
            if not settings.get("url") or not settings.get("key"):
                raise CliError("unauthenticated", f"{file} lacks url or key: day1 doctor says more.")
            return settings
        if program:
            raise CliError("not_found", f"{program} is not connected: day1 connect {program} does it.")
    return {}

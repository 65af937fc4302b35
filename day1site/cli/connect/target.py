"""The server that a program is connected to: found where none is said, and proven by calls with its key."""

import os
import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from day1site.cli.client import Client, base_address, server_url
from day1site.cli.connect.clients import Server
from day1site.cli.connect.state import State
from day1site.cli.errors import CliError, UsageError
from day1site.cli.invocation import Invocation
from day1site.cli.output import note
from day1site.cli.transport.http_transport import HttpTransport
from day1site.cli.transport.local_store import DEFAULT_PROJECT, DEFAULT_URL, name_only_project
from day1site.cli.transport.rest import Api
from day1site.mcp.bridge import Bridge
from day1site.running_servers import RunningServer, list_running, read_running
from day1site.settings.paths import data_dir

DATA_DIR = "DAY1_DATA_DIR"  # also set by --data-dir, see bootstrap.py
LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
PROOF_SECONDS = 10.0  # for each call: a server that hangs is no proof
PATIENT_SECONDS = 60.0  # for each call to a server that may only be busy
LATE = "timed out"  # in every reason for which no answer came in time
FULL = "the project is at its quota: events wait until something is erased or the quota is raised"
RETRY = "python3 manage.py retry_tasks --list shows them, without --list they run again"


@dataclass(frozen=True)
class Target:
    """A server's address, whether it was said or seen running, and where the key is made."""

    url: str
    is_expected: bool
    data_dir: str = ""
    project: str = ""


@dataclass(frozen=True)
class Proof:
    """What calls with a program's key showed: how many tools it has, and what does not work."""

    tools: int
    trouble: list[str]

    @property
    def is_late(self) -> bool:
        """Return whether an answer did not come in time."""
        return any(LATE in one for one in self.trouble)


# ---- finding --------------------------------------------------------------------------------------------


def find_target(url: str, state: State) -> Target:
    """Return the server that is said, else the one that runs, else that of the connection before.

    Raises UsageError where several run.
    """
    url = base_address(url)
    if server_url():
        return Target(url or server_url(), is_expected=True)
    found = find_server(url, state.get("data_dir", ""))
    if found:
        os.environ[DATA_DIR] = str(found.data_dir)
    address = url or (found.url if found else state.get("url") or DEFAULT_URL)
    return Target(address, bool(url or found), str(data_dir()))


def find_server(url: str, known: str) -> RunningServer | None:
    """Return the running server of the data directory said or known, else the one with this address."""
    own = read_running(data_dir())
    if os.environ.get(DATA_DIR):
        return own
    before = read_running(Path(known)) if known else None
    found = list({server.data_dir: server for server in [before, own, *list_running()] if server}.values())
    if url:
        return next((server for server in found if is_same(server.url, url)), None)
    if before or own:
        return before or own
    if len(found) > 1:
        each = ", ".join(f"{server.url} on {server.data_dir}" for server in found)
        raise UsageError(f"Several servers run; choose one with --url: {each}.")
    return found[0] if found else None


def is_same(one: str, other: str) -> bool:
    def read_host(url: str) -> tuple[str, int | None]:
        parts = urlsplit(url)
        host = parts.hostname or ""
        return ("127.0.0.1" if host == "localhost" else host), parts.port

    try:
        return read_host(one) == read_host(other)
    except ValueError:
        return False


def choose_project(run: Invocation, target: Target, makes_store: bool) -> Target:
    """Return the target with the project of the key: the one that is said, else the default or only one."""
    if server_url():
        return target
    if not run.project:
        run.project = name_only_project(makes_store)
    return replace(target, project=run.project or DEFAULT_PROJECT)


def choose_store(run: Invocation, state: State) -> None:
    """Work on the store in which a connection's key was made, unless another one is said."""
    if server_url():
        return
    if state.get("data_dir") and not os.environ.get(DATA_DIR) and Path(state["data_dir"]).is_dir():
        os.environ[DATA_DIR] = state["data_dir"]
    run.project = run.project or state.get("project", "")


def wait_briefly(client: Client) -> AbstractContextManager[None]:
    """Wait for each answer as long as a proof does: a server that hangs is not waited for."""
    return client.answering_within(PROOF_SECONDS)


# ---- proving --------------------------------------------------------------------------------------------


def prove(server: Server, seconds: float = 0.0) -> Proof:
    """Call the server over REST and over MCP, with the program's own key."""
    seconds = seconds or PROOF_SECONDS
    try:
        api = Api(HttpTransport(server.url, server.key, seconds))
        api.get("/facts", limit=1)
        tools, trouble = count_tools(server, seconds)
        health = api.get("/health")
        return Proof(tools, [*trouble, *check_tasks(health), *check_last(health)])
    except CliError as error:
        return Proof(0, [f"{error.code}: {error.text}"])


def prove_patiently(server: Server) -> Proof:
    """Call the server with the new key; say so where it is busy, and wait for it."""
    proof = prove(server)
    if proof.is_late:
        note(f"{server.url} is busy: its answer is waited for, up to {PATIENT_SECONDS:.0f} seconds.")
        proof = prove(server, PATIENT_SECONDS)
    return proof


def count_tools(server: Server, seconds: float) -> tuple[int, list[str]]:
    """Return how many tools /mcp lists, as the program itself would have them."""
    bridge = Bridge(server.url, server.key, sys.stdout)
    bridge.timeout = seconds
    answer = bridge.ask(LIST_TOOLS) or {}
    if tools := answer.get("result", {}).get("tools"):
        return len(tools), []
    reason = answer.get("error", {}).get("message", "it answered nothing")
    return 0, [f"{server.mcp} lists no tools: {reason}"]


def check_tasks(health: dict[str, Any]) -> list[str]:
    """Check whether a task has stopped the server's worker again and again, and whether there is room."""
    count = health.get("queue", {}).get("set_aside")
    aside = [f"{count} tasks stopped the server's worker and are set aside: {RETRY}"] if count else []
    return [*aside, FULL] if health.get("quota", {}).get("full") else aside


def check_last(health: dict[str, Any]) -> list[str]:
    """Check what the last check of the server's store found."""
    problems = health.get("store_check", {}).get("problems") or {}
    found = ", ".join(f"{name} ({count})" for name, count in sorted(problems.items()))
    return [f"the last check of the server's store found {found}: day1 check"] if found else []

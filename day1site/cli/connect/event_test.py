"""A test event: it goes the way of a program's own events, and is looked for on the server."""

import json
import secrets
import subprocess
import time
from pathlib import Path
from typing import Any

from day1site.cli.connect import jsonc, settings_files
from day1site.cli.connect.clients import CLIENTS, Server
from day1site.cli.connect.jsonc import value_at
from day1site.cli.connect.target import PROOF_SECONDS
from day1site.cli.errors import CliError
from day1site.cli.transport.http_transport import HttpTransport
from day1site.cli.transport.rest import Api, quote_place
from day1site.launcher import join_command

EVENT = "Day1Test"  # the server knows it, see conversations/capture/events.py
HOOK_PATH = "/ingest/hook"
SESSION_PREFIX = "day1-doctor-"
TEXT = "Test event of day1 doctor, not the words of a person:"
HOOK_SECONDS, STORE_SECONDS, POLL_SECONDS = 10.0, 15.0, 0.2
MAX_SESSIONS = 20  # the newest of a program, among which the last event is looked for


def send_test_events(program: str, server: Server) -> tuple[bool, list[str]]:
    """Run each hook command that is installed; return whether there is one, and what did not work."""
    commands = find_commands(program, server)
    return bool(commands), [trouble for line in commands for trouble in send_event(program, server, line)]


def find_commands(program: str, server: Server) -> list[str]:
    """Return Day1's commands as they stand in the program's settings now."""
    found: dict[str, None] = {}
    for change in CLIENTS[program](server):
        if change.appended:
            content = jsonc.loads(settings_files.read_file(change.file) or "")
            for entry in filter(settings_files.is_own_hook, value_at(content, change.path) or []):
                found |= dict.fromkeys(read_commands(entry))
    return list(found)


def read_commands(entry: Any) -> list[str]:
    """Return the command lines of a hook's entry, or of a plugin's with its options."""
    if isinstance(entry, list):
        return [join_command(entry[1]["command"])]
    return [handler["command"] for handler in entry.get("hooks", [entry])]


def send_event(program: str, server: Server, line: str) -> list[str]:
    """Run a hook command with an event on its input, in a shell as the program does."""
    mark, session = secrets.token_hex(4), f"{SESSION_PREFIX}{program}"
    event = {
        "hook_event_name": EVENT,
        "session_id": session,
        "prompt_id": mark,
        "prompt": f"{TEXT} {mark}",
        "cwd": str(Path.cwd()),
    }
    try:
        done = subprocess.run(
            line, shell=True, input=json.dumps(event), capture_output=True, text=True, timeout=HOOK_SECONDS
        )
    except subprocess.TimeoutExpired:
        return [f"the hook did not end within {HOOK_SECONDS:.0f} seconds: {line}"]
    if done.returncode or done.stderr.strip():
        return [f"the hook ended with status {done.returncode}: {line}: {done.stderr.strip()[:200]}"]
    return find_refusal(server.config) or look_for(
        Api(HttpTransport(server.url, server.key, PROOF_SECONDS)), session, mark
    )


def find_refusal(config: Path) -> list[str]:
    """Return why no event arrives with the address, key and branch that hooks read, in the server's words."""
    try:
        read = json.loads(settings_files.read_file(config) or "{}")
        query = {"branch": branch} if (branch := str(read.get("branch") or "")) else {}
        transport = HttpTransport(str(read["url"]), str(read["key"]), PROOF_SECONDS)
        transport.request("POST", HOOK_PATH, query, {})  # no event: it asks whether one would be taken
        if branch:
            transport.request("GET", f"/branches/{quote_place(branch)}", {}, None)
    except (ValueError, KeyError, AttributeError):
        return [f"{config} holds no address and key"]
    except CliError as error:
        return [f"no event of it arrives: {error.text}"]
    return []


def look_for(api: Api, session: str, mark: str) -> list[str]:
    """Wait until the server has the event, and check what it became."""
    end = time.monotonic() + STORE_SECONDS
    while True:
        found = read_context(api, session)
        if messages := [row for row in list_messages(found) if str(row["content"]).endswith(mark)]:
            return check_stored(messages, found)
        if time.monotonic() > end:
            return [f"a test event was not stored within {STORE_SECONDS:.0f} seconds of its hook"]
        time.sleep(POLL_SECONDS)


def read_context(api: Api, session: str) -> dict[str, Any]:
    """Return what is stored of a session; {} where it is not known yet."""
    try:
        return dict(api.get(f"/sessions/{quote_place(session)}/context"))
    except CliError as error:
        if error.code != "not_found":
            raise
        return {}


def list_messages(context: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for talk in context.get("conversations", []) for row in talk["messages"]]


def check_stored(messages: list[dict[str, Any]], context: dict[str, Any]) -> list[str]:
    """Check that the event is there once, as nobody's words, and that nothing was learned from it."""
    trouble = [
        f"the test event was stored as words of the {row['role']}"
        for row in messages
        if row["role"] != "system"
    ]
    if len(messages) > 1:
        trouble.append(f"the test event was stored {len(messages)} times")
    return [*trouble, *(["something was learned from the test event"] if context.get("facts") else [])]


def find_last_event(program: str, server: Server) -> str | None:
    """Return when the server heard of a session of the program last, its test events left out."""
    page = Api(HttpTransport(server.url, server.key, PROOF_SECONDS)).get(
        "/sessions", agent_id=program, limit=MAX_SESSIONS
    )
    rows = [row for row in page["results"] if not row["id"].startswith(SESSION_PREFIX)]
    times = [row[name] for row in rows for name in ("active_at", "ended_at", "started_at") if row.get(name)]
    return max(times, default=None)

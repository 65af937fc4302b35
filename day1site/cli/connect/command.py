"""``connect``: a program's settings files, and a key of its own."""

import difflib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from day1site.cli.client import Client
from day1site.cli.connect import always_on, settings_files
from day1site.cli.connect.clients import CLIENTS, NEXT_STEPS, Change, Server, hook_command
from day1site.cli.connect.service.commands import USUAL_PORT
from day1site.cli.connect.service.installation import HOST
from day1site.cli.connect.state import (
    State,
    config_file,
    digest,
    find_profile,
    load_state,
    save_state,
    state_file,
)
from day1site.cli.connect.target import (
    Proof,
    Target,
    choose_project,
    find_target,
    prove_patiently,
    wait_briefly,
)
from day1site.cli.connect.undo import undo_connection
from day1site.cli.errors import CliError, UsageError
from day1site.cli.importing.command import import_memory, summarise
from day1site.cli.importing.instructions import NAMES
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import note
from day1site.cli.parameters import WHOLE, OneOf, argument, option, switch
from day1site.cli.transport.rest import iterate_rows, require_address
from day1site.mcp_profiles import DEFAULT, PROFILES
from day1site.settings.paths import IS_CHECKOUT, command_prefix

DAYS = 30
HIDDEN_KEY = "day1_…"
DAY1 = command_prefix()
UP = f"{'python3 manage.py' if IS_CHECKOUT else 'day1'} up"
KEEP = f"`{DAY1} service install`"
PRINT = "print"
NAMES_OF_PROGRAMS = ("claude-code", "cursor", "codex", "gemini", "vscode", "windsurf", "opencode", PRINT)

Plan = list[tuple[Path, str | None, str | None, str]]  # file, text to go back to, text now, new text


@command(
    "connect",
    "Connect an agent's program: MCP and hooks in its settings, with a way back.",
    "day1 connect claude-code --dry-run",
    "day1 connect claude-code --undo",
)
@argument("program", "PROGRAM", type=OneOf(NAMES_OF_PROGRAMS), help=", ".join(NAMES_OF_PROGRAMS))
@option("--url", metavar="URL", help="of the server; default: DAY1_URL, else the one that runs here")
@option(
    "--profile",
    type=OneOf(PROFILES),
    help="tools that the program lists: core (default), memory, all or chatgpt",
)
@switch("--dry-run", help="show the changes, make none")
@switch("--undo", help="take everything back, and revoke its key")
@switch("--yes", help="keep Day1 running as a service and put day1 on the PATH, without a question")
@option("--port", type=WHOLE, metavar="PORT", help="of the service; default 8765")
def connect(
    run: Invocation,
    program: str,
    url: str | None,
    profile: str | None,
    dry_run: bool,
    undo: bool,
    **lasting: Any,
) -> int:
    """End with status 1 when a server that should be there does not take the program's key."""
    if url:
        require_address("--url", url)
    if undo and program == PRINT:
        raise UsageError("print changes nothing, so there is nothing to undo.")
    if undo:
        return undo_connection(run, program, dry_run)
    if program == PRINT:
        print_manual(run, find_target(url or "", {}).url, profile or DEFAULT)
        return 0
    if dry_run:
        return link(run, program, url or "", profile, dry_run)
    return link_for_long(run, program, url or "", profile, **lasting)


def link_for_long(
    run: Invocation, program: str, url: str, profile: str | None, yes: bool, port: int | None
) -> int:
    """Connect a program to a server that runs from now on, where that is wanted; see ``always_on``."""
    state = load_state(program)
    is_first, found = not state, find_target(url, state)
    makes_last = yes
    if yes and found.is_expected:
        always_on.note_unkept(found.data_dir)
    elif not found.is_expected and (makes_last := always_on.wants_service(yes)):
        always_on.start_service(program, state, port)
    status = link(run, program, url, profile, dry_run=False, port=port)
    if makes_last:
        always_on.put_on_path(program, load_state(program))
    target = find_target(url, load_state(program))
    if makes_last and is_first and target.data_dir and target.is_expected and not status:
        always_on.open_pages(target.url)
    return status


def link(
    run: Invocation, program: str, url: str, profile: str | None, dry_run: bool, port: int | None = None
) -> int:
    """Write the settings; ``port`` is that of a server which does not run yet."""
    expected = {"url": f"http://{HOST}:{port}"} if port else {}
    state, config = load_state(program) | expected, config_file(program)
    target = choose_project(run, find_target(url, state), makes_store=not dry_run)
    client = run.open_client(makes_store=not dry_run)
    preview = Server(target.url, HIDDEN_KEY, config, profile or find_profile(state))
    plan = plan_changes(CLIENTS[program](preview), state)  # refuses before a key is made
    folders = check_files([*(file for file, *_ in plan), config, state_file(program)])
    if dry_run:
        run.show(
            describe(program, target, plan) | {"dry_run": True},
            lambda _: print_differences(target, plan, state.get("key") or HIDDEN_KEY),
        )
        return 0
    state |= {"data_dir": target.data_dir, "project": target.project}
    state["folders"] = [*state.get("folders", []), *folders]
    with wait_briefly(client):  # where no answer comes nothing was written yet
        server = replace(preview, key=find_key(client, state, program))
    plan = plan_changes(CLIENTS[program](server), state)
    write_plan(program, server, state, plan)
    proof = prove_patiently(server) if target.is_expected else None
    answer = describe(program, target, plan) | {"dry_run": False, "proof": proof and asdict(proof)}
    run.show(answer, lambda _: print_done(program, plan))
    print_proof(target, proof)
    if not run.is_json:
        offer_import(client, program)
    return 1 if proof and proof.trouble else 0


def describe(program: str, target: Target, plan: Plan) -> dict[str, Any]:
    files = [{"file": str(file), "changed": old != new} for file, _, old, new in plan]
    place = {"url": target.url, "data_dir": target.data_dir, "project": target.project}
    return {"program": program, **place, "files": files}


def check_files(files: Sequence[Path]) -> list[str]:
    """Return the folders that have to be made. Raises CliError where something may not be written."""
    for file in files:
        settings_files.check_writable(file)
    return settings_files.list_missing_folders(files)


def plan_changes(changes: Sequence[Change], state: State) -> Plan:
    plan: Plan = []
    for file in dict.fromkeys(change.file for change in changes):
        own = [change for change in changes if change.file == file]
        now, known = settings_files.read_file(file), state.get("files", {}).get(str(file))
        if known and now is not None and digest(now) == known["wrote"]:
            base: str | None = known["before"]
        else:
            found = (known["before"] or "") if known else None
            base = None if now is None else settings_files.remove_changes(file, now, own, found)
        plan.append((file, base, now, settings_files.apply_changes(file, base or "", own)))
    return plan


def read_options(config: Path) -> dict[str, Any]:
    """Return what a person may have added to the hooks' config: what is off stays off."""
    try:
        known = json.loads(settings_files.read_file(config) or "{}")
    except ValueError:
        return {}
    return known if isinstance(known, dict) else {}


def write_plan(program: str, server: Server, state: State, plan: Plan) -> None:
    """Write first the way back, then the files: whatever happens in between can be undone."""
    state |= {"url": server.url, "listed": server.profile}
    state["files"] = {str(file): {"before": base, "wrote": digest(new)} for file, base, _, new in plan}
    save_state(program, state)
    config = read_options(server.config) | {"url": server.url, "key": server.key}
    settings_files.write_file(server.config, json.dumps(config, indent=2) + "\n")
    for file, _, now, new in plan:
        if new != now:
            settings_files.write_file(file, new)


def find_key(client: Client, state: State, program: str) -> str:
    """Return the program's own key; the one that it has, as long as it is open."""
    if state.get("key") and is_open(client, state["key_id"]):
        return str(state["key"])
    key = client.call("keys.create", label=program, scopes=["write"])
    state |= {"key": key["token"], "key_id": key["id"]}
    save_state(program, state)
    return str(key["token"])


def is_open(client: Client, key_id: str) -> bool:
    keys = iterate_rows(lambda paging: client.call("keys.list", **paging))
    return any(row["id"] == key_id and row["revoked_at"] is None for row in keys)


# ---- what is shown ---------------------------------------------------------------------------------


def print_done(program: str, plan: Plan) -> None:
    for file, _, now, new in plan:
        print(f"{file}\t{'as it was' if now == new else 'made' if now is None else 'changed'}")
    note(f"{NEXT_STEPS[program]} The way back: {DAY1} connect {program} --undo")


def describe_port(url: str) -> str:
    """Return the option of ``up`` for an address, where it needs one."""
    port = urlsplit(url).port
    return f" --port {port}" if port and port != USUAL_PORT else ""


def print_proof(target: Target, proof: Proof | None) -> None:
    """Say what the calls with the new key have shown."""
    if proof is None:
        start = f"{UP}{describe_port(target.url)}"
        note(f"No server runs here yet: start it with `{start}`, or keep it running: {KEEP}.")
        note(f"It is written for {target.url}.")
    elif proof.trouble:
        fault = "is not proven: no answer came in time" if proof.is_late else "does not work"
        note(f"It is written, but {fault}: {'; '.join(proof.trouble)}")
        if proof.is_late:
            note(f"The program may be started all the same; {DAY1} doctor asks the server again.")
            return
        note(f"The key was made in {describe_store(target)}: the server must have the same data.")
    else:
        place = describe_store(target)
        note(f"{target.url} knows the key, of {place}, and lists {proof.tools} tools.")
        note(f"{DAY1} doctor sends a test event through what was written.")


def describe_store(target: Target) -> str:
    if not target.data_dir:
        return "the project of DAY1_KEY"
    return f"the project {target.project} in {target.data_dir}"


def print_differences(target: Target, plan: Plan, key: str) -> None:
    for file, _, now, new in plan:
        old = (now or "").replace(key, HIDDEN_KEY).splitlines()
        lines = new.replace(key, HIDDEN_KEY).splitlines()
        for line in difflib.unified_diff(old, lines, str(file), str(file), lineterm=""):
            print(line)
    note(f"Nothing was changed. The server is {target.url}, the key would be of {describe_store(target)}.")


def print_manual(run: Invocation, url: str, profile: str) -> None:
    """Print what a program that is not in the list needs to know."""
    config = config_file("NAME")
    server = Server(url, "KEY", config, profile)
    answer = {
        "mcp": {"url": server.mcp, "headers": server.headers},
        "hook": hook_command("NAME", server),
        "hook_config": {"file": str(config), "content": {"url": url, "key": "KEY"}},
    }
    run.show(answer)
    note("KEY is what this prints: day1 keys create NAME")


# ---- what there is to import ------------------------------------------------------------------------


def find_sources(program: str) -> list[tuple[str, Path, int | None]]:
    """Return what the program remembers already: (kind, path, days)."""
    home = Path.home()
    folders = {
        "claude-code": Path(os.environ.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects",
        "codex": Path(os.environ.get("CODEX_HOME") or home / ".codex") / "sessions",
        "gemini": home / ".gemini" / "tmp",
        "opencode": Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode",
    }
    sources: list[tuple[str, Path, int | None]] = []
    if program in folders and folders[program].is_dir():
        sources.append((program, folders[program], DAYS))
    folder = Path.cwd()
    if any(next(folder.glob(name), None) for name in NAMES):
        sources.append(("instructions", folder, None))
    return sources


def offer_import(client: Client, program: str) -> None:
    """Count first; then ask a person at a terminal, and tell anybody else the command."""
    for kind, path, days in find_sources(program):
        try:
            counts, report = import_memory(client, kind, path, "main", dry_run=True, since=days)
        except CliError:
            continue
        if not any(state == "new" and count for (_, state), count in counts.items()):
            continue
        since = f" --since {days}" if days else ""
        note(f"{path} holds {summarise(counts, 'main', dry_run=True)}")
        if sys.stdin.isatty() and input("Import it? [y/N] ").strip().lower() in ("y", "yes"):
            counts, report = import_memory(client, kind, path, "main", dry_run=False, since=days)
            note(summarise(counts, "main", dry_run=False))
            if report.broken:
                note(f"{len(report.broken)} lines were broken.")
        else:
            note(f"To import it: day1 import-from {kind} {path}{since}")

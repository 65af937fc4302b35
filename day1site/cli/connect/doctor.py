"""``doctor``: what is connected, and whether it works, tried with an event of each program."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from day1site.cli.connect import jsonc, settings_files
from day1site.cli.connect.clients import CLIENTS, Server, codex_files, hook_switches
from day1site.cli.connect.codex_trust import check_trust
from day1site.cli.connect.event_test import find_last_event, send_test_events
from day1site.cli.connect.state import State, config_file, load_server, load_state
from day1site.cli.connect.target import prove
from day1site.cli.connect.versions import check_version, read_version
from day1site.cli.errors import CliError
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import note, print_table, short_time

Report = dict[str, Any]
SET_ASIDE = {  # files of a spool, and why the events in them are there
    "broken.jsonl": "could not be read as JSON and will not be sent",
    "refused.jsonl": "were refused or left out by the server for good",
}


@command("doctor", "Test each connected program, from its settings to what the server stored.", "day1 doctor")
def doctor(run: Invocation) -> int:
    """End with status 1 when something that is connected does not work."""
    programs = [check_program(name, state) for name in CLIENTS if (state := load_state(name))]
    run.show({"programs": programs}, lambda _: print_programs(programs))
    return 1 if any(program["trouble"] for program in programs) else 0


def check_program(name: str, state: State) -> Report:
    config = config_file(name)
    server = load_server(name, state)
    version, why_unknown = read_version(name)
    trouble = [*check_settings(name, server), *check_version(name, version)]
    folder = config.with_name(f"{config.name}.spool")
    waiting = count_waiting(folder)  # before a test event waits there too
    refused = prove(server).trouble
    tested, untested = (False, []) if refused else try_hooks(name, server)
    return {
        "program": name,
        "version": version,
        "url": server.url,
        "tested": tested,
        "waiting": waiting,
        "reached": not refused,
        "last_event": None if refused else find_last_event(name, server),
        "set_aside": count_set_aside(folder),
        "dropped": count_dropped(folder),
        "notes": [why_unknown] if why_unknown else [],
        "trouble": [*trouble, *refused, *untested],
    }


def check_settings(name: str, server: Server) -> list[str]:
    """Check whether the program's files hold what connect wrote, and whether it heeds that."""
    trouble = list(find_lost_files(name, server))
    trouble += [] if server.config.exists() else [f"{server.config} is gone"]
    off = [
        (file, word) for file, word in hook_switches(name) if settings_files.read_value(file, word) is True
    ]
    trouble += [f"{file} turns the hooks off: {word}" for file, word in off]
    return [*trouble, *(check_trust(*codex_files()) if name == "codex" else [])]


def try_hooks(name: str, server: Server) -> tuple[bool | None, list[str]]:
    """Send a test event; return whether it went all the way, and what is in its way.

    None stands for a program that Day1 has no hooks for.
    """
    if not any(change.appended for change in CLIENTS[name](server)):
        return None, []
    try:
        sent, trouble = send_test_events(name, server)
    except (CliError, jsonc.NotJson, OSError, TypeError, KeyError) as error:
        return False, [f"no test event could be sent: {error}"]
    return sent and not trouble, trouble


def find_lost_files(name: str, server: Server) -> Iterator[str]:
    """Yield which files do not hold all of it any more, and which nobody can read."""
    changes = CLIENTS[name](server)
    for file in dict.fromkeys(change.file for change in changes):
        own = [change for change in changes if change.file == file]
        try:
            text = settings_files.read_file(file)
        except CliError:
            yield f"{file} cannot be read: it is not UTF-8"
            continue
        if text is not None and (error := settings_files.find_error(text, own[0])):
            yield f"{file} cannot be read: {error}"
        elif text is None or any(not settings_files.holds_change(text, change) for change in own):
            yield f"{file} has lost what connect wrote"


def count_waiting(folder: Path) -> int:
    """Return how many events of a spool wait to be sent."""
    events, mark = folder / "events.jsonl", folder / "delivered"
    if not events.exists():
        return 0
    text = (settings_files.read_file(mark) or "").strip() if mark.exists() else ""
    return events.read_bytes()[int(text) if text.isdigit() else 0 :].count(b"\n")


def count_set_aside(folder: Path) -> list[Report]:
    """Count the events that were taken out of the spool, since they cannot be delivered."""
    files = [file for name in SET_ASIDE if (file := folder / name).exists()]
    counts = [(file, file.read_bytes().count(b"\n")) for file in files]
    return [{"file": str(file), "events": count} for file, count in counts if count]


def count_dropped(folder: Path) -> int:
    """Return how many events were dropped since more of them waited than a spool holds."""
    file = folder / "dropped"
    text = (settings_files.read_file(file) or "").strip() if file.exists() else ""
    return int(text) if text.isdigit() else 0


def print_programs(programs: list[Report]) -> None:
    if not programs:
        note("No program is connected: day1 connect PROGRAM connects one.")
        return
    columns = ["program", "server", "waiting", "last event", "text"]
    print_table(columns, [program_cells(row) for row in programs])
    for row in programs:
        for text in row["notes"]:
            note(f"{row['program']}: {text}.")
        if row["dropped"]:
            note(f"{row['program']}: {row['dropped']} events were dropped, the oldest: too many waited.")
        for entry in row["set_aside"]:
            note(describe_set_aside(row["program"], **entry))


def program_cells(row: Report) -> list[Any]:
    works = "works, without hooks" if row["tested"] is None else "works, a test event was stored"
    name = f"{row['program']} {row['version']}".strip()
    last = short_time(row["last_event"]) or ("never" if row["reached"] else "not known")
    return [name, row["url"], row["waiting"], last, "; ".join(row["trouble"]) or works]


def describe_set_aside(program: str, file: str, events: int) -> str:
    count = "1 event" if events == 1 else f"{events} events"
    why = SET_ASIDE[Path(file).name].replace("were", "was" if events == 1 else "were")
    return f"{program}: {count} {why}: look into {file}, and delete it when it is of no more use."

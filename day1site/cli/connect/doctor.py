"""``doctor``: what is connected, and whether it works."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from day1site.cli.connect import settings_files
from day1site.cli.connect.clients import CLIENTS, Server, hook_switches
from day1site.cli.connect.state import State, config_file, load_state
from day1site.cli.connect.target import prove
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import Output, note, short_time

Report = dict[str, Any]
SET_ASIDE = {  # files of a spool, and why the events in them are there
    "broken.jsonl": "could not be read as JSON and will not be sent",
    "refused.jsonl": "were refused by the server for good",
}


@command("doctor", "Say which programs are connected, and whether that works.", "day1 doctor")
def doctor(run: Invocation) -> int:
    """End with status 1 when something that is connected does not work."""
    programs = [check_program(name, state) for name in CLIENTS if (state := load_state(name))]
    run.show({"programs": programs}, lambda out: print_programs(out, programs))
    return 1 if any(program["trouble"] for program in programs) else 0


def check_program(name: str, state: State) -> Report:
    config = config_file(name)
    server = Server(state.get("url", ""), state.get("key", ""), config)
    lost = [str(file) for file in find_lost_files(name, server)]
    trouble = [f"{file} has lost what connect wrote" for file in lost]
    trouble += [] if config.exists() else [f"{config} is gone"]
    off = [
        (file, word) for file, word in hook_switches(name) if settings_files.read_value(file, word) is True
    ]
    trouble += [f"{file} turns the hooks off: {word}" for file, word in off]
    trouble += prove(server).trouble
    folder = config.with_name(f"{config.name}.spool")
    waiting, last = read_spool(folder)
    return {
        "program": name,
        "url": server.url,
        "waiting": waiting,
        "last_event": last,
        "set_aside": count_set_aside(folder),
        "trouble": trouble,
    }


def find_lost_files(name: str, server: Server) -> list[Path]:
    """Return the files that do not hold all of it any more."""
    changes = CLIENTS[name](server)
    lost = []
    for file in dict.fromkeys(change.file for change in changes):
        own = [change for change in changes if change.file == file]
        text = settings_files.read_file(file)
        if text is None or any(not settings_files.holds_change(text, change) for change in own):
            lost.append(file)
    return lost


def read_spool(folder: Path) -> tuple[int, str | None]:
    """Return how many events wait, and when the last one came."""
    events, mark = folder / "events.jsonl", folder / "delivered"
    if not events.exists():
        return 0, None
    text = (settings_files.read_file(mark) or "").strip() if mark.exists() else ""
    done = int(text) if text.isdigit() else 0
    waiting = events.read_bytes()[done:].count(b"\n")
    return waiting, datetime.fromtimestamp(events.stat().st_mtime, UTC).isoformat()


def count_set_aside(folder: Path) -> list[Report]:
    """Count the events that were taken out of the spool, since they cannot be delivered."""
    files = [file for name in SET_ASIDE if (file := folder / name).exists()]
    counts = [(file, file.read_bytes().count(b"\n")) for file in files]
    return [{"file": str(file), "events": count} for file, count in counts if count]


def print_programs(out: Output, programs: list[Report]) -> None:
    if not programs:
        note("No program is connected: day1 connect PROGRAM connects one.")
        return
    out.table(
        ["program", "server", "waiting", "last event", "text"], [program_cells(row) for row in programs]
    )
    for row in programs:
        for entry in row["set_aside"]:
            note(describe_set_aside(row["program"], **entry))


def program_cells(row: Report) -> list[Any]:
    trouble = "; ".join(row["trouble"]) or "works"
    return [row["program"], row["url"], row["waiting"], short_time(row["last_event"]), trouble]


def describe_set_aside(program: str, file: str, events: int) -> str:
    count = "1 event" if events == 1 else f"{events} events"
    why = SET_ASIDE[Path(file).name].replace("were", "was" if events == 1 else "were")
    return f"{program}: {count} {why}: look into {file}, and delete it when it is of no more use."

"""``doctor``: what is connected, and whether it works."""

import sys
from argparse import Namespace
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from day1site.cli.connecting import files
from day1site.cli.connecting.command import config_file, load
from day1site.cli.connecting.programs import PROGRAMS, Server, switches
from day1site.cli.errors import CliError
from day1site.cli.output import Output, note, short
from day1site.cli.remote import Api
from day1site.mcp.bridge import Bridge

Found = dict[str, Any]
ASIDE = {  # files of a spool, and what is to be said of the events in them
    "broken.jsonl": "could not be read as JSON and will not be sent",
    "refused.jsonl": "were refused by the server for good",
}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


def doctor(args: Namespace) -> int:
    """Status 1 when something that is connected does not work."""
    found = [_program(name, state) for name in PROGRAMS if (state := load(name))]
    out = Output(args.format)
    out.show({"programs": found}, lambda: _show(out, found))
    return 1 if any(one["trouble"] for one in found) else 0


def _program(name: str, state: Mapping[str, Any]) -> Found:
    config = config_file(name)
    server = Server(state.get("url", ""), state.get("key", ""), config)
    lost = [str(file) for file in _lost(name, server)]
    trouble = [f"{file} has lost what connect wrote" for file in lost]
    trouble += [] if config.exists() else [f"{config} is gone"]
    off = [(file, word) for file, word in switches(name) if files.value_at(file, word) is True]
    trouble += [f"{file} turns the hooks off: {word}" for file, word in off]
    trouble += _answers(server)
    folder = config.with_name(f"{config.name}.spool")
    waiting, last = _spool(folder)
    return {
        "program": name, "url": server.url, "waiting": waiting, "last_event": last,
        "set_aside": _set_aside(folder), "trouble": trouble,
    }  # fmt: skip


def _lost(name: str, server: Server) -> list[Path]:
    """The files that do not hold all of it any more."""
    changes = PROGRAMS[name](server)
    lost = []
    for file in dict.fromkeys(change.file for change in changes):
        own = [change for change in changes if change.file == file]
        text = files.read(file)
        if text is None or any(not files.holds(text, change) for change in own):
            lost.append(file)
    return lost


def _answers(server: Server) -> list[str]:
    """Whether the server is there and knows the key, over REST and over MCP."""
    try:
        Api(server.url, server.key).get("/facts", limit=1)
        return _mcp(server)
    except CliError as error:
        return [f"{error.code}: {error.text}"]


def _mcp(server: Server) -> list[str]:
    """Whether /mcp lists its tools, as the program itself would ask for them."""
    answer = Bridge(server.url, server.key, "", sys.stdout).ask(LIST) or {}
    if answer.get("result", {}).get("tools"):
        return []
    return [f"{server.mcp} lists no tools: {answer.get('error', {}).get('message', 'it answered nothing')}"]


def _spool(folder: Path) -> tuple[int, str | None]:
    """How many events wait, and when the last one came."""
    events, mark = folder / "events.jsonl", folder / "delivered"
    if not events.exists():
        return 0, None
    text = (files.read(mark) or "").strip() if mark.exists() else ""
    done = int(text) if text.isdigit() else 0
    waiting = events.read_bytes()[done:].count(b"\n")
    return waiting, datetime.fromtimestamp(events.stat().st_mtime, UTC).isoformat()


def _set_aside(folder: Path) -> list[Found]:
    """The events that were taken out of the spool, since they cannot be delivered: how many, and where."""
    there = [file for name in ASIDE if (file := folder / name).exists()]
    counts = [(file, file.read_bytes().count(b"\n")) for file in there]
    return [{"file": str(file), "events": count} for file, count in counts if count]


def _show(out: Output, found: list[Found]) -> None:
    if not found:
        note("No program is connected: day1 connect PROGRAM connects one.")
        return
    rows = [[one["program"], one["url"], one["waiting"], short(one["last_event"]),
             "; ".join(one["trouble"]) or "works"] for one in found]  # fmt: skip
    out.table(["program", "server", "waiting", "last event", "text"], rows)
    for one in found:
        for aside in one["set_aside"]:
            note(_aside(one["program"], **aside))


def _aside(program: str, file: str, events: int) -> str:
    what = "1 event" if events == 1 else f"{events} events"
    why = ASIDE[Path(file).name].replace("were", "was" if events == 1 else "were")
    return f"{program}: {what} {why}: look into {file}, and delete it when it is of no more use."

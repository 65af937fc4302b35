"""``connect``: a program's settings files, a key of its own, and the way back."""

import difflib
import hashlib
import json
import os
import shutil
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from day1site.cli.client import Client, client, server
from day1site.cli.connecting import files
from day1site.cli.connecting.programs import NEXT, PROGRAMS, Change, Server, command
from day1site.cli.errors import CliError, UsageError
from day1site.cli.importing import command as importing
from day1site.cli.importing.instructions import NAMES
from day1site.cli.output import Output, note
from day1site.cli.store import DEFAULT_URL
from memory.exceptions import Day1Error

DAYS = 30
HIDDEN = "day1_…"

State = dict[str, Any]


def connect(args: Namespace) -> None:
    url = (args.url or server() or DEFAULT_URL).rstrip("/")
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"--url must be an address such as {DEFAULT_URL}, not {url}.")
    if args.undo and args.program == "print":
        raise UsageError("print changes nothing, so there is nothing to undo.")
    if args.undo:
        undo(args)
    elif args.program == "print":
        show(args, url)
    else:
        link(args, url)


def config_file(program: str) -> Path:
    """What the program's hooks read: address and key, its owner's alone; the spool stands beside it."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "day1" / f"{program}.json"


def state_file(program: str) -> Path:
    return config_file(program).with_suffix(".connected.json")


# ---- connecting ------------------------------------------------------------------------------------


def link(args: Namespace, url: str) -> None:
    state, config = load(args.program), config_file(args.program)
    store = client(args.project, makes_store=not args.dry_run)
    shown = Server(url, HIDDEN, config)
    plan = _plan(PROGRAMS[args.program](shown), state)  # refuses what cannot be done before a key is made
    where = shown if args.dry_run else Server(url, _key(store, state, args.program), config)
    plan = _plan(PROGRAMS[args.program](where), state)
    out = Output(args.format)
    told = {"program": args.program, "url": url, "dry_run": args.dry_run,
            "files": [{"file": str(file), "changed": old != new} for file, _, old, new in plan]}  # fmt: skip
    if args.dry_run:
        out.show(told, lambda: _differences(out, plan, state.get("key") or HIDDEN))
        return
    _write(args.program, where, state, plan)
    out.show(told, lambda: _done(out, args.program, plan))
    if not out.json:
        offer(args, store)


Plan = list[tuple[Path, str | None, str | None, str]]  # file, text to go back to, text now, text wanted


def _plan(changes: Sequence[Change], state: State) -> Plan:
    plan: Plan = []
    for file in dict.fromkeys(change.file for change in changes):
        own = [change for change in changes if change.file == file]
        now, known = files.read(file), state.get("files", {}).get(str(file))
        if known and now is not None and digest(now) == known["wrote"]:
            base: str | None = known["before"]
        else:
            base = None if now is None else files.without(file, now, own)
        plan.append((file, base, now, files.changed(file, base or "", own)))
    return plan


def _write(program: str, where: Server, state: State, plan: Plan) -> None:
    """First the way back, then the files: whatever happens in between can be undone."""
    state["url"] = where.url
    state["files"] = {str(file): {"before": base, "wrote": digest(new)} for file, base, _, new in plan}
    files.write(state_file(program), json.dumps(state, indent=2))
    files.write(where.config, json.dumps({"url": where.url, "key": where.key}, indent=2) + "\n")
    for file, _, now, new in plan:
        if new != now:
            files.write(file, new)


def _key(store: Client, state: State, program: str) -> str:
    """The program's own key; the one that it has, as long as it is open."""
    if state.get("key") and _is_open(store, state["key_id"]):
        return str(state["key"])
    made = store.create_key({"label": program, "scopes": ["write"]})
    state |= {"key": made["token"], "key_id": made["id"]}
    files.write(state_file(program), json.dumps(state, indent=2))
    return str(made["token"])


def _is_open(store: Client, key_id: str) -> bool:
    paging: dict[str, Any] = {"limit": 100}
    while True:
        page = store.list_keys(paging)
        for row in page["results"]:
            if row["id"] == key_id:
                return row["revoked_at"] is None
        if not page["next"]:
            return False
        paging = {"limit": 100, "cursor": page["next"]}


def _done(out: Output, program: str, plan: Plan) -> None:
    for file, _, now, new in plan:
        out.line(f"{file}\t{'as it was' if now == new else 'made' if now is None else 'changed'}")
    note(f"{NEXT[program]} The way back: day1 connect {program} --undo")


def _differences(out: Output, plan: Plan, key: str) -> None:
    for file, _, now, new in plan:
        old = (now or "").replace(key, HIDDEN).splitlines()
        lines = difflib.unified_diff(old, new.replace(key, HIDDEN).splitlines(), str(file), str(file),
                                     lineterm="")  # fmt: skip
        for line in lines:
            out.line(line)
    note("Nothing was changed.")


def show(args: Namespace, url: str) -> None:
    """For a program that is not in the list: what it has to be told."""
    told = {
        "mcp": {"url": f"{url}/mcp", "headers": {"Authorization": "Bearer KEY"}},
        "hook": command("NAME", Server(url, "KEY", config_file("NAME"))),
        "hook_config": {"file": str(config_file("NAME")), "content": {"url": url, "key": "KEY"}},
    }
    out = Output(args.format)
    out.show(told, lambda: out.pairs(told))
    note("KEY is what this prints: day1 keys create NAME")


# ---- the way back ----------------------------------------------------------------------------------


def undo(args: Namespace) -> None:
    state, program = load(args.program), args.program
    if not state:
        raise CliError("not_found", f"{program} is not connected.")
    where = Server(state.get("url", ""), state.get("key", ""), config_file(program))
    changes = PROGRAMS[program](where)
    done = []
    for name, known in state.get("files", {}).items():
        own = [change for change in changes if str(change.file) == name]
        done.append({"file": name, "done": _restored(Path(name), known, own, args.dry_run)})
    if not args.dry_run:
        _revoke(args, state)
        _forget(config_file(program))
        state_file(program).unlink()
    out = Output(args.format)
    told = {"program": program, "dry_run": args.dry_run, "files": done}
    out.show(told, lambda: out.line("\n".join(f"{one['file']}\t{one['done']}" for one in done)))


def _forget(config: Path) -> None:
    """Remove the config, and the spool beside it where all of it was sent."""
    config.unlink(missing_ok=True)
    spool = config.with_name(f"{config.name}.spool")
    events = spool / "events.jsonl"
    done = (files.read(spool / "delivered") or "0").strip()
    waiting = events.exists() and events.stat().st_size - int(done if done.isdigit() else 0)
    if waiting:
        note(f"{waiting} bytes of events were not sent yet; they are kept in {events}.")
    else:
        shutil.rmtree(spool, ignore_errors=True)


def _restored(file: Path, known: State, own: Sequence[Change], dry: bool) -> str:
    """As it was, where nobody wrote to it since; else only what is Day1's is taken out."""
    now = files.read(file)
    if now is None:
        return "gone already"
    if digest(now) == known["wrote"]:
        wanted, done = known["before"], "as it was before"
    else:
        wanted, done = files.without(file, now, own), "without Day1; the rest was changed since and stays"
    if not dry and wanted is None:
        file.unlink()
    elif not dry and wanted != now:
        files.write(file, wanted)
    return "removed" if wanted is None else done


def _revoke(args: Namespace, state: State) -> None:
    try:
        client(args.project).revoke_key(state["key_id"])
    except (CliError, Day1Error, KeyError) as error:
        text = getattr(error, "text", "it is not known")
        note(f"The key {args.program} was not revoked: {text} day1 keys list shows it.")


# ---- the state -------------------------------------------------------------------------------------


def load(program: str) -> State:
    text = files.read(state_file(program))
    try:
        return dict(json.loads(text)) if text else {}
    except ValueError:
        raise CliError("invalid", f"{state_file(program)} is not JSON.") from None


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# ---- what there is to import ------------------------------------------------------------------------


def sources(program: str) -> list[tuple[str, Path, int | None]]:
    """What the program remembers already: (kind, path, days)."""
    home = Path.home()
    talks = {
        "claude-code": Path(os.environ.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects",
        "codex": Path(os.environ.get("CODEX_HOME") or home / ".codex") / "sessions",
    }
    found: list[tuple[str, Path, int | None]] = []
    if program in talks and talks[program].is_dir():
        found.append((program, talks[program], DAYS))
    here = Path.cwd()
    if any(next(here.glob(name), None) for name in NAMES):
        found.append(("instructions", here, None))
    return found


def offer(args: Namespace, store: Client) -> None:
    """Counts first; a person at a terminal is asked, anybody else is told the command."""
    for kind, path, days in sources(args.program):
        try:
            counts, report = importing.run(store, kind, path, "main", dry=True, since=days)
        except CliError:
            continue
        if not any(state == "new" and count for (_, state), count in counts.items()):
            continue
        since = f" --since {days}" if days else ""
        note(f"{path} holds {importing.summary(counts, 'main', dry=True)}")
        if sys.stdin.isatty() and input("Import it? [y/N] ").strip().lower() in ("y", "yes"):
            counts, report = importing.run(store, kind, path, "main", dry=False, since=days)
            note(importing.summary(counts, "main", dry=False))
            if report.broken:
                note(f"{len(report.broken)} lines were broken.")
        else:
            note(f"To import it: day1 import-from {kind} {path}{since}")

"""``connect --undo``: the settings files as they were, the key revoked."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from day1site.cli.connect import settings_files
from day1site.cli.connect.clients import CLIENTS, Change
from day1site.cli.connect.state import State, config_file, digest, load_server, load_state, state_file
from day1site.cli.errors import CliError
from day1site.cli.invocation import Invocation
from day1site.cli.output import note
from memory.exceptions import Day1Error


def undo_connection(run: Invocation, program: str, dry_run: bool) -> None:
    state = load_state(program)
    if not state:
        raise CliError("not_found", f"{program} is not connected.")
    server = load_server(program, state)
    changes = CLIENTS[program](server)
    files = []
    for name, known in state.get("files", {}).items():
        own = [change for change in changes if str(change.file) == name]
        files.append({"file": name, "done": restore_file(Path(name), known, own, dry_run)})
    if not dry_run:
        revoke_key(run, program, state)
        remove_config(config_file(program))
        state_file(program).unlink()
    answer = {"program": program, "dry_run": dry_run, "files": files}
    run.show_line(answer, "\n".join(f"{entry['file']}\t{entry['done']}" for entry in files))


def restore_file(file: Path, known: State, own: Sequence[Change], dry_run: bool) -> str:
    """Put it back as it was, where nobody wrote to it since; else take out only what is Day1's."""
    now = settings_files.read_file(file)
    if now is None:
        return "gone already"
    if digest(now) == known["wrote"]:
        text, done = known["before"], "as it was before"
    else:
        text = settings_files.remove_changes(file, now, own)
        done = "without Day1; the rest was changed since and stays"
    if not dry_run and text is None:
        file.unlink()
    elif not dry_run and text != now:
        settings_files.write_file(file, text)
    return "removed" if text is None else done


def remove_config(config: Path) -> None:
    """Remove the config, and its spool where all of that was sent."""
    config.unlink(missing_ok=True)
    spool = config.with_name(f"{config.name}.spool")
    events = spool / "events.jsonl"
    sent = (settings_files.read_file(spool / "delivered") or "0").strip()
    waiting = events.exists() and events.stat().st_size - int(sent if sent.isdigit() else 0)
    if waiting:
        note(f"{waiting} bytes of events were not sent yet; they are kept in {events}.")
    else:
        shutil.rmtree(spool, ignore_errors=True)


def revoke_key(run: Invocation, program: str, state: State) -> None:
    try:
        run.open_client().revoke_key(state["key_id"])
    except (CliError, Day1Error, KeyError) as error:
        text = getattr(error, "text", "it is not known")
        note(f"The key {program} was not revoked: {text} day1 keys list shows it.")

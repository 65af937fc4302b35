"""``connect --undo``: the settings files as they were, the key revoked."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from day1site.cli.connect import always_on, settings_files
from day1site.cli.connect.clients import CLIENTS, Change
from day1site.cli.connect.state import (
    State,
    config_file,
    digest,
    load_server,
    load_state,
    save_state,
    state_file,
)
from day1site.cli.connect.target import choose_store, wait_briefly
from day1site.cli.errors import CliError
from day1site.cli.invocation import Invocation
from day1site.cli.output import note
from memory.exceptions import Day1Error


def undo_connection(run: Invocation, program: str, dry_run: bool) -> int:
    """Restore each file that can be, and revoke the key; end with status 1 where a file was left."""
    state = load_state(program)
    if not state:
        raise CliError("not_found", f"{program} is not connected.")
    choose_store(run, state)
    changes = CLIENTS[program](load_server(program, state))
    files: list[dict[str, str]] = []
    left: dict[str, CliError] = {}
    for name, known in state.get("files", {}).items():
        own = [change for change in changes if str(change.file) == name]
        try:
            files.append({"file": name, "done": restore_file(Path(name), known, own, dry_run)})
        except CliError as error:
            left[name] = error
    lasting = {} if find_others(program) else state.get("lasting", {})  # the last one takes it away
    files += always_on.take_off_path(lasting, dry_run)
    if not dry_run:
        revoke_key(run, program, state)
        remove_config(config_file(program))
        forget(program, state, list(left))
    files += always_on.stop_service(lasting, dry_run)
    answer = {"program": program, "dry_run": dry_run, "files": files, "left": list(left)}
    run.show_line(answer, "\n".join(f"{entry['file']}\t{entry['done']}" for entry in files))
    for refusal in left.values():
        note(f"{refusal.code}: {refusal.text}")
    return 1 if left else 0


def forget(program: str, state: State, left: Sequence[str]) -> None:
    """Remove what connect kept and made; what a file that was left needs is kept for another try."""
    if left:
        files = {name: state["files"][name] for name in left}
        save_state(
            program, {"url": state.get("url", ""), "files": files, "folders": state.get("folders", [])}
        )
        return
    state_file(program).unlink()
    settings_files.remove_folders(state.get("folders", []))
    hand_over(program, state)


def find_others(program: str) -> list[str]:
    return [name for name in CLIENTS if name != program and state_file(name).exists()]


def hand_over(program: str, state: State) -> None:
    """Let a program that is still connected remove what both use, when it is undone."""
    folders = [folder for folder in state.get("folders", []) if Path(folder).is_dir()]
    lasting = state.get("lasting", {})
    if (folders or lasting) and (others := find_others(program)):
        kept = load_state(others[0])
        both = {"folders": [*kept.get("folders", []), *folders], "lasting": kept.get("lasting", {}) | lasting}
        save_state(others[0], kept | both)


def restore_file(file: Path, known: State, own: Sequence[Change], dry_run: bool) -> str:
    """Put it back as it was, where nobody wrote to it since; else take out only what is Day1's."""
    now = settings_files.read_file(file)
    if now is None:
        return "gone already"
    if digest(now) == known["wrote"]:
        text, done = known["before"], "as it was before"
    else:
        text, done = (
            remove_own(file, now, known["before"], own),
            "without Day1; the rest was changed since and stays",
        )
    if text == now:
        return done
    settings_files.check_writable(file)
    if not dry_run and text is None:
        file.resolve().unlink()
    elif not dry_run:
        settings_files.write_file(file, text)
    return "removed" if text is None else done


def remove_own(file: Path, now: str, before: str | None, own: Sequence[Change]) -> str | None:
    """Return the text without what is Day1's; None where Day1 made the file and nothing else is in it."""
    text = settings_files.remove_changes(file, now, own, before or "")
    if before is None and text.strip() in ("", "{}"):
        return None
    body = text.rstrip()
    if before and before.strip() and now.startswith(body):  # it stood at the end: that is as it was
        return body + before[len(before.rstrip()) :]
    return text


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
    if "key_id" not in state:
        return  # an earlier undo has done so
    try:
        client = run.open_client()
        with wait_briefly(client):
            client.call("keys.revoke", key_id=state["key_id"])
    except (CliError, Day1Error) as error:
        text = getattr(error, "text", "it is not known")
        note(f"The key {program} was not revoked: {text} day1 keys list shows it.")

"""``backup``: copies of the whole store that rotate, and the proof that one can be gone back to."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from day1site.cli.client import server_url
from day1site.cli.commands.maintenance import START
from day1site.cli.errors import CliError, UsageError, local_only
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import note, progress
from day1site.cli.parameters import argument, option, switch
from day1site.cli.transport.local_store import open_store
from day1site.settings.paths import STORE_FILE

CHECK = ("day1", "--format", "json", "check")
SETTINGS = "day1site.settings.dev"
ELSEWHERE = ("DATABASE_URL", "DAY1_URL", "DAY1_KEY", "DAY1_BROKER_URL")  # settings of the store at hand

Report = dict[str, Any]


@command(
    "backup",
    "Copy the whole store to a file while it is in use, or check that a copy can be gone back to.",
    "day1 backup day1-monday.sqlite3",
    "day1 backup --keep 7",
    "day1 backup day1-monday.sqlite3 --verify",
)
@argument("file", "FILE", required=False)
@option("--keep", type=int, metavar="N", help="make a dated copy in the folder FILE; keep the newest N")
@switch(
    "--verify",
    help="restore the copy FILE, or the newest one, into a temporary store and check that; with --keep or"
    " --force the one that is made",
)
@switch("--force", help="replace the file if it is there")
def backup(run: Invocation, file: str | None, keep: int | None, verify: bool, force: bool) -> int:
    """End with status 1 where the check of the copy finds something; no older copy is removed then."""
    if file is None and keep is None and not verify:
        raise UsageError("Name a FILE for the copy, or say with --keep how many are kept.")
    if keep is not None and force:
        raise UsageError("--keep makes a new file each time: leave --force out.")
    if server_url():
        raise local_only("backup")
    if keep is not None:
        answer = rotate(file, keep, verify)
    elif verify and not force:
        answer = {"file": str(find_copy(file) if file is not None else find_newest())}
    else:
        answer = make_copy(str(file), force)
    if verify and "check" not in answer:
        answer["check"] = check_copy(Path(answer["file"]))
    shown = file if file is not None and keep is None else answer["file"]
    run.show(answer, lambda _: print_copy(answer, shown))
    return 0 if answer.get("check", {"ok": True})["ok"] else 1


# ---- making ------------------------------------------------------------------------------------------


def make_copy(file: str, force: bool) -> Report:
    open_store()
    from memory.engines.store.maintenance import MaintenanceEngine

    with progress("Copying") as update:
        copy = MaintenanceEngine().copy_store(Path(file), force=force, progress=update)
    return {"file": str(copy.path), "bytes": copy.size, "sha256": copy.sha256}


def rotate(folder: str | None, keep: int, verify: bool) -> Report:
    open_store()
    from memory.engines.store.backups import BackupEngine

    checks: list[Report] = []

    def approve(path: Path) -> bool:
        checks.extend([check_copy(path)] if verify else [])
        return all(check["ok"] for check in checks)

    with progress("Copying") as update:
        made = BackupEngine().rotate(
            Path(folder) if folder else None, keep=keep, progress=update, approve=approve
        )
    answer = {"file": str(made.backup.path), "bytes": made.backup.size, "sha256": made.backup.sha256}
    answer["removed"] = [str(path) for path in made.removed]
    return answer | ({"check": checks[0]} if checks else {})


# ---- checking ----------------------------------------------------------------------------------------


def find_copy(file: str) -> Path:
    """Return the copy of that name. Raises CliError: a name that was mistyped is no proof of another copy."""
    if not Path(file).is_file():
        raise CliError("not_found", f"There is no backup {file} to check: day1 backup {file} makes one.")
    return Path(file)


def find_newest() -> Path:
    """Return the newest of the copies that rotate. Raises CliError."""
    open_store()
    from memory.db.backend import get_features
    from memory.engines.store.backups import get_folder, list_backups

    newest = next(iter(list_backups(get_folder())), None)
    if newest is None:
        makes = "backup --keep 7" if get_features().has_online_backup else "migrate-store --to sqlite:///FILE"
        raise CliError("not_found", f"There is no backup in {get_folder()}: day1 {makes} makes one.")
    return newest


def check_copy(path: Path) -> Report:
    """Restore a copy into a temporary store, bring that up to date, and check it as `day1 check` does.

    Raises CliError where there is no room for it.
    """
    size = path.stat().st_size
    if (free := shutil.disk_usage(path.absolute().parent).free) < 2 * size:
        raise CliError(
            "conflict", f"The check needs {2 * size / 1e6:.0f} MB, and {free / 1e6:.0f} MB are free."
        )
    with TemporaryDirectory(dir=path.absolute().parent, prefix=".day1-verify-") as folder:
        shutil.copyfile(path, Path(folder) / STORE_FILE)
        return restore_store(folder)


def restore_store(folder: str) -> Report:
    """Check the store in a data directory; one of an earlier release is migrated first."""
    done = run_manage(folder, CHECK)
    if done.stderr.startswith("no_store"):
        return {"ok": False, "error": "it is no store of Day1"}
    if done.stderr.startswith("store_outdated"):
        migrated = run_manage(folder, ["migrate", "--verbosity", "0"])
        done = migrated if migrated.returncode else run_manage(folder, CHECK)
    if not done.stdout.startswith("{"):
        lines = done.stderr.strip().splitlines() or [f"the check ended with {done.returncode}"]
        return {"ok": False, "error": lines[-1]}
    found: Report = json.loads(done.stdout)
    return found


def run_manage(folder: str, words: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Run a command on another data directory, in a process of its own."""
    env = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    env |= {"DAY1_DATA_DIR": folder, "DAY1_NO_BOOTSTRAP": "1", "DJANGO_SETTINGS_MODULE": SETTINGS}
    return subprocess.run([sys.executable, *START, *words], env=env, capture_output=True, encoding="utf-8")


# ---- output ------------------------------------------------------------------------------------------


def print_copy(answer: Report, shown: str) -> None:
    if "sha256" in answer:
        print(f"{answer['sha256']}  {shown}")
    for path in answer.get("removed", []):
        note(f"Removed {path}.")
    if "check" in answer:
        print_check(shown, answer["check"])


def print_check(shown: str, check: Report) -> None:
    if check["ok"]:
        print(f"{shown} can be gone back to: nothing was found by {len(check['checks'])} checks.")
        return
    print(f"{shown} is no good: {check.get('error', 'the check found something').rstrip('.')}.")
    for problem in check.get("problems", []):
        note(f"{problem['name']}: {problem['count']}, such as {(problem['examples'] or ['?'])[0]}")

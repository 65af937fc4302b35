"""``salvage``: what can be read of a damaged store, written to a new one."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from day1site.cli.client import server_url
from day1site.cli.commands.check import print_report
from day1site.cli.commands.migrate_store import make_tables
from day1site.cli.errors import CliError, UsageError, local_only
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import note, print_table, progress
from day1site.cli.parameters import argument, switch
from day1site.cli.transport.local_store import start_django
from day1site.settings.paths import STORE_FILE


@command(
    "salvage",
    "Write every row of a damaged store that can be read to a new store, and list what was lost.",
    "day1 salvage data/day1.sqlite3 salvaged.sqlite3",
    "day1 salvage data new-data",
    "day1 salvage data new-data --accept-loss",
)
@argument("source", "SOURCE")
@argument("target", "TARGET")
@switch("--accept-loss", help="leave out what cannot be read; later checks note what is lost")
def salvage(run: Invocation, source: str, target: str, accept_loss: bool) -> int:
    """End with status 1 when something was lost, or the check of the new store finds something."""
    if server_url():
        raise local_only("salvage")
    damaged, made = find_source(source), find_target(target)
    os.environ["DATABASE_URL"] = f"sqlite:///{quote(str(made))}"  # the engines work on the new store
    os.umask(0o077)  # what is salvaged is nobody else's to read
    start_django(whole=True)
    found = salvage_file(damaged, made, accept_loss)
    answer = {"source": str(damaged), "target": str(made), **found.describe()}
    run.show(answer, print_salvage)
    return 0 if found.is_whole else 1


def find_source(text: str) -> Path:
    """Return the file of a damaged store, named by itself or by its folder. Raises UsageError, CliError."""
    if "://" in text:
        raise UsageError("SOURCE is a file: a server of MatrixOne is restored by its own snapshots.")
    path = Path(text).resolve()
    path = path / STORE_FILE if path.is_dir() else path
    if not path.is_file():
        raise CliError("no_store", f"There is no file {path}.")
    return path


def find_target(text: str) -> Path:
    """Return the file of the new store, in a folder where one is named. Raises UsageError, CliError."""
    if "://" in text:
        raise UsageError("TARGET is a file that does not exist, or a folder without a store.")
    path = Path(text).resolve()
    path = path / STORE_FILE if path.is_dir() or text.endswith("/") else path
    if path.exists():
        raise CliError("exists", f"{path} exists already: name a file that does not, or an empty folder.")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def salvage_file(damaged: Path, made: Path, accept: bool) -> Any:
    """Make the new store and fill it; nothing of it is left where that fails."""
    from django.db import connections

    from memory.engines.store.salvage import SalvageEngine

    try:
        require_target(made)
        make_tables()
        with progress("Salvaging") as update:
            found = SalvageEngine().salvage_file(damaged, update, accept=accept)
        connections.close_all()  # the file is whole then, without a log beside it
        return found
    except BaseException:
        connections.close_all()
        for file in made.parent.glob(f"{made.name}*"):
            file.unlink()
        raise


def require_target(made: Path) -> None:
    """Refuse to work on another store than the new one, which settings may name. Raises CliError."""
    from django.db import connections

    if (path := str(connections["default"].settings_dict["NAME"])) != str(made):
        raise CliError("conflict", f"The settings name the database {path}, so {made} cannot be made.")


# ---- output ----------------------------------------------------------------------------------------


def print_salvage(answer: dict[str, Any]) -> None:
    tables = [table for table in answer["tables"] if table["rows"] or not is_whole(table)]
    print_table(
        ["table", "rows", "lost", "text"], [[t["name"], t["rows"], t["lost"], describe(t)] for t in tables]
    )
    for name in answer["missing"]:
        note(f"The table {name} is not in the file.")
    for name in answer["left_out"]:
        note(f"The table {name} is not one of this Day1, and was left out.")
    lost = f"{answer['lost']} known to be lost" if answer["lost"] else "none known to be lost"
    print(f"{answer['rows']} rows written to {answer['target']}, {lost}. The check of the new store:")
    print_report(answer["check"])
    if not (answer["accepted"] or answer["check"]["ok"]):
        note("Where there is no backup, salvage again with --accept-loss: later checks then note it.")


def is_whole(table: dict[str, Any]) -> bool:
    return not (table["refused"] or table["changed"] or table["lost"] or table["lost_ids"])


def describe(table: dict[str, Any]) -> str:
    """Return what of a table was not written, or not as it was."""
    parts = [describe_ids(table["lost_ids"])] if table["lost_ids"] else []
    parts += [f"keys {', '.join(map(str, table['lost_keys'][:10]))}"] if table["lost_keys"] else []
    parts += [f"{table['refused']} contradict other rows"] if table["refused"] else []
    parts += [f"{table['mended']} put back from copies"] if table["mended"] else []
    changed = ", ".join(map(str, table["changed"][:10]))
    parts += [f"bytes that are no text were replaced in {changed}"] if changed else []
    parts += [f"without {', '.join(table['left_out'])}"] if table["left_out"] else []
    return "; ".join(parts)


def describe_ids(ranges: list[tuple[int | None, int | None]]) -> str:
    shown = [
        str(first) if first == last else f"{first or 'begin'}–{last or 'end'}" for first, last in ranges[:10]
    ]
    more = f" and {len(ranges) - 10} more ranges" if len(ranges) > 10 else ""
    return f"lost {', '.join(shown)}{more}"

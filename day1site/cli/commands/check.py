"""``check``: what of the store is damaged or lost, and its repair."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from day1site.cli.client import server_url
from day1site.cli.errors import CliError, UsageError, local_only
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import note, print_table, progress
from day1site.cli.parameters import option, switch
from day1site.cli.transport.local_store import hold_data_dir, open_store, start_django

if TYPE_CHECKING:
    from memory.engines.store.check.engine import CheckReport

ALONE = "Stop it first: a repair must be alone with the store."
NOTES = {
    "known_loss": "findings are of a loss that was accepted when the store was salvaged.",
    "versions_without_checksum": "versions are older than checksums: only the hash of their text is checked.",
    "no_mark": "store without a mark yet: an older copy in its place cannot be told. A server makes one.",
    "tables_of_libraries": "store with libraries of other releases: of its tables only Day1's were compared.",
    "embedding_is_off": "embedder is off: whether each text has its vector was not checked.",
}


@command(
    "check",
    "Check the whole store, also while a server runs: file, history, audit trail, index, vectors, queue.",
    "day1 check",
    "day1 check --format json",
    "day1 check --repair",
)
@switch("--repair", help="make anew what can be derived, after saying what; the server must be stopped")
@switch("--dry-run", help="with --repair: only say what it would do")
@option("--only", metavar="NAME", multiple=True, help="carry out this check alone; may be repeated")
def check(run: Invocation, repair: bool, dry_run: bool, only: tuple[str, ...]) -> int:
    """End with status 1 when something was found that is still so."""
    if dry_run and not repair:
        raise UsageError("--dry-run belongs to --repair.")
    open_damaged_store("check")
    if repair and not dry_run:
        with hold_data_dir(ALONE):
            answer = repair_store(only)
    else:
        report = check_store(only)
        answer = report.describe() | ({"planned": plan_steps(report)} if repair else {})
    run.show(answer, print_report)
    return 0 if answer["ok"] else 1


def open_damaged_store(name: str) -> None:
    """Open the local store whatever of it can be read. Raises CliError."""
    if server_url():
        raise local_only(name)
    start_django(whole=True)
    from memory.db.backend import get_features, get_file_check
    from memory.db.store_copies import CopyFailed
    from memory.exceptions import StoreDamaged

    try:
        if get_features().has_online_backup:
            get_file_check().read_alone()
        open_store()
    except CopyFailed as error:
        raise CliError("store_error", str(error)) from None
    except StoreDamaged:  # what is to be checked
        return


def check_store(only: tuple[str, ...]) -> "CheckReport":
    from memory.engines.store.check.engine import CheckEngine

    with show_steps() as tell:
        return CheckEngine().check_store(only, tell)


def repair_store(only: tuple[str, ...]) -> dict[str, Any]:
    """Check, say what a repair does, do it, and check again."""
    from memory.engines.store.check import repair

    before = check_store(only)
    steps = repair.plan_repair(before)
    for step in steps:
        note(f"{step.name}: {step.text}.")
    with show_steps() as tell:
        errors = repair.repair_store(steps, tell)
    after = check_store(only) if steps else before
    counts = repair.count_found(before) - repair.count_found(after)
    return {
        **after.describe(),
        "planned": [describe_step(step) for step in steps],
        "repaired": [{"name": name, "count": counts[name], "error": error} for name, error in errors.items()],
    }


def plan_steps(report: Any) -> list[dict[str, Any]]:
    from memory.engines.store.check import repair

    return [describe_step(step) for step in repair.plan_repair(report)]


def describe_step(step: Any) -> dict[str, Any]:
    return {"name": step.name, "count": step.count, "text": step.text}


@contextmanager
def show_steps() -> Iterator[Callable[[str, int, int], None]]:
    """Show how far each step is; one line at a terminal, which each step begins anew."""
    with progress("Checking") as update:
        yield lambda title, done, total: update(done, total)


# ---- output ----------------------------------------------------------------------------------------


def print_report(answer: dict[str, Any]) -> None:
    for step in answer.get("planned", []) if "repaired" not in answer else []:
        note(f"{step['name']}: {step['count']} would be repaired: {step['text']}.")
    if answer["problems"] and answer.get("planned") == []:
        note("None of this can be repaired.")
    for done in answer.get("repaired", []):
        note(
            f"{done['name']}: "
            + (f"not repaired: {done['error']}" if done["error"] else f"{done['count']} repaired.")
        )
    if answer["problems"]:
        print_table(
            ["problem", "count", "text", "example", "to do"], [cells(row) for row in answer["problems"]]
        )
    else:
        count = len(answer["checks"])  # 0 where the database has no use for those that were named
        print(f"Nothing was found by {count} check{'' if count == 1 else 's'}.")
    for name, count in answer["notes"].items():
        note(f"{count} {NOTES.get(name, name)}")
    for name, why in answer["skipped"].items():
        note(f"The check {name} was skipped: {why}.")


def cells(row: dict[str, Any]) -> list[Any]:
    more = row["count"] - 1
    example = (row["examples"] or [""])[0] + (f" and {more} more" if more > 0 else "")
    does = f"day1 check --repair {row['repair']}." if row["repair"] else ""
    return [row["name"], row["count"], row["text"], example, " ".join(filter(None, (does, row["advice"])))]

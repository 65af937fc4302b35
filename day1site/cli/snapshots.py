"""The commands on snapshots."""

from collections.abc import Mapping
from typing import Any

from day1site.cli.errors import UsageError
from day1site.cli.invocation import Invocation, command
from day1site.cli.operations import list_operation, operation
from day1site.cli.output import Output, note, short_time
from day1site.cli.parameters import (
    WHOLE,
    argument,
    at_option,
    option,
    switch,
)
from day1site.cli.rest import Answer
from day1site.cli.time_points import check_point


@command(
    "create",
    "Keep a point of a branch, or the whole store: read it and go back to it later.",
    "day1 snapshot create before-merge --branch main",
    "day1 snapshot create monday --store",
)
@argument("name", "NAME")
@switch("--store", help="a frozen copy of everything")
@option("--branch", metavar="NAME", help="default main")
@at_option
@option("--description", metavar="TEXT", help="why it is kept")
def create(run: Invocation, store: bool, **options: Any) -> None:
    if store and (options["branch"] or options["at"]):
        raise UsageError("--store keeps every branch as it is now: it takes no --branch and no --at.")
    fields = {"kind": "store" if store else "branch", **options, "at": check_point(options["at"])}
    snapshot = run.open_client().call("snapshots.create", **fields)
    run.show_line(snapshot, f"{snapshot['id']}\t{snapshot['name']} keeps {describe_snapshot(snapshot)}")


def describe_snapshot(row: Answer) -> str:
    if row["kind"] == "branch":
        return f"{row['branch']} at {row['seq']}"
    return f"the store ({row['size'] / 1e6:.1f} MB)" if row["size"] else "the store"


@list_operation(
    "snapshots.list",
    "list",
    "List the snapshots, the newest first.",
    "day1 snapshot list --branch main",
    columns=["id", "name", "keeps", "made", "by"],
    empty="No snapshot yet: day1 snapshot create NAME makes one.",
)
def list_snapshots(row: Answer) -> list[Any]:
    made = short_time(row["created_at"])
    return [row["id"], row["name"], describe_snapshot(row), made, row["created_by"]]


@operation(
    "snapshots.restore",
    "restore",
    "Go back to a snapshot: by new commits, nothing leaves the history.",
    "day1 snapshot restore 0197… --dry-run",
)
def restore(run: Invocation, plan: Answer) -> None:
    run.show(plan, lambda out: print_plan(out, plan))


def print_plan(out: Output, plan: Answer) -> None:
    rows = [[row["name"], row["head"], row["seq"], describe_changes(row)] for row in plan["branches"]]
    changed = [row for row in rows if row[3]]
    if changed:
        out.table(["branch", "head", "back to", "what"], changed)
    if plan["mended"]:
        counts = ", ".join(f"{number} {kind}" for kind, number in plan["mended"].items())
        note(f"Lost rows {'to be ' if plan['dry_run'] else ''}put back: {counts}.")
    if not (changed or plan["mended"]):
        note("Everything is as it was: nothing to do.")
    elif plan["dry_run"]:
        note("Nothing was changed.")


def describe_changes(row: Mapping[str, Any]) -> str:
    parts = [
        f"{number} {kind} {change.replace('_', ' ')}"
        for change, counts in row["counts"].items()
        for kind, number in counts.items()
    ]
    parts += ["archived"] if row["archive"] else []
    parts += ["back into use"] if row["unarchive"] else []
    return ", ".join(parts)


@command("drop", "Forget a snapshot, and remove its copy.", "day1 snapshot drop 0197…")
@argument("id", "SNAPSHOT_ID")
def drop(run: Invocation, id: str) -> None:
    run.open_client().call("snapshots.destroy", snapshot_id=id)
    run.show_line({"id": id}, f"{id}\tdropped")


@command(
    "window",
    "How long the database itself keeps every state: MatrixOne does, SQLite does not.",
    "day1 snapshot window --days 7",
)
@option("--days", type=WHOLE, metavar="N", help="keep so many, 1 to 100; 0 ends it")
def window(run: Invocation, days: int | None) -> None:
    action = "snapshots.window" if days is None else "snapshots.set_retention"
    answer = run.open_client().call(action, days=days)
    kept = f"Every state of the last {answer['days']} days is kept."
    run.show_line(answer, kept if answer["days"] else "The database keeps no window of its past.")

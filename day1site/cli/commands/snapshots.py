"""The commands on snapshots."""

from collections.abc import Mapping
from typing import Any

from day1site.cli.errors import UsageError
from day1site.cli.invocation import Invocation
from day1site.cli.operation_commands import Noun
from day1site.cli.output import note, print_rows
from day1site.cli.parameters import WHOLE, argument, at_option, option, switch
from day1site.cli.transport.rest import Answer

GROUP = Noun("snapshot", "day1 snapshot create monday --store")


@GROUP.action(
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
    fields = {"kind": "store" if store else "branch", **options}
    snapshot = run.open_client().call("snapshots.create", **fields)
    run.show_line(snapshot, f"{snapshot['id']}\t{snapshot['name']} keeps {describe_snapshot(snapshot)}")


def describe_snapshot(row: Answer) -> str:
    if row["kind"] == "branch":
        return f"{row['branch']} at {row['seq']}"
    return f"the store ({row['size'] / 1e6:.1f} MB)" if row["size"] else "the store"


GROUP.add_list(
    "snapshots.list",
    "List the snapshots, the newest first.",
    "day1 snapshot list --branch main",
    columns=["id", "name", "keeps", "made=created_at", "by=created_by"],
    cells={"keeps": describe_snapshot},
    empty="No snapshot yet: day1 snapshot create NAME makes one.",
)


@GROUP.operation(
    "snapshots.restore",
    "Go back to a snapshot: by new commits, nothing leaves the history.",
    "day1 snapshot restore 0197… --dry-run",
)
def print_plan(plan: Answer) -> None:
    changed = [row for row in plan["branches"] if describe_changes(row)]
    if changed:
        print_rows(changed, "branch=name", "head", "back to=seq", "what", cells={"what": describe_changes})
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


GROUP.add_operation(
    "snapshots.destroy",
    "Forget a snapshot, and remove its copy.",
    "day1 snapshot drop 0197…",
    name="drop",
    line="{id}\tdropped",
)


@GROUP.action(
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

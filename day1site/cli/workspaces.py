"""The commands on workspaces."""

from typing import Any

from day1site.cli.invocation import Invocation
from day1site.cli.operations import list_operation, operation
from day1site.cli.output import Output, note, short_time
from day1site.cli.rest import Answer


@operation(
    "workspaces.create",
    "create",
    "Copy the store to work in apart: promoted as a whole later, or dropped.",
    "day1 workspace create cleaning",
)
def create(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['id']}\t{row['name']} is in {row['place']}")


@list_operation(
    "workspaces.list",
    "list",
    "List the workspaces, the newest first.",
    "day1 workspace list --state open",
    columns=["id", "name", "state", "made", "place"],
    empty="No workspace: day1 workspace create NAME makes one.",
)
def list_workspaces(row: Answer) -> list[Any]:
    return [row["id"], row["name"], row["state"], short_time(row["created_at"]), row["place"]]


@operation("workspaces.diff", "diff", "Show what was done in a workspace.", "day1 workspace diff 0197…")
def diff(run: Invocation, answer: Answer) -> None:
    run.show(answer, lambda out: print_diff(out, answer))


def print_diff(out: Output, answer: Answer) -> None:
    rows = [[row["name"], format_base(row["base"]), row["head"]] for row in answer["branches"]]
    if rows:
        out.table(["branch", "store", "workspace"], rows)
    else:
        note("Nothing was done in it.")
    if tables := answer["tables"]:
        note("; ".join(f"{kind}: {n['added']} new, {n['changed']} changed" for kind, n in tables.items()))
    if answer["moved"]:
        note(f"It cannot be promoted, the store has moved: {', '.join(answer['moved'])}.")


def format_base(seq: int | None) -> Any:
    return "" if seq is None else seq


@operation(
    "workspaces.promote",
    "promote",
    "Take over all that was done in it: while the store has not moved.",
    "day1 workspace promote 0197…",
)
def promote(run: Invocation, answer: Answer) -> None:
    run.show_line(answer, f"{answer['workspace']['id']}\tpromoted {len(answer['branches'])} branches")


@operation("workspaces.drop", "drop", "Throw a workspace away.", "day1 workspace drop 0197…")
def drop(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['id']}\t{row['state']}")

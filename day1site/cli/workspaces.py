"""The commands on workspaces."""

from typing import Any

from day1site.cli.invocation import Invocation, command
from day1site.cli.output import Output, note, short_time
from day1site.cli.parameters import OneOf, argument, drop_empty, listing_options, option
from day1site.cli.rest import Answer

workspace_id_argument = argument("id", "WORKSPACE_ID")


@command(
    "create",
    "Copy the store to work in apart: promoted as a whole later, or dropped.",
    "day1 workspace create cleaning",
)
@argument("name", "NAME")
@option("--description", metavar="TEXT", help="what it is for")
def create(run: Invocation, **options: Any) -> None:
    row = run.open_client().create_workspace(drop_empty(options))
    run.show_line(row, f"{row['id']}\t{row['name']} is in {row['place']}")


@command("list", "List the workspaces, the newest first.", "day1 workspace list --state open")
@option("--state", type=OneOf(("open", "promoted", "dropped")), help="only these")
@listing_options
def list_workspaces(run: Invocation, state: str | None, **options: Any) -> None:
    client, filters = run.open_client(), drop_empty({"state": state})
    run.show_list(
        lambda paging: client.list_workspaces(filters, paging),
        options,
        ["id", "name", "state", "made", "place"],
        workspace_cells,
        "No workspace: day1 workspace create NAME makes one.",
    )


def workspace_cells(row: Answer) -> list[Any]:
    return [row["id"], row["name"], row["state"], short_time(row["created_at"]), row["place"]]


@command("diff", "Show what was done in a workspace.", "day1 workspace diff 0197…")
@workspace_id_argument
def diff(run: Invocation, id: str) -> None:
    answer = run.open_client().compare_workspace(id)
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


@command(
    "promote",
    "Take over all that was done in it: while the store has not moved.",
    "day1 workspace promote 0197…",
)
@workspace_id_argument
def promote(run: Invocation, id: str) -> None:
    answer = run.open_client().end_workspace("promote", id)
    run.show_line(answer, f"{id}\tpromoted {len(answer['branches'])} branches")


@command("drop", "Throw a workspace away.", "day1 workspace drop 0197…")
@workspace_id_argument
def drop(run: Invocation, id: str) -> None:
    row = run.open_client().end_workspace("drop", id)
    run.show_line(row, f"{id}\t{row['state']}")

"""The commands on workspaces."""

from day1site.cli.operation_commands import Noun
from day1site.cli.output import note, print_rows
from day1site.cli.transport.rest import Answer

GROUP = Noun("workspace", "day1 workspace create cleaning")

GROUP.add_operation(
    "workspaces.create",
    "Copy the store to work in apart: promoted as a whole later, or dropped.",
    "day1 workspace create cleaning",
    line="{id}\t{name} is in {place}",
)
GROUP.add_list(
    "workspaces.list",
    "List the workspaces, the newest first.",
    "day1 workspace list --state open",
    columns=["id", "name", "state", "made=created_at", "place"],
    empty="No workspace: day1 workspace create NAME makes one.",
)


@GROUP.operation("workspaces.diff", "Show what was done in a workspace.", "day1 workspace diff 0197…")
def print_diff(answer: Answer) -> None:
    if answer["branches"]:
        print_rows(answer["branches"], "branch=name", "store=base", "workspace=head")
    else:
        note("Nothing was done in it.")
    if tables := answer["tables"]:
        note("; ".join(f"{kind}: {n['added']} new, {n['changed']} changed" for kind, n in tables.items()))
    if answer["moved"]:
        note(f"It cannot be promoted, the store has moved: {', '.join(answer['moved'])}.")


@GROUP.operation(
    "workspaces.promote",
    "Take over all that was done in it: while the store has not moved.",
    "day1 workspace promote 0197…",
)
def print_promoted(answer: Answer) -> None:
    print(f"{answer['workspace']['id']}\tpromoted {len(answer['branches'])} branches")


GROUP.add_operation(
    "workspaces.drop", "Throw a workspace away.", "day1 workspace drop 0197…", line="{id}\t{state}"
)

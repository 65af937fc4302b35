"""The commands on consolidation."""

from typing import Any

from day1site.cli.commands import build_group, lazy_command
from day1site.cli.invocation import Invocation, command
from day1site.cli.operations import list_operation, operation
from day1site.cli.output import Output, note, short_time
from day1site.cli.parameters import (
    argument,
    branch_option,
    option,
    switch,
)
from day1site.cli.rest import Answer

dry_run = switch("--dry-run", help="tell what it would do, and write nothing")


@command("session", "Make facts of an ended session.", "day1 consolidate session 4f1c… --dry-run")
@argument("target", "SESSION")
@dry_run
def session(run: Invocation, **options: Any) -> None:
    start(run, "session", options)


@command(
    "agent",
    "Merge what an agent's sessions learned twice, and sum up what it knows.",
    "day1 consolidate agent ledger --dry-run",
)
@argument("target", "AGENT")
@branch_option
@dry_run
def agent(run: Invocation, **options: Any) -> None:
    start(run, "agent", options)


@command("task", "Merge what the agents of a task learned twice.", "day1 consolidate task fix-login")
@argument("target", "TASK")
@dry_run
def task(run: Invocation, **options: Any) -> None:
    start(run, "task", options)


@command(
    "dreaming",
    "Propose reflections of observations that are alike, as a merge request.",
    "day1 consolidate dreaming --dry-run",
)
@branch_option
@option("--current-cycle", type=int, help="the cycle that it is, not before the branch's own")
@dry_run
def dreaming(run: Invocation, **options: Any) -> None:
    start(run, "dreaming", options)


def start(run: Invocation, level: str, options: dict[str, Any]) -> None:
    row = run.open_client().call("consolidation.start_run", level=level, **options)
    run.show(row, lambda out: print_run(out, row))


@list_operation(
    "consolidation.runs",
    "runs",
    "List the runs, the newest first.",
    "day1 consolidate runs --level session",
    columns=["id", "level", "target", "branch", "state", "read", "new", "confirmed", "repeated", "begun"],
    empty="Nothing was consolidated yet.",
)
def list_runs(row: Answer) -> list[Any]:
    read = row["messages"] + row["observations"]
    counts = [read, row["created"], row["updated"], row["deduplicated"]]
    names = ("id", "level", "target", "branch", "state")
    return [*(row[name] for name in names), *counts, short_time(row["started_at"])]


@operation("consolidation.one_run", "show", "Show a run, with what it did.", "day1 consolidate show 0197…")
def show(run: Invocation, row: Answer) -> None:
    run.show(row, lambda out: print_run(out, row))


def print_run(out: Output, row: Answer) -> None:
    out.pairs({name: value for name, value in row.items() if name not in ("changes", "commits")})
    if row["changes"]:
        out.table(["what", "fact", "id", "answer", "from"], [change_cells(one) for one in row["changes"]])
    if row["state"] == "queued":
        note(f"A language model is asked by the worker: day1 consolidate show {row['id']}")


def change_cells(change: Answer) -> list[Any]:
    sources = ", ".join(f"{one['kind']} {one['id']}" for one in change["evidence"])
    return [*(change[name] for name in ("action", "fact_text", "fact_id", "answer")), sources]


@operation(
    "consolidation.accept",
    "accept",
    "Accept facts of a run as true.",
    "day1 consolidate accept 0197… --fact 0198…",
    "day1 consolidate accept 0197… --min-confidence 0.95",
)
def accept(run: Invocation, row: Answer) -> None:
    run.show(row, lambda out: print_run(out, row))


@command("reject", "Undo what a run did to some facts.", "day1 consolidate reject 0197… --fact 0198…")
@argument("run_id", "RUN")
@option("--fact", "fact_ids", multiple=True, metavar="ID", required=True, help="this fact of the run")
def reject(run: Invocation, **options: Any) -> None:
    row = run.open_client().call("consolidation.reject", **options)
    run.show(row, lambda out: print_run(out, row))


@operation(
    "consolidation.undo",
    "undo",
    "Undo a run whole, or say what later work built on it.",
    "day1 consolidate undo 0197…",
)
def undo(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['id']}\t{row['state']}")


ACTIONS = {
    "session": lazy_command("consolidate:session", "Make facts of an ended session"),
    "agent": lazy_command("consolidate:agent", "Merge what an agent's sessions learned twice"),
    "task": lazy_command("consolidate:task", "Merge what the agents of a task learned twice"),
    "dreaming": lazy_command("consolidate:dreaming", "Propose reflections of observations"),
    "runs": lazy_command("consolidate:list_runs", "List the runs, the newest first"),
    "show": lazy_command("consolidate:show", "Show a run, with what it did"),
    "accept": lazy_command("consolidate:accept", "Accept facts of a run as true"),
    "reject": lazy_command("consolidate:reject", "Undo what a run did to some facts"),
    "undo": lazy_command("consolidate:undo", "Undo a run whole"),
}
HELP = "make facts of sessions, merge duplicates, undo that"
GROUP = build_group("consolidate", HELP, "day1 consolidate runs", "runs", ACTIONS)

"""The commands on consolidation."""

from typing import Any

from day1site.cli.commands import build_group, lazy_command
from day1site.cli.declared_fields import filter_options, split_filters
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import Output, note, short_time
from day1site.cli.parameters import (
    argument,
    branch_option,
    drop_empty,
    listing_options,
    option,
    switch,
)
from day1site.cli.rest import Answer, quote_id

RUNS = "/consolidation/runs"
dry_run = switch("--dry-run", help="tell what it would do, and write nothing")
run_argument = argument("run_id", "RUN")


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
    row = run.open_client().api.post(RUNS, level=level, **drop_empty(options))
    run.show(row, lambda out: print_run(out, row))


@command("runs", "List the runs, the newest first.", "day1 consolidate runs --level session")
@filter_options("consolidation")
@listing_options
def list_runs(run: Invocation, **options: Any) -> None:
    filters, options = split_filters("consolidation", options)
    api = run.open_client().api
    run.show_list(
        lambda paging: api.get(RUNS, **filters, **paging),
        options,
        ["id", "level", "target", "branch", "state", "read", "new", "confirmed", "repeated", "begun"],
        list_cells,
        "Nothing was consolidated yet.",
    )


def list_cells(row: Answer) -> list[Any]:
    read = row["messages"] + row["observations"]
    counts = [read, row["created"], row["updated"], row["deduplicated"]]
    names = ("id", "level", "target", "branch", "state")
    return [*(row[name] for name in names), *counts, short_time(row["started_at"])]


@command("show", "Show a run, with what it did.", "day1 consolidate show 0197…")
@run_argument
def show(run: Invocation, run_id: str) -> None:
    row = run.open_client().api.get(f"{RUNS}/{quote_id(run_id)}")
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


@command(
    "accept",
    "Accept facts of a run as true.",
    "day1 consolidate accept 0197… --fact 0198…",
    "day1 consolidate accept 0197… --min-confidence 0.95",
)
@run_argument
@option("--fact", "fact_ids", multiple=True, metavar="ID", help="this fact of the run")
@option("--min-confidence", type=float, metavar="SHARE", help="all of at least this confidence")
def accept(run: Invocation, run_id: str, fact_ids: tuple[str, ...], **options: Any) -> None:
    chosen = {name: value for name, value in options.items() if value is not None}
    answer(run, run_id, "accept", fact_ids=list(fact_ids), **chosen)


@command("reject", "Undo what a run did to some facts.", "day1 consolidate reject 0197… --fact 0198…")
@run_argument
@option("--fact", "fact_ids", multiple=True, metavar="ID", required=True, help="this fact of the run")
def reject(run: Invocation, run_id: str, fact_ids: tuple[str, ...]) -> None:
    answer(run, run_id, "reject", fact_ids=list(fact_ids))


def answer(run: Invocation, run_id: str, verb: str, **options: Any) -> None:
    row = run.open_client().api.post(f"{RUNS}/{quote_id(run_id)}/{verb}", **options)
    run.show(row, lambda out: print_run(out, row))


@command("undo", "Undo a run whole, or say what later work built on it.", "day1 consolidate undo 0197…")
@run_argument
def undo(run: Invocation, run_id: str) -> None:
    row = run.open_client().api.post(f"{RUNS}/{quote_id(run_id)}/undo")
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

"""The commands on consolidation."""

from typing import Any

from day1site.cli.invocation import Invocation
from day1site.cli.operation_commands import Noun
from day1site.cli.output import note, print_pairs, print_rows
from day1site.cli.parameters import Decorator, argument, branch_option, combine, option, switch
from day1site.cli.transport.rest import Answer

GROUP = Noun("consolidate", "day1 consolidate runs", default="runs")
dry_run = switch("--dry-run", help="tell what it would do, and write nothing")


def print_run(row: Answer) -> None:
    print_pairs({name: value for name, value in row.items() if name not in ("changes", "commits")})
    if row["changes"]:
        columns = ["what=action", "fact=fact_text", "id=fact_id", "answer", "from"]
        print_rows(row["changes"], *columns, cells={"from": list_sources})
    if row["state"] == "queued":
        note(f"A language model is asked by the worker: day1 consolidate show {row['id']}")


def list_sources(change: Answer) -> list[str]:
    return [f"{one['kind']} {one['id']}" for one in change["evidence"]]


def add_level(level: str, about: str, *examples: str, takes: Decorator) -> None:
    """Declare the command that begins a run of a level."""

    def start(run: Invocation, **options: Any) -> None:
        run.show(run.open_client().call("consolidation.start_run", level=level, **options), print_run)

    GROUP.action(level, about, *examples)(combine(takes, dry_run)(start))


add_level(
    "session",
    "Make facts of an ended session.",
    "day1 consolidate session 4f1c… --dry-run",
    takes=argument("target", "SESSION"),
)
add_level(
    "agent",
    "Merge what an agent's sessions learned twice, and sum up what it knows.",
    "day1 consolidate agent ledger --dry-run",
    takes=combine(argument("target", "AGENT"), branch_option),
)
add_level(
    "task",
    "Merge what the agents of a task learned twice.",
    "day1 consolidate task fix-login",
    takes=argument("target", "TASK"),
)
add_level(
    "dreaming",
    "Propose reflections of observations that are alike, as a merge request.",
    "day1 consolidate dreaming --dry-run",
    takes=combine(
        branch_option,
        option("--current-cycle", type=int, help="the cycle that it is, not before the branch's own"),
    ),
)
GROUP.add_list(
    "consolidation.runs",
    "List the runs, the newest first.",
    "day1 consolidate runs --level session",
    cells={"read": lambda row: row["messages"] + row["observations"]},
    empty="Nothing was consolidated yet.",
)
GROUP.add_operation(
    "consolidation.one_run",
    "Show a run, with what it did.",
    "day1 consolidate show 0197…",
    name="show",
    show=print_run,
)
GROUP.add_operation(
    "consolidation.accept",
    "Accept facts of a run as true.",
    "day1 consolidate accept 0197… --fact 0198…",
    "day1 consolidate accept 0197… --min-confidence 0.95",
    show=print_run,
)


@GROUP.action("reject", "Undo what a run did to some facts.", "day1 consolidate reject 0197… --fact 0198…")
@argument("run_id", "RUN")
@option("--fact", "fact_ids", multiple=True, metavar="ID", required=True, help="this fact of the run")
def reject(run: Invocation, **options: Any) -> None:
    run.show(run.open_client().call("consolidation.reject", **options), print_run)


GROUP.add_operation(
    "consolidation.undo",
    "Undo a run whole, or say what later work built on it.",
    "day1 consolidate undo 0197…",
    line="{id}\t{state}",
)

"""The commands on ageing: what has aged, the run that archives it, its undo, and the pressure of a branch."""

from typing import Any

from day1site.cli.invocation import Invocation
from day1site.cli.operation_commands import Noun
from day1site.cli.output import note, print_rows
from day1site.cli.parameters import OneOf, argument, branch_option, drop_empty, option, switch
from day1site.cli.transport.rest import Answer

REASONS = ("expired", "time_to_live", "stale", "over_budget")
GROUP = Noun("age", "day1 age --dry-run", default="run")


@GROUP.action(
    "run",
    "Archive the facts of a branch that are expired, past their days to live, stale or over the budget.",
    "day1 age --dry-run",
    "day1 age --branch task/login --reason expired",
)
@switch("--dry-run", help="only tell which, and why")
@option("--reason", "reasons", multiple=True, type=OneOf(REASONS), help="only for this reason")
@option("--fact", "fact_ids", multiple=True, metavar="ID", help="only this fact, if it has aged")
@option("--exclude", multiple=True, metavar="ID", help="not this fact")
@branch_option
def run(run: Invocation, dry_run: bool, branch: str, **options: Any) -> None:
    client, chosen = run.open_client(), drop_empty(options)
    if dry_run:
        run.show(client.call("ageing.preview", branch=branch, limit=100, **chosen), print_preview)
    else:
        run.show(client.call("ageing.run", branch=branch, **chosen), print_run)


def print_preview(preview: Answer) -> None:
    if preview["blocked_by"] is not None:
        note(f"Merge request {preview['blocked_by']} is open from {preview['branch']}: nothing ages there.")
    print_aged(preview["results"])
    note(f"{preview['count']} of {preview['total']} would be archived: {describe_counts(preview['counts'])}.")
    if preview["kept"]:
        note(f"Left alone: {describe_counts(preview['kept'])}.")
    if preview["next"]:
        note("These are the first 100 of them.")


def print_aged(rows: list[Answer]) -> None:
    if rows:
        columns = ["id=fact.id", "reason", "since", "priority=fact.priority", "worth", "fact=fact.essence"]
        print_rows(rows, *columns, cells={"worth": describe_worth})


def describe_worth(row: Answer) -> str:
    return f"{row['worth']['total']:.2f}" if row["worth"] else ""


def describe_counts(counts: Answer) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items() if number) or "none"


def print_run(done: Answer) -> None:
    print(f"{done['count']} archived: {describe_counts(done['counts'])}")
    if done["commit"]:
        note(f"day1 age undo {done['commit']['id']} brings them back.")
    if done["changed_meanwhile"]:
        note(f"{done['changed_meanwhile']} changed meanwhile and are left.")
    if done["remaining"]:
        note(f"{done['remaining']} are left for another run.")


GROUP.add_list(
    "ageing.runs",
    "List the runs on a branch, the newest first.",
    "day1 age runs",
    columns=["commit=id", "when=at", "by=actor_label", "archived", "undone"],
    cells={"archived": lambda row: describe_counts(row["reasons"])},
    empty="Nothing has been archived by ageing here.",
)


@GROUP.action("undo", "Bring back what a run archived.", "day1 age undo 0197…")
@argument("commit_id", "COMMIT")
def undo(run: Invocation, commit_id: str) -> None:
    commit = run.open_client().call("commits.revert", commit_id=commit_id)
    run.show_line(commit, f"{commit_id}\tundone by commit {commit['seq']}")


@GROUP.operation("ageing.pressure", "Show how full a branch is, and what would go next.", "day1 age pressure")
def print_pressure(row: Answer) -> None:
    budget = f" of {row['budget']} ({row['share']:.0%})" if row["budget"] else ", no budget is set"
    print(f"{row['branch']}\t{row['facts']} facts in use{budget}")
    print(f"aged\t{describe_counts(row['counts'])}")
    print_aged(row["next"])

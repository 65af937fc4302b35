"""The commands on ageing: what has aged, the run that archives it, its undo, and the pressure of a branch."""

from typing import Any

from day1site.cli.invocation import Invocation, command
from day1site.cli.operations import list_operation, operation
from day1site.cli.output import Output, note, short_time
from day1site.cli.parameters import OneOf, argument, branch_option, drop_empty, option, switch
from day1site.cli.rest import Answer, quote_id

REASONS = ("expired", "time_to_live", "stale", "over_budget")
AGED_COLUMNS = ["id", "reason", "since", "priority", "worth", "fact"]
reason_option = option("--reason", "reasons", multiple=True, type=OneOf(REASONS), help="only for this reason")


@command(
    "run",
    "Archive the facts of a branch that are expired, past their days to live, stale or over the budget.",
    "day1 age --dry-run",
    "day1 age --branch task/login --reason expired",
)
@switch("--dry-run", help="only tell which, and why")
@reason_option
@option("--fact", "fact_ids", multiple=True, metavar="ID", help="only this fact, if it has aged")
@option("--exclude", multiple=True, metavar="ID", help="not this fact")
@branch_option
def run(run: Invocation, dry_run: bool, branch: str, fact_ids: tuple[str, ...], **options: Any) -> None:
    client = run.open_client()
    chosen: dict[str, Any] = {name: list(values) for name, values in drop_empty(options).items()}
    chosen |= {"fact_ids": list(fact_ids)} if fact_ids else {}
    if dry_run:
        preview = client.call("ageing.preview", branch=branch, limit=100, **chosen)
        run.show(preview, lambda out: print_preview(out, preview))
        return
    done = client.call("ageing.run", branch=branch, **chosen)
    run.show(done, lambda out: print_run(out, done))


def print_preview(out: Output, preview: Answer) -> None:
    if preview["blocked_by"] is not None:
        note(f"Merge request {preview['blocked_by']} is open from {preview['branch']}: nothing ages there.")
    if preview["results"]:
        out.table(AGED_COLUMNS, [aged_cells(row) for row in preview["results"]])
    note(f"{preview['count']} of {preview['total']} would be archived: {describe_counts(preview['counts'])}.")
    if preview["kept"]:
        note(f"Left alone: {describe_counts(preview['kept'])}.")
    if preview["next"]:
        note("These are the first 100 of them.")


def aged_cells(row: Answer) -> list[Any]:
    fact, worth = row["fact"], row["worth"]
    since = short_time(row["since"]) if row["since"] else ""
    total = f"{worth['total']:.2f}" if worth else ""
    return [fact["id"], row["reason"], since, fact["priority"], total, fact["essence"]]


def describe_counts(counts: Answer) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items() if number) or "none"


def print_run(out: Output, done: Answer) -> None:
    out.line(f"{done['count']} archived: {describe_counts(done['counts'])}")
    if done["commit"]:
        note(f"day1 age undo {done['commit']['id']} brings them back.")
    if done["changed_meanwhile"]:
        note(f"{done['changed_meanwhile']} changed meanwhile and are left.")
    if done["remaining"]:
        note(f"{done['remaining']} are left for another run.")


@command("undo", "Bring back what a run archived.", "day1 age undo 0197…")
@argument("commit_id", "COMMIT")
def undo(run: Invocation, commit_id: str) -> None:
    commit = run.open_client().api.post(f"/commits/{quote_id(commit_id)}/revert")
    run.show_line(commit, f"{commit_id}\tundone by commit {commit['seq']}")


@list_operation(
    "ageing.runs",
    "runs",
    "List the runs on a branch, the newest first.",
    "day1 age runs",
    columns=["commit", "when", "by", "archived", "undone"],
    empty="Nothing has been archived by ageing here.",
)
def list_runs(row: Answer) -> list[Any]:
    when = short_time(row["at"])
    undone = "yes" if row["undone"] else "no"
    return [row["id"], when, row["actor_label"], describe_counts(row["reasons"]), undone]


@operation(
    "ageing.pressure", "pressure", "Show how full a branch is, and what would go next.", "day1 age pressure"
)
def pressure(run: Invocation, row: Answer) -> None:
    run.show(row, lambda out: print_pressure(out, row))


def print_pressure(out: Output, row: Answer) -> None:
    budget = f" of {row['budget']} ({row['share']:.0%})" if row["budget"] else ", no budget is set"
    out.line(f"{row['branch']}\t{row['facts']} facts in use{budget}")
    out.line(f"aged\t{describe_counts(row['counts'])}")
    if row["next"]:
        out.table(AGED_COLUMNS, [aged_cells(one) for one in row["next"]])

"""The commands on quarantines."""

from typing import Any

from day1site.cli.commands import build_group, lazy_command
from day1site.cli.invocation import Invocation
from day1site.cli.operations import list_operation, operation
from day1site.cli.output import Output, short_time
from day1site.cli.rest import Answer


@operation(
    "quarantine.create",
    "create",
    "Hide what a source wrote, and all that is derived from it, on every branch.",
    "day1 quarantines create --source agent --target eve --dry-run",
)
def create(run: Invocation, row: Answer) -> None:
    if row["dry_run"]:  # the row is not stored: its id leads nowhere
        run.show(row, lambda out: print_preview(out, row))
    else:
        run.show_line(row, f"{row['id']}\thidden: {describe_hidden(row)}")


def print_preview(out: Output, row: Answer) -> None:
    out.line(f"{row['source']} {row['label']}\twould be hidden: {describe_hidden(row)}")
    print_facts(out, row)


@list_operation(
    "quarantine.list",
    "list",
    "List the quarantines, the newest first.",
    "day1 quarantines list --state active",
    columns=["id", "source", "name", "state", "hidden", "by", "begun", "reason"],
    empty="Nothing is in quarantine.",
)
def list_quarantines(row: Answer) -> list[Any]:
    begun = short_time(row["created_at"])
    who = [row["id"], row["source"], row["label"], row["state"], describe_hidden(row)]
    return [*who, row["created_by"], begun, row["reason"]]


def describe_hidden(row: Answer) -> str:
    return ", ".join(f"{kind}: {number}" for kind, number in row["counts"].items()) or "nothing"


@operation(
    "quarantine.retrieve",
    "show",
    "Show a quarantine and the newest facts that it hides.",
    "day1 quarantines show 0197…",
)
def show(run: Invocation, row: Answer) -> None:
    run.show(row, lambda out: print_quarantine(out, row))


def print_quarantine(out: Output, row: Answer) -> None:
    out.pairs({name: value for name, value in row.items() if name not in ("facts", "dry_run")})
    print_facts(out, row)


def print_facts(out: Output, row: Answer) -> None:
    if row["facts"]:
        facts = [[one["id"], one["branch"], one["fact_text"]] for one in row["facts"]]
        out.table(["id", "branch", "fact"], facts)


@operation(
    "quarantine.release",
    "release",
    "Release a quarantine: all that it hides is shown again.",
    "day1 quarantines release 0197…",
)
def release(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['id']}\t{row['state']}")


ACTIONS = {
    "create": lazy_command("quarantines:create", "Hide what a source wrote, and all that is derived from it"),
    "list": lazy_command("quarantines:list_quarantines", "List the quarantines, the newest first"),
    "show": lazy_command("quarantines:show", "Show a quarantine and facts that it hides"),
    "release": lazy_command("quarantines:release", "Release a quarantine"),
}
HELP = "hide a source's memory and what is derived from it"
GROUP = build_group("quarantines", HELP, "day1 quarantines list --state active", "list", ACTIONS)

"""The commands on quarantines."""

from day1site.cli.operation_commands import Noun
from day1site.cli.output import print_pairs, print_rows
from day1site.cli.transport.rest import Answer

GROUP = Noun("quarantines", "day1 quarantines list --state active")


@GROUP.operation(
    "quarantine.create",
    "Hide what a source wrote, and all that is derived from it, on every branch.",
    "day1 quarantines create --source agent --target eve --dry-run",
)
def print_created(row: Answer) -> None:
    if row["dry_run"]:  # the row is not stored: its id leads nowhere
        print(f"{row['source']} {row['label']}\twould be hidden: {describe_hidden(row)}")
        print_facts(row)
    else:
        print(f"{row['id']}\thidden: {describe_hidden(row)}")


def describe_hidden(row: Answer) -> str:
    return ", ".join(f"{kind}: {number}" for kind, number in row["counts"].items()) or "nothing"


GROUP.add_list(
    "quarantine.list",
    "List the quarantines, the newest first.",
    "day1 quarantines list --state active",
    cells={"hidden": describe_hidden},
    empty="Nothing is in quarantine.",
)


@GROUP.operation(
    "quarantine.retrieve",
    "Show a quarantine and the newest facts that it hides.",
    "day1 quarantines show 0197…",
)
def print_quarantine(row: Answer) -> None:
    print_pairs({name: value for name, value in row.items() if name not in ("facts", "dry_run")})
    print_facts(row)


def print_facts(row: Answer) -> None:
    if row["facts"]:
        print_rows(row["facts"], "id", "branch", "fact=fact_text")


GROUP.add_operation(
    "quarantine.release",
    "Release a quarantine: all that it hides is shown again.",
    "day1 quarantines release 0197…",
    line="{id}\t{state}",
)

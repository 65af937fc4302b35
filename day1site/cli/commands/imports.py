"""The commands on imports from other products, which ``import-from`` makes."""

from day1site.cli.importing.product_report import describe
from day1site.cli.operation_commands import Noun
from day1site.cli.output import note
from day1site.cli.transport.rest import Answer

WAY_ON = (
    "day1 merge-request show {number} says what {target} still asks for. Where that is verified facts, a"
    " person verifies them on the page of the request, or `day1 policy set {target}` asks for less; then day1"
    " merge-request merge {number}."
)
GROUP = Noun("imports", "day1 imports list")

GROUP.add_list(
    "imports.list",
    "List the imports from other products, the newest first.",
    "day1 imports list --product mem0",
    cells={
        "records": lambda row: row["counts"]["records"],
        "new": lambda row: row["counts"]["new"],
    },
    empty="Nothing was imported from another product.",
)


@GROUP.operation(
    "imports.retrieve", "Show an import with the report of its doctor.", "day1 imports show 0197…"
)
def print_import(row: Answer) -> None:
    print("\n".join(describe(row)))


@GROUP.operation(
    "imports.propose",
    "Delete what is junk on an import's branch, and ask for a merge of the rest.",
    "day1 imports propose 0197… --without junk --without echo",
)
def print_request(row: Answer) -> None:
    print(f"!{row['number']}\t{row['source']} → {row['target']}\t{row['state']}")
    note(WAY_ON.format(**row))

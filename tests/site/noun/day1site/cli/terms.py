"""The commands on terms."""

from typing import Any

from day1site.cli.commands import build_group, lazy_command
from day1site.cli.invocation import Invocation
from day1site.cli.operations import list_operation, operation
from day1site.cli.rest import Answer


@operation(
    "terms.create",
    "write",
    "Write a term down.",
    'day1 terms write branch --meaning "A line of work."',
    makes_store=True,
)
def write_term(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['id']}\t{row['name']}")


@list_operation(
    "terms.list",
    "list",
    "List terms, the newest first.",
    "day1 terms list --all",
    columns=["name", "meaning"],
    empty="No terms yet.",
)
def list_terms(row: Answer) -> list[Any]:
    return [row["name"], row["meaning"]]


ACTIONS = {
    "list": lazy_command("terms:list_terms", "List terms, the newest first"),
    "write": lazy_command("terms:write_term", "Write a term down"),
}
GROUP = build_group("terms", "write and list terms", "day1 terms --all", "list", ACTIONS)

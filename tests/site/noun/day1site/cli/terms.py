"""The commands on terms."""

from typing import Any

from day1site.cli.commands import build_group, lazy_command
from day1site.cli.declared_fields import field_options
from day1site.cli.invocation import Invocation, command
from day1site.cli.parameters import argument, drop_empty, paging_options


@command("write", "Write a term down.", 'day1 terms write branch --meaning "A line of work."')
@argument("name", "NAME")
@field_options("term")
def write_term(run: Invocation, **options: Any) -> None:
    row = run.open_client(makes_store=True).api.post("/terms", **drop_empty(options))
    run.show_line(row, f"{row['id']}\t{row['name']}")


@command("list", "List terms, the newest first.", "day1 terms list --all")
@paging_options
def list_terms(run: Invocation, **options: Any) -> None:
    api = run.open_client().api
    run.show_list(
        lambda paging: api.get("/terms", **paging),
        options,
        ["name", "meaning"],
        lambda row: [row["name"], row["meaning"]],
        "No terms yet.",
    )


ACTIONS = {
    "list": lazy_command("terms:list_terms", "List terms, the newest first"),
    "write": lazy_command("terms:write_term", "Write a term down"),
}
GROUP = build_group("terms", "write and list terms", "day1 terms --all", "list", ACTIONS)

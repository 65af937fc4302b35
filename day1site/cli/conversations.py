"""The commands on conversations."""

from typing import Any

from day1site.cli.invocation import Invocation, command
from day1site.cli.output import short_time
from day1site.cli.parameters import (
    WHO,
    OneOf,
    argument,
    at_option,
    branch_option,
    combine,
    drop_empty,
    option,
    paging_options,
    split_filters,
    who_options,
)
from day1site.cli.rest import Answer

STATUSES = ("active", "completed", "archived")

conversation_id_argument = argument("id", "CONVERSATION_ID")
conversation_filters = combine(
    *(
        option(f"--{name}", f"filter_{name}_id", multiple=True, metavar="ID", help=f"of one of these {name}s")
        for name in WHO
    ),
    option(
        "--status",
        "filter_status",
        multiple=True,
        type=OneOf(STATUSES),
        metavar="STATUS",
        help=f"one of {', '.join(STATUSES)}",
    ),
)


@command("list", "List conversations, the newest first.", "day1 conversations list --session s1")
@conversation_filters
@branch_option
@paging_options
@at_option
def list_conversations(run: Invocation, branch: str, **options: Any) -> None:
    filters, options = split_filters(options)
    client = run.open_client()
    run.show_list(
        lambda paging: client.list_conversations(branch, filters, paging),
        options,
        ["id", "began", "status", "messages", "session", "text"],
        conversation_cells,
        "No conversation here.",
    )


def conversation_cells(row: Answer) -> list[Any]:
    state = (row["status"], row["message_count"], row["session_id"])
    return [row["id"], short_time(row["created_at"]), *state, row["title"]]


@command("start", "Begin a conversation.", 'day1 conversations start --title "Login" --session s1')
@option("--title", metavar="TEXT", help="what it is about")
@option("--model", metavar="NAME", help="the model that answers in it")
@branch_option
@who_options
def start(run: Invocation, branch: str, **options: Any) -> None:
    row = run.open_client(makes_store=True).create_conversation(branch, drop_empty(options))
    run.show_line(row, f"{row['id']}\tbegun on {branch}")


@command("show", "Show a conversation.", "day1 conversations show 0197…")
@conversation_id_argument
@branch_option
@at_option
def show(run: Invocation, id: str, branch: str, at: str | None) -> None:
    run.show_pairs(run.open_client().get_conversation(id, branch, at))


@command("close", "Close a conversation: it takes no more messages.", "day1 conversations close 0197…")
@conversation_id_argument
@branch_option
def close(run: Invocation, id: str, branch: str) -> None:
    row = run.open_client().close_conversation(id, branch)
    run.show_line(row, f"{row['id']}\t{row['status']} on {branch}")

"""The commands on messages."""

from typing import Any

from day1site.cli.declared_fields import (
    field_choices,
    field_options,
    filter_options,
    split_filters,
    state_options,
)
from day1site.cli.invocation import Invocation, command, read_text
from day1site.cli.output import short_time
from day1site.cli.parameters import (
    OneOf,
    argument,
    at_option,
    branch_option,
    drop_empty,
    paging_options,
)
from day1site.cli.rest import Answer

ROLES = field_choices("message", "role")


@command("list", "List the messages of a conversation, in order.", "day1 messages list 0197… --role user")
@argument("id", "CONVERSATION_ID")
@filter_options("message")
@branch_option
@paging_options
@at_option
def list_messages(run: Invocation, id: str, branch: str, **options: Any) -> None:
    filters, options = split_filters("message", options)
    client = run.open_client()
    run.show_list(
        lambda paging: client.list_messages(id, branch, filters, paging),
        options,
        ["seq", "id", "role", "at", "text"],
        message_cells,
        "No message here.",
    )


def message_cells(row: Answer) -> list[Any]:
    time = short_time(row["said_at"] or row["created_at"])
    return [row["sequence_num"], row["id"], row["role"], time, row["content"]]


@command("show", "Show a message.", "day1 messages show 0197…")
@argument("id", "MESSAGE_ID")
@branch_option
@at_option
def show(run: Invocation, id: str, branch: str, at: str | None) -> None:
    run.show_pairs(run.open_client().get_message(id, branch, at))


@command(
    "write",
    "Append a message to a conversation.",
    'day1 messages write 0197… user "How long do tokens live?"',
)
@argument("id", "CONVERSATION_ID")
@argument("role", "ROLE", type=OneOf(ROLES), help=", ".join(ROLES))
@argument("text", "TEXT", help="what was said; - reads it from standard input")
@field_options("message")
@branch_option
@state_options("message")
def write(run: Invocation, id: str, text: str, branch: str, **options: Any) -> None:
    fields = {"content": read_text(text), **drop_empty(options)}
    (row,) = run.open_client().write_messages(id, branch, [fields])
    run.show_line(row, f"{row['id']}\tmessage {row['sequence_num']} on {branch}")

"""The commands on messages."""

from typing import Any

from day1site.cli.invocation import Invocation, command, read_text
from day1site.cli.output import short_time
from day1site.cli.parameters import (
    OneOf,
    argument,
    at_option,
    branch_option,
    drop_empty,
    metadata_option,
    option,
    paging_options,
    who_options,
)
from day1site.cli.rest import Answer

ROLES = ("user", "assistant", "tool_call", "tool_result", "system")


@command("list", "List the messages of a conversation, in order.", "day1 messages list 0197… --role user")
@argument("id", "CONVERSATION_ID")
@option("--role", multiple=True, type=OneOf(ROLES), metavar="ROLE", help=", ".join(ROLES))
@branch_option
@paging_options
@at_option
def list_messages(run: Invocation, id: str, branch: str, **options: Any) -> None:
    filters = drop_empty({"role": options["role"]})
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
@option("--model", metavar="NAME", help="that said it")
@option("--said-at", metavar="TIME", help="when it was said, if that was before")
@metadata_option
@branch_option
@who_options
def write(run: Invocation, id: str, text: str, branch: str, **options: Any) -> None:
    fields = {"content": read_text(text), **drop_empty(options)}
    (row,) = run.open_client().write_messages(id, branch, [fields])
    run.show_line(row, f"{row['id']}\tmessage {row['sequence_num']} on {branch}")

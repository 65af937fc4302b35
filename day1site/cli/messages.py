"""The commands on messages."""

from typing import Any

from day1site.cli.declared_fields import field_choices, field_options, state_options
from day1site.cli.invocation import Invocation, command, read_text
from day1site.cli.operations import list_operation, operation
from day1site.cli.output import short_time
from day1site.cli.parameters import OneOf, argument, branch_option, drop_empty
from day1site.cli.rest import Answer

ROLES = field_choices("message", "role")


@list_operation(
    "conversations.messages",
    "list",
    "List the messages of a conversation, in order.",
    "day1 messages list 0197… --role user",
    columns=["seq", "id", "role", "at", "text"],
    empty="No message here.",
)
def list_messages(row: Answer) -> list[Any]:
    time = short_time(row["said_at"] or row["created_at"])
    return [row["sequence_num"], row["id"], row["role"], time, row["content"]]


@operation("messages.retrieve", "show", "Show a message.", "day1 messages show 0197…")
def show(run: Invocation, row: Answer) -> None:
    run.show_pairs(row)


@command(
    "write",
    "Append a message to a conversation.",
    'day1 messages write 0197… user "How long do tokens live?"',
)
@argument("conversation_id", "CONVERSATION_ID")
@argument("role", "ROLE", type=OneOf(ROLES), help=", ".join(ROLES))
@argument("text", "TEXT", help="what was said; - reads it from standard input")
@field_options("message")
@branch_option
@state_options("message")
def write(run: Invocation, text: str, **options: Any) -> None:
    fields = {"content": read_text(text), **drop_empty(options)}
    row = run.open_client().call("conversations.add_message", **fields)
    run.show_line(row, f"{row['id']}\tmessage {row['sequence_num']} on {row['branch']}")

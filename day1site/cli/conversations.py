"""The commands on conversations."""

from typing import Any

from day1site.cli.invocation import Invocation
from day1site.cli.operations import list_operation, operation
from day1site.cli.output import short_time
from day1site.cli.rest import Answer


@list_operation(
    "conversations.list",
    "list",
    "List conversations, the newest first.",
    "day1 conversations list --session s1",
    columns=["id", "began", "status", "messages", "session", "text"],
    empty="No conversation here.",
)
def list_conversations(row: Answer) -> list[Any]:
    state = (row["status"], row["message_count"], row["session_id"])
    return [row["id"], short_time(row["created_at"]), *state, row["title"]]


@operation(
    "conversations.create",
    "start",
    "Begin a conversation.",
    'day1 conversations start --title "Login" --session s1',
    makes_store=True,
)
def start(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['id']}\tbegun on {row['branch']}")


@operation(
    "conversations.fork",
    "fork",
    "Fork a conversation at a message: both share what was said until then.",
    "day1 conversations fork 0197… 0198… --title 'Without the cache'",
)
def fork(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['id']}\tforked on {row['branch']}")


@operation(
    "conversations.cherry_pick",
    "cherry-pick",
    "Copy messages to the end of another conversation, or of a new one.",
    "day1 cherry-pick 0197… 0198… 0199… --to-branch main",
)
def cherry_pick(run: Invocation, pick: Answer) -> None:
    row = pick["conversation"]
    run.show_line(pick, f"{row['id']}\t{pick['added']} added on {row['branch']}")


@operation("conversations.retrieve", "show", "Show a conversation.", "day1 conversations show 0197…")
def show(run: Invocation, row: Answer) -> None:
    run.show_pairs(row)


@operation(
    "conversations.complete",
    "close",
    "Close a conversation: it takes no more messages.",
    "day1 conversations close 0197…",
)
def close(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['id']}\t{row['status']} on {row['branch']}")

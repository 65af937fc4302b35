"""The commands on conversations."""

from typing import Any

from day1site.cli.declared_fields import field_options, filter_options, split_filters, state_options
from day1site.cli.invocation import Invocation, command
from day1site.cli.names import FILTER_PREFIX
from day1site.cli.output import short_time
from day1site.cli.parameters import (
    argument,
    at_option,
    branch_option,
    drop_empty,
    listing_options,
    option,
    switch,
)
from day1site.cli.rest import Answer

conversation_id_argument = argument("id", "CONVERSATION_ID")


@command("list", "List conversations, the newest first.", "day1 conversations list --session s1")
@filter_options("conversation", FILTER_PREFIX)
@branch_option
@listing_options
@at_option
def list_conversations(run: Invocation, branch: str, **options: Any) -> None:
    filters, options = split_filters("conversation", options)
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
@field_options("conversation")
@branch_option
@state_options("conversation")
def start(run: Invocation, branch: str, **options: Any) -> None:
    row = run.open_client(makes_store=True).create_conversation(branch, drop_empty(options))
    run.show_line(row, f"{row['id']}\tbegun on {branch}")


@command(
    "fork",
    "Fork a conversation at a message: both share what was said until then.",
    "day1 conversations fork 0197… 0198… --title 'Without the cache'",
)
@conversation_id_argument
@argument("message_id", "MESSAGE_ID")
@option("--memory-branch", metavar="NAME", help="a branch to create as of that message, for the fork")
@field_options("conversation")
@branch_option
@state_options("conversation")
def fork(run: Invocation, id: str, message_id: str, branch: str, **options: Any) -> None:
    fields = {"message_id": message_id, **drop_empty(options)}
    row = run.open_client().fork_conversation(id, branch, fields)
    run.show_line(row, f"{row['id']}\tforked on {row['branch']}")


@command(
    "cherry-pick",
    "Copy messages to the end of another conversation, or of a new one.",
    "day1 cherry-pick 0197… 0198… 0199… --to-branch main",
)
@conversation_id_argument
@argument("message_ids", "MESSAGE_ID...", nargs=-1, required=True)
@option("--to", "target_conversation_id", metavar="ID", help="the conversation that takes them")
@option("--to-branch", "target_branch", metavar="NAME", help="the branch of that conversation")
@option("--title", metavar="TEXT", help="of a new conversation")
@switch("--with-facts", help="take the facts that came of them along")
@branch_option
def cherry_pick(run: Invocation, id: str, branch: str, **options: Any) -> None:
    fields = {**drop_empty(options), "message_ids": list(options["message_ids"])}
    pick = run.open_client().cherry_pick(id, branch, fields)
    row = pick["conversation"]
    run.show_line(pick, f"{row['id']}\t{pick['added']} added on {row['branch']}")


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

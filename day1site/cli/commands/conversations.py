"""The commands on conversations and their messages."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from day1site.cli.commands.bundles import parse_document, read_bytes
from day1site.cli.declared_fields import field_choices, field_options, state_options
from day1site.cli.invocation import Invocation, read_text
from day1site.cli.operation_commands import Noun, make_operation
from day1site.cli.output import note, print_pairs, print_rows, short_time
from day1site.cli.parameters import OneOf, argument, at_option, branch_option, drop_empty, option
from day1site.cli.transport.rest import Answer, quote_id

MAX_TEXT = 80  # characters of a message in a table
FORMATS = JSON, MARKDOWN = "json", "markdown"
ROLES = field_choices("message", "role")
GROUP = Noun("conversations", "day1 conversations --all")
MESSAGES = Noun("messages", "day1 messages list 0197… --all", default="")

GROUP.add_list(
    "conversations.list",
    "List conversations, the newest first.",
    "day1 conversations list --session s1",
    empty="No conversation here.",
)
GROUP.add_operation(
    "conversations.create",
    "Begin a conversation.",
    'day1 conversations start --title "Login" --session s1',
    name="start",
    line="{id}\tbegun on {branch}",
    makes_store=True,
)
GROUP.add_operation(
    "conversations.fork",
    "Fork a conversation at a message: both share what was said until then.",
    "day1 conversations fork 0197… 0198… --title 'Without the cache'",
    line="{id}\tforked on {branch}",
)
GROUP.add_operation("conversations.retrieve", "Show a conversation.", "day1 conversations show 0197…")
GROUP.add_operation(
    "conversations.complete",
    "Close a conversation: it takes no more messages.",
    "day1 conversations close 0197…",
    name="close",
    line="{id}\t{status} on {branch}",
)
GROUP.add_operation(
    "conversations.make_compact",
    "Summarize the earlier messages of a conversation, which stay as they are.",
    "day1 conversations compact 0197… --keep 20",
    name="compact",
    line="{summary}\n{tokens} tokens as {summary_tokens}",
)
GROUP.add_deletion(
    "conversations", "a conversation with its messages", "conversations", "0197…", "--session s1", "title"
)
cherry_pick = make_operation(
    "conversations.cherry_pick",
    "Copy messages to the end of another conversation, or of a new one.",
    "day1 cherry-pick 0197… 0198… 0199… --to-branch main",
    line="{conversation[id]}\t{added} added on {conversation[branch]}",
)


@GROUP.operation(
    "conversations.diff",
    "Show the differences of two conversations by message.",
    "day1 conversations diff 0197… 0198…",
    prepare=lambda inputs: {"limit": 100, **inputs},
)
def print_diff(found: Answer) -> None:
    print_pairs({"shared": found["shared"], **found["counts"]})
    rows = [row for row in found["results"] if row["change"] != "same"]
    sides = {"first": lambda row: cut_content(row["first"]), "second": lambda row: cut_content(row["second"])}
    print_rows(rows, "change", "first", "second", cells=sides)
    if found["next"]:
        note("There are more differences; --format json has the cursor.")


def cut_content(message: Answer | None) -> str:
    return " ".join(message["content"].split())[:MAX_TEXT] if message else ""


@GROUP.action(
    "export",
    "Write a conversation to a file, without secrets.",
    "day1 conversations export 0197… login.json",
    "day1 conversations export 0197… login.md --as markdown",
)
@argument("conversation_id", "CONVERSATION_ID")
@argument("file", "FILE", required=False, default="-")
@option("--as", "form", type=OneOf(FORMATS), default=JSON, help="json, which keeps all, or markdown")
@branch_option
@at_option
def export(run: Invocation, conversation_id: str, file: str, form: str, branch: str, at: str | None) -> None:
    api = run.open_client().api
    path = f"/conversations/{quote_id(conversation_id)}/export"
    document = api.get(path, branch=branch, at=at)
    text = json.dumps(document, ensure_ascii=False) + "\n"
    if form == MARKDOWN:
        from conversations.engines.import_export.document import write_markdown

        text = write_markdown(document)
    if file == "-":
        sys.stdout.write(text)
        return
    Path(file).write_bytes(text.encode("utf-8", "surrogatepass"))
    note(f"{file}: {len(document['messages'])} messages, {document['redacted']} secrets taken out")


@GROUP.operation(
    "conversations.semantic_diff",
    "Show how two conversations differ in actions, reasoning and outcome.",
    "day1 conversations semantic-diff 0197… 0198…",
)
def print_semantic_diff(found: Answer) -> None:
    layers = {name: found[name]["similarity"] for name in ("actions", "reasoning")}
    print_pairs({"verdict": found["verdict"], "shared": found["shared"], **layers})
    names = ("messages", "tokens", "failures", "tool_calls")
    print_rows([{"outcome": name, **found["outcome"][name]} for name in names], "outcome", "first", "second")
    for line in found["notes"]:
        note(line)


@GROUP.action(
    "import",
    "Store the conversation of a file; again, it adds nothing.",
    "day1 conversations import login.json --branch task/login",
    "day1 conversations export 0197… --as markdown | day1 conversations import - --branch task/login",
)
@argument("file", "FILE")
@branch_option
def import_file(run: Invocation, file: str, branch: str) -> None:
    client = run.open_client(makes_store=True)
    query = {"branch": branch}
    row = client.transport.request("POST", "/conversations/import", query, read_conversation(file))
    state = f"{row['message_count']} messages on {row['branch']}" if row["created"] else "was here already"
    run.show_line(row, f"{row['id']}\t{state}")


def read_conversation(file: str) -> Any:
    """Return the document of a file: JSON where its text begins as JSON does, else Markdown.

    A text in UTF-16 is read too: Windows writes redirected output so. Raises UsageError.
    """
    content = read_bytes(file)
    try:
        text = content.decode(json.detect_encoding(content), "surrogatepass")
    except UnicodeDecodeError:
        raise click.UsageError(f"{file} is no text in UTF-8.") from None
    if text.lstrip().startswith(("{", "[")):
        return parse_document(file, text)
    return {"format": MARKDOWN, "text": text}


# ---- messages ------------------------------------------------------------------------------------------

MESSAGES.add_list(
    "conversations.messages",
    "List the messages of a conversation, in order.",
    "day1 messages list 0197… --role user",
    name="list",
    columns=["seq=sequence_num", "id", "role", "at", "text=content"],
    cells={"at": lambda row: short_time(row["said_at"] or row["created_at"])},
    empty="No message here.",
)
MESSAGES.add_operation("messages.retrieve", "Show a message.", "day1 messages show 0197…")
MESSAGES.add_deletion("messages", "a message", "messages", "0197…", "--session-id s1", "content")


@MESSAGES.action(
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

"""The commands that compare, compact, export and import conversations."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from day1site.cli.bundles import parse_document, read_bytes
from day1site.cli.invocation import Invocation, command
from day1site.cli.operations import operation
from day1site.cli.output import Output, note
from day1site.cli.parameters import (
    OneOf,
    argument,
    at_option,
    branch_option,
    option,
)
from day1site.cli.rest import Answer, quote_id

MAX_TEXT = 80  # characters of a message in a table
FORMATS = JSON, MARKDOWN = "json", "markdown"


@operation(
    "conversations.diff",
    "diff",
    "Show the differences of two conversations by message.",
    "day1 conversations diff 0197… 0198…",
    prepare=lambda inputs: {"limit": 100, **inputs},
)
def diff(run: Invocation, found: Answer) -> None:
    run.show(found, lambda out: show_diff(out, found))


def show_diff(out: Output, found: Answer) -> None:
    out.pairs({"shared": found["shared"], **found["counts"]})
    rows = [[row["change"], *describe_pair(row)] for row in found["results"] if row["change"] != "same"]
    out.table(["change", "first", "second"], rows)
    if found["next"]:
        note("There are more differences; --format json has the cursor.")


def describe_pair(row: Answer) -> list[str]:
    return [
        " ".join(one["content"].split())[:MAX_TEXT] if one else "" for one in (row["first"], row["second"])
    ]


@operation(
    "conversations.semantic_diff",
    "semantic-diff",
    "Show how two conversations differ in actions, reasoning and outcome.",
    "day1 conversations semantic-diff 0197… 0198…",
)
def semantic_diff(run: Invocation, found: Answer) -> None:
    run.show(found, lambda out: show_semantic_diff(out, found))


def show_semantic_diff(out: Output, found: Answer) -> None:
    layers = {name: found[name]["similarity"] for name in ("actions", "reasoning")}
    out.pairs({"verdict": found["verdict"], "shared": found["shared"], **layers})
    outcome = found["outcome"]
    names = ("messages", "tokens", "failures", "tool_calls")
    rows = [[name, outcome[name]["first"], outcome[name]["second"]] for name in names]
    out.table(["outcome", "first", "second"], rows)
    for line in found["notes"]:
        note(line)


@operation(
    "conversations.make_compact",
    "compact",
    "Summarize the earlier messages of a conversation, which stay as they are.",
    "day1 conversations compact 0197… --keep 20",
)
def compact(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['summary']}\n{row['tokens']} tokens as {row['summary_tokens']}")


@command(
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
        from conversations.engines.import_export.markdown import write_markdown

        text = write_markdown(document)
    if file == "-":
        sys.stdout.write(text)
        return
    Path(file).write_bytes(text.encode("utf-8", "surrogatepass"))
    note(f"{file}: {len(document['messages'])} messages, {document['redacted']} secrets taken out")


@command(
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

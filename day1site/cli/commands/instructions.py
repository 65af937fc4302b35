"""The commands on what a project wants remembered, and on what was said."""

import json
from typing import Any

from day1site.cli.invocation import Invocation, command, read_text
from day1site.cli.operation_commands import Noun
from day1site.cli.output import note, print_rows
from day1site.cli.parameters import argument, branch_option, drop_empty, option
from day1site.cli.transport.rest import Answer

GROUP = Noun("instructions", "day1 instructions set --preset assistant", default="show")

GROUP.add_operation(
    "instructions.list", "Show what the project wants remembered.", "day1 instructions", name="show"
)


def read_fields(fields: dict[str, Any]) -> dict[str, Any]:
    return {**fields, "text": read_text(fields["text"])} if "text" in fields else fields


@GROUP.operation(
    "instructions.create",
    "Set what the project wants remembered: a preset, words of your own, categories.",
    "day1 instructions set --preset assistant",
    'day1 instructions set --text "Note diets, allergies and guests." --category diet --category guest',
    name="set",
    makes_store=True,
    prepare=read_fields,
)
def print_version(row: Answer) -> None:
    print(f"version {row['number']}\t{row['preset']}\t{', '.join(row['categories'])}")


GROUP.add_list(
    "instructions.versions",
    "List the versions of the instructions, the newest first.",
    "day1 instructions versions",
    empty="None were set: those of the preset coding hold.",
)


@command(
    "remember",
    "Learn from what was said, at once.",
    'day1 remember "My daughter Mia starts school in August."',
    "day1 remember - --session chat-7 < messages.json",
)
@argument("text", "TEXT", help="what a person said, or a JSON list of messages; - reads standard input")
@option("--session", help="the session that it belongs to", metavar="ID")
@branch_option
def remember(run: Invocation, text: str, session: str, branch: str) -> None:
    body = drop_empty({"session_id": session, "branch": branch})
    client = run.open_client(makes_store=True)
    row = client.api.post("/remember", messages=read_messages(read_text(text)), **body)
    run.show(row, print_outcomes)


def read_messages(text: str) -> Any:
    """Return a JSON list of messages, or the text as it is."""
    try:
        found = json.loads(text) if text.lstrip().startswith("[") else text
    except ValueError:
        return text
    return found if isinstance(found, list) else text


def print_outcomes(row: Answer) -> None:
    print_rows(row["results"], "action", "category", "text", "why=reason")
    if row["note"]:
        note(row["note"])

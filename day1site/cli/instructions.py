"""The commands on what a project wants remembered, and on what was said."""

import json
import tomllib
from pathlib import Path
from typing import Any

from day1site.cli.invocation import Invocation, command, read_text
from day1site.cli.output import Output, note, short_time
from day1site.cli.parameters import OneOf, argument, branch_option, drop_empty, option, paging_options
from day1site.cli.rest import Answer

# The file of the presets alone: its engine would load Django.
FILE = Path(__file__).parents[2] / "conversations" / "prompts" / "presets.toml"
PRESETS = tuple(tomllib.loads(FILE.read_text(encoding="utf-8")))
PATH = "/instructions"


@command("show", "Show what the project wants remembered.", "day1 instructions")
def show(run: Invocation) -> None:
    run.show_pairs(run.open_client().api.get(PATH))


@command(
    "set",
    "Set what the project wants remembered: a preset, words of your own, categories.",
    "day1 instructions set --preset assistant",
    'day1 instructions set --text "Note diets, allergies and guests." --category diet --category guest',
)
@option("--preset", type=OneOf(PRESETS), help=f"text and categories for {', '.join(PRESETS)}")
@option("--text", help="what a language model is told to note; - reads it from standard input")
@option("--category", multiple=True, help="one of all categories in which it is noted; several times")
def set_instructions(run: Invocation, preset: str, text: str | None, category: tuple[str, ...]) -> None:
    fields = {"preset": preset, "text": text and read_text(text), "categories": list(category) or None}
    row = run.open_client(makes_store=True).api.post(PATH, **drop_empty(fields))
    run.show_line(row, f"version {row['number']}\t{row['preset']}\t{', '.join(row['categories'])}")


@command("versions", "List the versions of the instructions, the newest first.", "day1 instructions versions")
@paging_options
def list_versions(run: Invocation, **options: Any) -> None:
    api = run.open_client().api
    run.show_list(
        lambda paging: api.get(f"{PATH}/versions", **paging),
        options,
        ["number", "preset", "at", "by", "text"],
        lambda row: [
            row["number"],
            row["preset"],
            short_time(row["created_at"]),
            row["created_by"],
            row["text"],
        ],
        "None were set: those of the preset coding hold.",
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
    run.show(row, lambda out: print_outcomes(out, row))


def read_messages(text: str) -> Any:
    """Return a JSON list of messages, or the text as it is."""
    try:
        found = json.loads(text) if text.lstrip().startswith("[") else text
    except ValueError:
        return text
    return found if isinstance(found, list) else text


def print_outcomes(out: Output, row: Answer) -> None:
    cells = [[one["action"], one["category"], one["text"], one["reason"]] for one in row["results"]]
    out.table(["action", "category", "text", "why"], cells)
    if row["note"]:
        note(row["note"])

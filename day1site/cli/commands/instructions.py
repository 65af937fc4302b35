"""The commands on what a project wants remembered, and on what was said."""

import json
from pathlib import Path
from typing import Any

from day1site.cli.connect.settings_files import check_writable, write_file
from day1site.cli.errors import CliError
from day1site.cli.importing.writer import find_project
from day1site.cli.instruction_block import put_block, remove_block
from day1site.cli.invocation import Invocation, command, read_text
from day1site.cli.operation_commands import Noun
from day1site.cli.output import note, print_rows
from day1site.cli.parameters import argument, branch_option, drop_empty, option, switch
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

FILES = ("AGENTS.md", "CLAUDE.md")
file_option = option(
    "--file", metavar="FILE", help="default: AGENTS.md or CLAUDE.md of the repository you are in"
)


@GROUP.action(
    "write",
    "Write what holds in this repository into its AGENTS.md or CLAUDE.md, as a block that Day1 keeps.",
    "day1 instructions write --dry-run",
    "day1 instructions write --file CLAUDE.md",
)
@file_option
@switch("--dry-run", help="print the file as it would be, write nothing")
@branch_option
def write_instructions(run: Invocation, file: str | None, dry_run: bool, branch: str) -> None:
    place = find_file(file)
    client = run.open_client()
    place_name = find_project(str(place.parent))
    answer = client.call("instructions.standing", branch=branch, repository=place_name)
    texts = [row["text"] for row in answer["statements"]]
    before = read_bytes(place)
    after = put_block(before, texts, str(place)) if texts else before and remove_block(before, str(place))
    if dry_run:
        return print((after or b"").decode(errors="replace"), end="")
    keep(place, before, after)
    number = "1 statement" if len(texts) == 1 else f"{len(texts)} statements"
    run.show_line(
        {"file": str(place), "statements": len(texts), "changed": before != after},
        f"{place}\t{number}\t{'changed' if before != after else 'unchanged'}",
    )


@GROUP.action(
    "remove",
    "Take the block of Day1 out of a file of instructions; the rest stays byte for byte.",
    "day1 instructions remove --file CLAUDE.md",
)
@file_option
def remove_instructions(run: Invocation, file: str | None) -> None:
    place = find_file(file)
    before = read_bytes(place)
    after = before if before is None else remove_block(before, str(place))
    keep(place, before, after)
    state = "removed" if before != after else "unchanged"
    run.show_line({"file": str(place), "changed": before != after}, f"{place}\t{state}")


def find_file(name: str | None) -> Path:
    """Return the file, behind links, in a repository. Raises CliError where it is in none or leads out."""
    folder = Path(name).absolute().parent if name else Path.cwd()
    root = next((one for one in (folder, *folder.parents) if (one / ".git").exists()), None)
    if root is None:
        raise CliError("not_found", f"{folder} is in no git repository.")
    known = next((root / one for one in FILES if (root / one).exists()), root / FILES[0])
    file = (Path(name).absolute() if name else known).resolve()
    inside = file.relative_to(root.resolve()).parts if file.is_relative_to(root.resolve()) else ()
    if not inside or inside[0] == ".git" or file.is_dir():
        raise CliError("invalid", f"{file} is no file of instructions in {root}.")
    return file


def read_bytes(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None


def keep(file: Path, before: bytes | None, after: bytes | None) -> None:
    """Store what a file holds from now on; None removes it. Raises CliError where it may not be written."""
    if before == after:
        return
    check_writable(file)
    if read_bytes(file) != before:
        raise CliError("conflict", f"{file} was changed meanwhile. It was left as it is: try again.")
    if after is None:
        file.unlink()
    else:
        write_file(file, after, new_mode=0o644)


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

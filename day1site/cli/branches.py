"""The commands on branches."""

from collections.abc import Mapping
from typing import Any

from day1site.cli.declared_fields import field_options, filter_options, split_filters
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import name_actor, note, short_time
from day1site.cli.parameters import (
    OneOf,
    argument,
    at_option,
    drop_empty,
    listing_options,
    option,
    paging_options,
)
from day1site.cli.rest import Answer

COMMIT_FIELDS = ("surface", "added", "changed", "removed")

name_argument = argument("name", "NAME")


@command(
    "create",
    "Make a branch: it starts with all that its parent holds.",
    'day1 branch create task/login --purpose "try refresh tokens"',
)
@name_argument
@option("--parent", default="main", metavar="NAME", help="default main")
@field_options("branch")
@at_option
def create(run: Invocation, **options: Any) -> None:
    branch = run.open_client(makes_store=True).create_branch(drop_empty(options))
    run.show_line(branch, f"{branch['name']}\tmade from {branch['parent']} at {branch['fork_seq']}")


@command("list", "List the branches by name.", "day1 branch list --archived")
@filter_options("branch")
@listing_options
def list_branches(run: Invocation, **options: Any) -> None:
    filters, options = split_filters("branch", options)
    client, archived = run.open_client(), filters.get("archived", False)
    columns = ["name", "parent", "head", "ahead", "behind", "last change", "owner", "purpose"]
    columns += ["archived"] if archived else []
    run.show_list(
        lambda paging: client.list_branches(filters, paging),
        options,
        columns,
        lambda row: branch_cells(row, archived),
        "No branch here.",
    )


def branch_cells(row: Answer, archived: bool) -> list[Any]:
    distance = [row.get("ahead"), row.get("behind")]  # which an older server does not tell
    cells = [row["name"], row["parent"], row["head"], *distance, short_time(row["head_at"])]
    cells += [row.get("owner"), row["purpose"]]
    return [*cells, short_time(row["archived_at"])] if archived else cells


@command("log", "List a branch's commits, the newest first.", "day1 branch log main")
@argument("name", "NAME", required=False, default="main", help="default main")
@paging_options
def log(run: Invocation, name: str, **options: Any) -> None:
    client = run.open_client()
    run.show_list(
        lambda paging: client.list_commits(name, paging),
        options,
        ["seq", "at", "title", "by", "surface", "added", "changed", "removed"],
        commit_cells,
        f"No commit on {name} yet.",
    )


def commit_cells(row: Answer) -> list[Any]:
    title = row.get("title") or row["message"] or row["kind"]  # an older server has no titles
    return [
        row["seq"],
        short_time(row["at"]),
        title,
        name_actor(row),
        *(row[field] for field in COMMIT_FIELDS),
    ]


MEMORY_KINDS = ("fact", "relation", "observation", "conversation", "message", "link")


@command(
    "diff",
    "List what a branch changed since it left its parent, or another branch.",
    "day1 branch diff task/login",
    "day1 branch diff task/login --against main --type link",
)
@name_argument
@option("--against", metavar="NAME", help="compare with this branch instead of the parent")
@option("--against-at", metavar="POINT", help="or with this point of it (of the parent)")
@option(
    "--base",
    type=OneOf(("ancestor", "point")),
    help="ancestor: what it changed itself; point: all that differs (default with --against-at)",
)
@option("--type", type=OneOf(MEMORY_KINDS), help="default fact")
@option("--change", multiple=True, type=OneOf(("added", "changed", "removed")), help="only such ones")
@paging_options
@at_option
def diff(run: Invocation, name: str, **options: Any) -> None:
    names = ("against", "against_at", "base", "type", "change")
    wording = drop_empty({option: options[option] for option in names})
    client = run.open_client()
    answers: list[Answer] = []

    def page(paging: Mapping[str, Any]) -> Answer:
        answers.append(client.compare_branch(name, wording, paging))
        return answers[-1]

    columns = ["change", "id", "fields", "by", "text"]
    run.show_list(page, options, columns, difference_cells, "No difference.")
    if not run.out.json:
        note_differences(answers[0])


def note_differences(answer: Answer) -> None:
    """Print how many differences there are, and how far the branch is ahead and behind."""
    if answer["counts"]:
        differing = {kind: tally for kind, tally in answer["counts"].items() if any(tally.values())}
        if differing:
            note("; ".join(f"{kind}s: {format_counts(tally)}" for kind, tally in differing.items()))
    if answer.get("behind"):  # an older server does not count them
        note(f"{answer['ahead']} commits ahead of {answer['against']}, {answer['behind']} behind")


def difference_cells(row: Answer) -> list[Any]:
    link = row["link"]
    text = f"{link['from_id']} {link['link_type']} {link['to_id']}" if link else row["line"]
    author = name_actor(row["commit"] or {})
    return [row["change"], row["id"], list(row["fields"]), author, text]


def format_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {label}" for label, count in counts.items())


@command("stats", "Count what a branch holds and who works on it.", "day1 branch stats task/login")
@name_argument
def stats(run: Invocation, name: str) -> None:
    answer = run.open_client().count_branch(name)
    counts = {field: format_counts(answer[field]) for field in ("facts", "verification")}
    run.show(answer, lambda out: out.pairs({**answer, **counts}))


@command(
    "archive",
    "Archive a branch: no more writes, not listed, nothing deleted.",
    "day1 branch archive task/login",
)
@name_argument
def archive(run: Invocation, name: str) -> None:
    branch = run.open_client().archive_branch(name)
    run.show_line(branch, f"{branch['name']}\tarchived")


@command("restore", "Take an archived branch back into use.", "day1 branch restore task/login")
@name_argument
def restore(run: Invocation, name: str) -> None:
    branch = run.open_client().restore_branch(name)
    run.show_line(branch, f"{branch['name']}\trestored")

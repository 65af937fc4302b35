"""The commands on branches."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from day1site.cli.declared_fields import filter_options, split_filters
from day1site.cli.invocation import Invocation, command
from day1site.cli.operations import list_operation, operation
from day1site.cli.output import name_actor, note, short_time
from day1site.cli.parameters import argument, listing_options, paging_options
from day1site.cli.rest import Answer

COMMIT_FIELDS = ("surface", "added", "changed", "removed")


@operation(
    "branches.create",
    "create",
    "Make a branch: it starts with all that its parent holds.",
    'day1 branch create task/login --purpose "try refresh tokens"',
    makes_store=True,
)
def create(run: Invocation, branch: Answer) -> None:
    run.show_line(branch, f"{branch['name']}\tmade from {branch['parent']} at {branch['fork_seq']}")


@command("list", "List the branches by name.", "day1 branch list --archived")
@filter_options("branch")
@listing_options
def list_branches(run: Invocation, **options: Any) -> None:
    filters, options = split_filters("branch", options)
    page, archived = partial(run.open_client().call, "branches.list", **filters), filters.get("archived")
    columns = ["name", "parent", "head", "ahead", "behind", "last change", "owner", "purpose"]
    columns += ["archived"] if archived else []
    run.show_list(
        lambda paging: page(**paging),
        options,
        columns,
        lambda row: branch_cells(row, archived),
        "No branch here.",
    )


def branch_cells(row: Answer, archived: bool | None) -> list[Any]:
    distance = [row.get("ahead"), row.get("behind")]  # which an older server does not tell
    cells = [row["name"], row["parent"], row["head"], *distance, short_time(row["head_at"])]
    cells += [row.get("owner"), row["purpose"]]
    return [*cells, short_time(row["archived_at"])] if archived else cells


@command("log", "List a branch's commits, the newest first.", "day1 branch log main")
@argument("name", "NAME", required=False, default="main", help="default main")
@paging_options
def log(run: Invocation, name: str, **options: Any) -> None:
    page = partial(run.open_client().call, "branches.log", name=name)
    run.show_list(
        lambda paging: page(**paging),
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


def note_differences(answer: Answer) -> None:
    """Print how many differences there are, and how far the branch is ahead and behind."""
    if answer["counts"]:
        differing = {kind: tally for kind, tally in answer["counts"].items() if any(tally.values())}
        if differing:
            note("; ".join(f"{kind}s: {format_counts(tally)}" for kind, tally in differing.items()))
    if answer.get("behind"):  # an older server does not count them
        note(f"{answer['ahead']} commits ahead of {answer['against']}, {answer['behind']} behind")


@list_operation(
    "branches.diff",
    "diff",
    "List what a branch changed since it left its parent, or another branch.",
    "day1 branch diff task/login",
    "day1 branch diff task/login --against main --type link",
    columns=["change", "id", "fields", "by", "text"],
    empty="No difference.",
    explain=note_differences,
)
def diff(row: Answer) -> list[Any]:
    link = row["link"]
    text = f"{link['from_id']} {link['link_type']} {link['to_id']}" if link else row["line"]
    author = name_actor(row["commit"] or {})
    return [row["change"], row["id"], list(row["fields"]), author, text]


def format_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {label}" for label, count in counts.items())


@operation(
    "branches.stats",
    "stats",
    "Count what a branch holds and who works on it.",
    "day1 branch stats task/login",
)
def stats(run: Invocation, answer: Answer) -> None:
    counts = {field: format_counts(answer[field]) for field in ("facts", "verification")}
    run.show(answer, lambda out: out.pairs({**answer, **counts}))


@operation(
    "branches.destroy",
    "archive",
    "Archive a branch: no more writes, not listed, nothing deleted.",
    "day1 branch archive task/login",
)
def archive(run: Invocation, branch: Answer) -> None:
    run.show_line(branch, f"{branch['name']}\tarchived")


@operation(
    "branches.restore", "restore", "Take an archived branch back into use.", "day1 branch restore task/login"
)
def restore(run: Invocation, branch: Answer) -> None:
    run.show_line(branch, f"{branch['name']}\trestored")

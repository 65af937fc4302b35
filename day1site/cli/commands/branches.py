"""The commands on branches, one by one and all together: their tree, and those that are done with."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from day1site.cli.client import load_operations
from day1site.cli.declared_fields import field_options, filter_options, split_filters
from day1site.cli.errors import UsageError
from day1site.cli.invocation import Invocation
from day1site.cli.operation_commands import Noun
from day1site.cli.output import name_actor, note, print_pairs, print_rows
from day1site.cli.parameters import argument, drop_empty, listing_options, paging_options, switch
from day1site.cli.transport.rest import NULL, Answer

GROUP = Noun("branch", "day1 branch create task/login")
EXPIRED_COLUMNS = ["branch=name", "state", "since", "owner", "left because=reason"]
KEPT_FIELDS = ("name", "purpose", "owner", "ttl_days", "tags")

GROUP.add_operation(
    "branches.create",
    "Make a branch: it starts with all that its parent holds.",
    'day1 branch create task/login --purpose "try refresh tokens"',
    line="{name}\tmade from {parent} at {fork_seq}",
    makes_store=True,
)


@GROUP.action("list", "List the branches by name.", "day1 branch list --archived")
@filter_options("branch")
@listing_options
def list_branches(run: Invocation, **options: Any) -> None:
    filters, options = split_filters("branch", options)
    page = partial(run.open_client().call, "branches.list", **filters)
    columns = load_operations()["branches.list"]["columns"]
    columns = columns if filters.get("archived") else [one for one in columns if "archived" not in one]
    # What an older server does not tell.
    cells = {name: partial(get_if_known, name) for name in ("ahead", "behind", "owner")}
    run.show_list(lambda paging: page(**paging), options, columns, "No branch here.", cells)


def get_if_known(name: str, row: Answer) -> Any:
    return row.get(name)


@GROUP.action("log", "List a branch's commits, the newest first.", "day1 branch log main")
@argument("name", "NAME", required=False, default="main", help="default main")
@paging_options
def log(run: Invocation, name: str, **options: Any) -> None:
    page = partial(run.open_client().call, "branches.log", name=name)
    columns = ["seq", "at", "title", "by", "surface", "added", "changed", "removed"]
    cells = {"title": title_commit, "by": name_actor}
    run.show_list(lambda paging: page(**paging), options, columns, f"No commit on {name} yet.", cells)


def title_commit(row: Answer) -> Any:
    return row.get("title") or row["message"] or row["kind"]  # an older server has no titles


def note_differences(answer: Answer) -> None:
    """Print how many differences there are, and how far the branch is ahead and behind."""
    if answer["counts"]:
        differing = {kind: tally for kind, tally in answer["counts"].items() if any(tally.values())}
        if differing:
            note("; ".join(f"{kind}s: {format_counts(tally)}" for kind, tally in differing.items()))
    if answer.get("behind"):  # an older server does not count them
        note(f"{answer['ahead']} commits ahead of {answer['against']}, {answer['behind']} behind")


def format_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {label}" for label, count in counts.items())


def describe_difference(row: Answer) -> Any:
    link = row["link"]
    return f"{link['from_id']} {link['link_type']} {link['to_id']}" if link else row["line"]


GROUP.add_list(
    "branches.diff",
    "List what a branch changed since it left its parent, or another branch.",
    "day1 branch diff task/login",
    "day1 branch diff task/login --against main --type link",
    columns=["change", "id", "fields", "by", "text"],
    cells={
        "fields": lambda row: list(row["fields"]),
        "by": lambda row: name_actor(row["commit"] or {}),
        "text": describe_difference,
    },
    empty="No difference.",
    explain=note_differences,
)
GROUP.add_operation(
    "branches.destroy",
    "Archive a branch: no more writes, not listed, nothing deleted.",
    "day1 branch archive task/login",
    name="archive",
    line="{name}\tarchived",
)
GROUP.add_operation(
    "branches.restore",
    "Take an archived branch back into use.",
    "day1 branch restore task/login",
    line="{name}\trestored",
)


@GROUP.operation(
    "branches.stats", "Count what a branch holds and who works on it.", "day1 branch stats task/login"
)
def print_stats(answer: Answer) -> None:
    print_pairs({**answer, **{name: format_counts(answer[name]) for name in ("facts", "verification")}})


GROUP.add_list(
    "branches.topology",
    "Show the tree of branches, with what each holds of its own.",
    "day1 branch topology --state expired --owner Ada",
    columns=[
        *("branch", "state", "ahead", "behind", "facts", "conversations", "agents"),
        *("last change=last_activity", "owner"),
    ],
    cells={"branch": lambda row: "· " * row["level"] + row["name"]},  # a cell loses the spaces it begins with
    empty="No branch matches.",
)


@GROUP.action(
    "enrich",
    "Change what is kept about a branch: purpose, owner, days to live, tags.",
    "day1 branch enrich task/login --owner Ada --ttl-days 14 --tag auth",
)
@argument("name", "NAME")
@field_options("branch", "update")
@switch("--no-ttl", help="it never expires")
def enrich(run: Invocation, name: str, no_ttl: bool, **options: Any) -> None:
    fields = drop_empty(options)
    if no_ttl and "ttl_days" in fields:
        raise UsageError("--no-ttl and --ttl-days exclude each other.")
    if not fields and not no_ttl:
        raise UsageError("Give at least one of --purpose, --owner, --ttl-days, --no-ttl and --tag.")
    fields |= {"ttl_days": NULL} if no_ttl else {}
    branch = run.open_client().call("branches.enrich", name=name, **fields)
    run.show(branch, lambda _: print_pairs({field: branch[field] for field in KEPT_FIELDS}))


GROUP.add_list(
    "branches.expired",
    "List branches whose days are over, or that were merged whole.",
    "day1 branch expired",
    columns=EXPIRED_COLUMNS,
    empty="No branch is done with.",
)


@GROUP.action(
    "auto-archive",
    "Archive branches whose days are over, or that were merged whole; without --apply only tell which.",
    "day1 branch auto-archive",
    "day1 branch auto-archive --apply",
)
@switch("--apply", help="archive them; nothing is deleted, and each can be restored")
def auto_archive(run: Invocation, apply: bool) -> None:
    run.show(run.open_client().call("branches.auto_archive", dry_run=not apply), print_archived)


def print_archived(report: Answer) -> None:
    if not report["results"]:
        note("No branch is done with.")
        return
    print_rows(report["results"], *EXPIRED_COLUMNS)
    done = "would be archived (--apply does it)" if report["dry_run"] else "archived"
    note(f"{report['count']} {done}, {len(report['results']) - report['count']} left.")
    if report["more"]:
        note("There are more: call it again.")

"""The commands on all branches together: their tree, their details, and those that are done with."""

from typing import Any

from day1site.cli.branches import name_argument
from day1site.cli.declared_fields import field_options
from day1site.cli.errors import UsageError
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import Output, note, short_time
from day1site.cli.parameters import WHOLE, OneOf, drop_empty, option, paging_options, switch
from day1site.cli.rest import NULL, Answer

STATES = ("live", "expired", "merged", "archived")
MAX_NODES = 500
COUNTS = ("ahead", "behind", "facts", "conversations", "agents")
TREE_COLUMNS = ["branch", "state", *COUNTS, "last change", "owner"]
EXPIRED_COLUMNS = ["branch", "state", "since", "owner", "left because"]
KEPT_FIELDS = ("name", "purpose", "owner", "ttl_days", "tags")


@command(
    "enrich",
    "Change what is kept about a branch: purpose, owner, days to live, tags.",
    "day1 branch enrich task/login --owner Ada --ttl-days 14 --tag auth",
)
@name_argument
@field_options("branch")
@switch("--no-ttl", help="it never expires")
def enrich(run: Invocation, name: str, no_ttl: bool, **options: Any) -> None:
    fields = drop_empty(options)
    if no_ttl and "ttl_days" in fields:
        raise UsageError("--no-ttl and --ttl-days exclude each other.")
    if not fields and not no_ttl:
        raise UsageError("Give at least one of --purpose, --owner, --ttl-days, --no-ttl and --tag.")
    fields |= {"ttl_days": NULL} if no_ttl else {}
    branch = run.open_client().enrich_branch(name, fields)
    run.show(branch, lambda out: out.pairs({field: branch[field] for field in KEPT_FIELDS}))


@command(
    "topology",
    "Show the tree of branches, with what each holds of its own.",
    "day1 branch topology --state expired --owner Ada",
)
@option("--name", metavar="TEXT", help="a part of the name")
@option("--state", multiple=True, type=OneOf(STATES), help="only these; default all but archived")
@option("--owner", metavar="NAME", help="only those of this owner")
@option("--tag", metavar="TAG", help="only those with this tag")
@option("--limit", type=WHOLE, metavar="N", help="at most so many, 1 to 500; default 500")
@option("--cursor", metavar="TEXT", help="where the page before said that the next one begins")
@switch("--all", help="every page, one after the other")
def topology(run: Invocation, all: bool, limit: int | None, cursor: str | None, **options: Any) -> None:
    client, filters = run.open_client(), drop_empty(options)
    run.show_list(
        lambda paging: client.get_topology(filters, paging),
        {"limit": limit or MAX_NODES, "cursor": cursor, "all": all},
        TREE_COLUMNS,
        node_cells,
        "No branch fits.",
    )


def node_cells(row: Answer) -> list[Any]:
    # A cell loses the spaces that it begins with.
    name = "· " * row["level"] + row["name"]
    numbers = [row[field] for field in COUNTS]
    return [name, row["state"], *numbers, short_time(row["last_activity"]), row["owner"]]


@command(
    "expired",
    "List branches whose days are over, or that were merged whole.",
    "day1 branch expired",
)
@paging_options
def expired(run: Invocation, **options: Any) -> None:
    client = run.open_client()
    run.show_list(client.list_expired, options, EXPIRED_COLUMNS, expired_cells, "No branch is done with.")


def expired_cells(row: Answer) -> list[Any]:
    return [row["name"], row["state"], short_time(row["since"]), row["owner"], row["reason"]]


@command(
    "auto-archive",
    "Archive branches whose days are over, or that were merged whole; without --apply only tell which.",
    "day1 branch auto-archive",
    "day1 branch auto-archive --apply",
)
@switch("--apply", help="archive them; nothing is deleted, and each can be restored")
def auto_archive(run: Invocation, apply: bool) -> None:
    report = run.open_client().auto_archive(not apply)
    run.show(report, lambda out: print_report(out, report))


def print_report(out: Output, report: Answer) -> None:
    if not report["results"]:
        note("No branch is done with.")
        return
    out.table(EXPIRED_COLUMNS, [expired_cells(row) for row in report["results"]])
    done = "would be archived (--apply does it)" if report["dry_run"] else "archived"
    note(f"{report['count']} {done}, {len(report['results']) - report['count']} left.")
    if report["more"]:
        note("There are more: call it again.")

"""The commands on all branches together: their tree, their details, and those that are done with."""

from typing import Any

from day1site.cli.declared_fields import field_options
from day1site.cli.errors import UsageError
from day1site.cli.invocation import Invocation, command
from day1site.cli.operations import list_operation
from day1site.cli.output import Output, note, short_time
from day1site.cli.parameters import argument, drop_empty, switch
from day1site.cli.rest import NULL, Answer

COUNTS = ("ahead", "behind", "facts", "conversations", "agents")
EXPIRED_COLUMNS = ["branch", "state", "since", "owner", "left because"]
KEPT_FIELDS = ("name", "purpose", "owner", "ttl_days", "tags")


@command(
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
    run.show(branch, lambda out: out.pairs({field: branch[field] for field in KEPT_FIELDS}))


@list_operation(
    "branches.topology",
    "topology",
    "Show the tree of branches, with what each holds of its own.",
    "day1 branch topology --state expired --owner Ada",
    columns=["branch", "state", *COUNTS, "last change", "owner"],
    empty="No branch fits.",
)
def topology(row: Answer) -> list[Any]:
    # A cell loses the spaces that it begins with.
    name = "· " * row["level"] + row["name"]
    numbers = [row[field] for field in COUNTS]
    return [name, row["state"], *numbers, short_time(row["last_activity"]), row["owner"]]


def expired_cells(row: Answer) -> list[Any]:
    return [row["name"], row["state"], short_time(row["since"]), row["owner"], row["reason"]]


expired = list_operation(
    "branches.expired",
    "expired",
    "List branches whose days are over, or that were merged whole.",
    "day1 branch expired",
    columns=EXPIRED_COLUMNS,
    empty="No branch is done with.",
)(expired_cells)


@command(
    "auto-archive",
    "Archive branches whose days are over, or that were merged whole; without --apply only tell which.",
    "day1 branch auto-archive",
    "day1 branch auto-archive --apply",
)
@switch("--apply", help="archive them; nothing is deleted, and each can be restored")
def auto_archive(run: Invocation, apply: bool) -> None:
    report = run.open_client().call("branches.auto_archive", dry_run=not apply)
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

"""The commands on API keys."""

from typing import Any

from day1site.cli.declared_fields import field_options, filter_options, split_filters
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import note, short_time
from day1site.cli.parameters import argument, drop_empty, listing_options
from day1site.cli.rest import Answer


@command(
    "create",
    "Make an API key: its token is shown this once.",
    "day1 keys create ci --scope write --branch-pattern 'task/*'",
)
@argument("label", "LABEL")
@field_options("key")
def create(run: Invocation, **options: Any) -> None:
    fields = {"scopes": ["write"], **drop_empty(options)}
    key = run.open_client(makes_store=True).create_key(fields)
    run.show_line(key, key["token"])
    if not run.out.json:
        note("This is the only time that the token is shown.")


@command(
    "list",
    "List the keys, the newest first.",
    "day1 keys list",
    "day1 keys list --state valid --agent ledger-agent",
)
@filter_options("key")
@listing_options
def list_keys(run: Invocation, **options: Any) -> None:
    filters, options = split_filters("key", options)
    client = run.open_client()
    run.show_list(
        lambda paging: client.list_keys(filters, paging),
        options,
        ["id", "label", "prefix", "scopes", "branches", "last used", "state"],
        key_cells,
        "No keys yet: day1 keys create LABEL makes one.",
    )


def key_cells(row: Answer) -> list[Any]:
    patterns = row["branch_patterns"] or "all"
    names = [row[name] for name in ("id", "label", "prefix", "scopes")]
    return [*names, patterns, short_time(row["last_used_at"]), describe_state(row)]


def describe_state(row: Answer) -> str:
    if row["revoked_at"]:
        return "revoked"
    return f"until {short_time(row['expires_at'])}" if row["expires_at"] else "open"


@command("revoke", "Revoke a key: it opens nothing any more.", "day1 keys revoke 0197…")
@argument("id", "KEY_ID")
def revoke(run: Invocation, id: str) -> None:
    key = run.open_client().revoke_key(id)
    run.show_line(key, f"{key['id']}\trevoked")

"""The commands on API keys."""

from typing import Any

from day1site.cli.invocation import Invocation
from day1site.cli.operations import list_operation, operation
from day1site.cli.output import note, short_time
from day1site.cli.rest import Answer


@operation(
    "keys.create",
    "create",
    "Make an API key: its token is shown this once.",
    "day1 keys create ci --scope write --branch-pattern 'task/*'",
    makes_store=True,
    prepare=lambda fields: {"scopes": ["write"], **fields},
)
def create(run: Invocation, key: Answer) -> None:
    run.show_line(key, key["token"])
    if not run.out.json:
        note("This is the only time that the token is shown.")


@list_operation(
    "keys.list",
    "list",
    "List the keys, the newest first.",
    "day1 keys list",
    "day1 keys list --state valid --agent ledger-agent",
    columns=["id", "label", "prefix", "scopes", "branches", "last used", "state"],
    empty="No keys yet: day1 keys create LABEL makes one.",
)
def list_keys(row: Answer) -> list[Any]:
    patterns = row["branch_patterns"] or "all"
    names = [row[name] for name in ("id", "label", "prefix", "scopes")]
    return [*names, patterns, short_time(row["last_used_at"]), describe_state(row)]


def describe_state(row: Answer) -> str:
    if row["revoked_at"]:
        return "revoked"
    return f"until {short_time(row['expires_at'])}" if row["expires_at"] else "open"


@operation("keys.revoke", "revoke", "Revoke a key: it opens nothing any more.", "day1 keys revoke 0197…")
def revoke(run: Invocation, key: Answer) -> None:
    run.show_line(key, f"{key['id']}\trevoked")

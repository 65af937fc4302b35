"""The commands on API keys."""

from day1site.cli.operation_commands import Noun
from day1site.cli.output import note, short_time
from day1site.cli.transport.rest import Answer

GROUP = Noun("keys", "day1 keys create ci --scope write")


@GROUP.operation(
    "keys.create",
    "Make an API key: its token is shown this once.",
    "day1 keys create ci --scope write --branch-pattern 'task/*'",
    makes_store=True,
    prepare=lambda fields: {"scopes": ["write"], **fields},
)
def print_token(key: Answer) -> None:
    print(key["token"])
    note("This is the only time that the token is shown.")


def describe_state(row: Answer) -> str:
    if row["revoked_at"]:
        return "revoked"
    return f"until {short_time(row['expires_at'])}" if row["expires_at"] else "open"


GROUP.add_list(
    "keys.list",
    "List the keys, the newest first.",
    "day1 keys list",
    "day1 keys list --state valid --agent ledger-agent",
    cells={"branches": lambda row: row["branch_patterns"] or "all", "state": describe_state},
    empty="No keys yet: day1 keys create LABEL makes one.",
)
GROUP.add_operation(
    "keys.revoke",
    "Revoke a key: it opens nothing any more.",
    "day1 keys revoke 0197…",
    line="{id}\trevoked",
)

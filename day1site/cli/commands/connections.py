"""The commands on programs that people connected by OAuth."""

from day1site.cli.commands.keys import describe_state
from day1site.cli.operation_commands import Noun

GROUP = Noun("connections", "day1 connections list")
GROUP.add_list(
    "connections.list",
    "List the programs that people connected with their login, the newest first.",
    "day1 connections list",
    cells={"branches": lambda row: row["branch_patterns"] or "all", "state": describe_state},
    empty="No program is connected with a login.",
)
GROUP.add_operation(
    "connections.revoke",
    "Disconnect a program: it opens nothing any more.",
    "day1 connections revoke 0197…",
    line="{id}\trevoked",
)

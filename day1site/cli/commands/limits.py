"""The commands on limits."""

from day1site.cli.operation_commands import Noun

GROUP = Noun("limits", "day1 limits list", default="list")
GROUP.add_list(
    "limits.list",
    "List the limits of the project and the key, with what is used; `day1 project set --limits` sets them.",
    "day1 limits",
    empty="No limit.",
)

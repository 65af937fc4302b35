"""The commands on terms."""

from day1site.cli.operation_commands import Noun

GROUP = Noun("terms", "day1 terms --all")

GROUP.add_list(
    "terms.list",
    "List terms, the newest first.",
    "day1 terms list --all",
    columns=["name", "meaning"],
    empty="No terms yet.",
)
GROUP.add_operation(
    "terms.create",
    "Write a term down.",
    'day1 terms write branch --meaning "A line of work."',
    name="write",
    line="{id}\t{name}",
    makes_store=True,
)

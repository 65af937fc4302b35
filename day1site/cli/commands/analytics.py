"""The commands on figures of a project: what agents do, and how well memory works."""

from typing import Any

from day1site.cli.operation_commands import Noun
from day1site.cli.output import note, print_pairs, print_rows, print_table
from day1site.cli.transport.rest import Answer

GROUP = Noun("analytics", "day1 analytics --days 7", default="overview")


@GROUP.operation(
    "analytics.overview",
    "Show what a branch holds, and what happened there lately.",
    "day1 analytics --days 7",
)
def print_overview(row: Answer) -> None:
    print_figures(row)
    if row["consolidation"]["healthy"] is False:
        note(
            f"Of what consolidation read, {row['consolidation']['rate']:.1%} became facts: 5–15 % is healthy."
        )


def print_figures(row: Answer) -> None:
    """Print one figure a line, counts of one kind on one; lists as tables."""
    print_pairs({name: describe_value(value) for name, value in row.items() if not isinstance(value, list)})
    for rows in (value for value in row.values() if isinstance(value, list) and value):
        print_table(list(rows[0]), [list(one.values()) for one in rows])


def describe_value(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    named = {name: describe_value(inner) for name, inner in value.items() if inner not in (None, 0)}
    return ", ".join(f"{name} {inner}" for name, inner in named.items())


GROUP.add_operation(
    "analytics.sessions",
    "Show what a session did.",
    "day1 analytics session 4f1c…",
    name="session",
    show=print_figures,
)
GROUP.add_operation(
    "analytics.agents",
    "Show what an agent did, and what became of its facts.",
    "day1 analytics agent ledger",
    name="agent",
    show=print_figures,
)


GROUP.add_operation(
    "analytics.end_users",
    "Show what a branch holds of each end user.",
    "day1 analytics end-users",
    name="end-users",
    show=print_figures,
)


@GROUP.operation(
    "analytics.trends",
    "Show what was written in each day or hour.",
    "day1 analytics trends --granularity hour",
)
def print_trends(row: Answer) -> None:
    counts = ("facts", "messages", "conversations", "observations", "recalls", "misses")
    print_rows(row["points"], "from=start", *counts)


GROUP.add_operation(
    "analytics.conversations",
    "Show who said how much in a conversation.",
    "day1 analytics conversation 0197…",
    name="conversation",
    show=print_figures,
)
GROUP.add_operation(
    "analytics.curation",
    "Show verdicts, answers, and what is junk.",
    "day1 analytics curation --days 7",
    show=print_figures,
)

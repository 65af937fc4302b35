"""The commands on figures of a project: what agents do, and how well memory works."""

from typing import Any

from day1site.cli.invocation import Invocation
from day1site.cli.operations import operation
from day1site.cli.output import Output, note, short_time
from day1site.cli.rest import Answer

POINT_COLUMNS = ["facts", "messages", "conversations", "observations", "recalls", "misses"]


@operation(
    "analytics.overview",
    "overview",
    "Show what a branch holds, and what happened there lately.",
    "day1 analytics --days 7",
)
def overview(run: Invocation, row: Answer) -> None:
    run.show(row, lambda out: print_overview(out, row))


def print_overview(out: Output, row: Answer) -> None:
    print_figures(out, row)
    if row["consolidation"]["healthy"] is False:
        note(
            f"Of what consolidation read, {row['consolidation']['rate']:.1%} became facts: 5–15 % is healthy."
        )


@operation(
    "analytics.trends",
    "trends",
    "Show what was written in each day or hour.",
    "day1 analytics trends --granularity hour",
)
def trends(run: Invocation, row: Answer) -> None:
    cells = [[short_time(one["start"]), *(one[name] for name in POINT_COLUMNS)] for one in row["points"]]
    run.show(row, lambda out: out.table(["from", *POINT_COLUMNS], cells))


def show_figures(run: Invocation, row: Answer) -> None:
    run.show(row, lambda out: print_figures(out, row))


session = operation(
    "analytics.sessions", "session", "Show what a session did.", "day1 analytics session 4f1c…"
)(show_figures)
agent = operation(
    "analytics.agents",
    "agent",
    "Show what an agent did, and what became of its facts.",
    "day1 analytics agent ledger",
)(show_figures)
conversation = operation(
    "analytics.conversations",
    "conversation",
    "Show who said how much in a conversation.",
    "day1 analytics conversation 0197…",
)(show_figures)
curation = operation(
    "analytics.curation",
    "curation",
    "Show verdicts, answers, and what is junk.",
    "day1 analytics curation --days 7",
)(show_figures)


def print_figures(out: Output, row: Answer) -> None:
    """Print one figure a line, counts of one kind on one; lists as tables."""
    out.pairs({name: describe_value(value) for name, value in row.items() if not isinstance(value, list)})
    for rows in (value for value in row.values() if isinstance(value, list) and value):
        out.table(list(rows[0]), [list(one.values()) for one in rows])


def describe_value(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    named = {name: describe_value(inner) for name, inner in value.items() if inner not in (None, 0)}
    return ", ".join(f"{name} {inner}" for name, inner in named.items())

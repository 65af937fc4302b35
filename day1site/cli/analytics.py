"""The commands on figures of a project: what agents do, and how well memory works."""

from typing import Any

from day1site.cli.invocation import Invocation, command
from day1site.cli.output import Output, note, short_time
from day1site.cli.parameters import OneOf, argument, at_option, branch_option, drop_empty, option
from day1site.cli.rest import Answer, quote_id

PATH = "/analytics"
POINT_COLUMNS = ["facts", "messages", "conversations", "observations", "recalls", "misses"]
days_option = option("--days", type=int, default=30, help="the last days, today included (30)")


@command("overview", "Show what a branch holds, and what happened there lately.", "day1 analytics --days 7")
@days_option
@branch_option
@at_option
def overview(run: Invocation, **options: Any) -> None:
    row = run.open_client().api.get(f"{PATH}/overview", **drop_empty(options))
    run.show(row, lambda out: print_overview(out, row))


def print_overview(out: Output, row: Answer) -> None:
    print_figures(out, row)
    if row["consolidation"]["healthy"] is False:
        note(
            f"Of what consolidation read, {row['consolidation']['rate']:.1%} became facts: 5–15 % is healthy."
        )


@command("session", "Show what a session did.", "day1 analytics session 4f1c…")
@argument("session_id", "SESSION")
def session(run: Invocation, session_id: str) -> None:
    show_figures(run, f"{PATH}/sessions/{quote_id(session_id)}", {})


@command("agent", "Show what an agent did, and what became of its facts.", "day1 analytics agent ledger")
@argument("agent_id", "AGENT")
@branch_option
@at_option
def agent(run: Invocation, agent_id: str, **options: Any) -> None:
    show_figures(run, f"{PATH}/agents/{quote_id(agent_id)}", options)


@command("trends", "Show what was written in each day or hour.", "day1 analytics trends --granularity hour")
@option("--granularity", type=OneOf(("day", "hour")), default="day", help="day or hour (day)")
@days_option
@option("--since", metavar="TIME", help="instead of days: from this time on")
@option("--until", metavar="TIME", help="up to this time")
@branch_option
@at_option
def trends(run: Invocation, **options: Any) -> None:
    row = run.open_client().api.get(f"{PATH}/trends", **drop_empty(options))
    cells = [[short_time(one["start"]), *(one[name] for name in POINT_COLUMNS)] for one in row["points"]]
    run.show(row, lambda out: out.table(["from", *POINT_COLUMNS], cells))


@command("conversation", "Show who said how much in a conversation.", "day1 analytics conversation 0197…")
@argument("conversation_id", "CONVERSATION")
@branch_option
@at_option
def conversation(run: Invocation, conversation_id: str, **options: Any) -> None:
    show_figures(run, f"{PATH}/conversations/{quote_id(conversation_id)}", options)


@command("curation", "Show verdicts, answers, and what is junk.", "day1 analytics curation --days 7")
@days_option
@branch_option
@at_option
def curation(run: Invocation, **options: Any) -> None:
    show_figures(run, f"{PATH}/curation", options)


def show_figures(run: Invocation, path: str, options: dict[str, Any]) -> None:
    row = run.open_client().api.get(path, **drop_empty(options))
    run.show(row, lambda out: print_figures(out, row))


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

"""The commands on sessions."""

from pathlib import Path
from typing import Any

from day1site.cli.declared_fields import field_options, filter_options, split_filters
from day1site.cli.importing.writer import find_project
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import Output, short_time
from day1site.cli.parameters import (
    WHOLE,
    argument,
    branch_option,
    drop_empty,
    listing_options,
    option,
)
from day1site.cli.rest import Answer

FACT_COLUMNS = ("id", "category", "confidence", "fact_text")

session_id_argument = argument("session_id", "SESSION_ID")


@command("list", "List sessions, the last begun first.", "day1 sessions list --status active")
@option("--branch", metavar="NAME", help="default: every branch")
@filter_options("session")
@listing_options
def list_sessions(run: Invocation, branch: str | None, **options: Any) -> None:
    filters, options = split_filters("session", options)
    filters |= drop_empty({"branch": branch})
    client = run.open_client()
    run.show_list(
        lambda paging: client.list_sessions(filters, paging),
        options,
        ["id", "status", "began", "agent", "path", "text"],
        session_cells,
        "No session here.",
    )


def session_cells(row: Answer) -> list[Any]:
    began = short_time(row["started_at"])
    return [row["id"], row["status"], began, row["agent_id"], row["project_path"], row["summary"]]


@command("start", "Begin a session, or find it.", "day1 sessions start s1 --agent claude-code --path .")
@session_id_argument
@branch_option
@field_options("session")
def start(run: Invocation, branch: str, **options: Any) -> None:
    fields = drop_empty(options)
    if Path(path := fields.get("project_path", "")).is_dir() and path:
        fields["project_path"] = find_project(str(Path(path).absolute()))
    row = run.open_client(makes_store=True).create_session(branch, fields)
    run.show_line(row, f"{row['id']}\t{'begun' if row['created'] else row['status']}")


@command("show", "Show a session.", "day1 sessions show s1")
@session_id_argument
def show(run: Invocation, session_id: str) -> None:
    run.show_pairs(run.open_client().get_session(session_id))


@command(
    "context",
    "Show what the next session should know of this one.",
    "day1 sessions context s1 --messages 10",
)
@session_id_argument
@option("--messages", "message_limit", type=WHOLE, metavar="N", help="default 50")
@option("--facts", "fact_limit", type=WHOLE, metavar="N", help="default 20")
def context(run: Invocation, session_id: str, **options: Any) -> None:
    answer = run.open_client().get_session_context(session_id, drop_empty(options))
    run.show(answer, lambda out: print_context(out, answer))


def print_context(out: Output, answer: Answer) -> None:
    out.pairs({"parent": answer["parent_summary"], "summary": answer["session"]["summary"]})
    out.pairs({"observations": answer["observations_summary"]["by_type"]})
    if answer["facts"]:
        rows = [[fact[name] for name in FACT_COLUMNS] for fact in answer["facts"]]
        out.table([*FACT_COLUMNS[:3], "text"], rows)
    messages = [row for conversation in answer["conversations"] for row in conversation["messages"]]
    if messages:
        rows = [[row["sequence_num"], row["role"], row["content"]] for row in messages]
        out.table(["seq", "role", "text"], rows)


@command(
    "end",
    "End a session: its conversations end with it.",
    'day1 sessions end s1 --summary "Moved the queue to Redis."',
)
@session_id_argument
@field_options("session", "update")
def end(run: Invocation, session_id: str, **options: Any) -> None:
    row = run.open_client().end_session(session_id, drop_empty(options))
    run.show_line(row, f"{row['id']}\t{row['status']}")

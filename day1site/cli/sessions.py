"""The commands on sessions."""

from pathlib import Path
from typing import Any

from day1site.cli.importing.writer import find_project
from day1site.cli.invocation import Invocation
from day1site.cli.operations import list_operation, operation
from day1site.cli.output import Output, short_time
from day1site.cli.rest import Answer

FACT_COLUMNS = ("id", "category", "confidence", "fact_text")


@list_operation(
    "sessions.list",
    "list",
    "List sessions, the last begun first.",
    "day1 sessions list --status active",
    columns=["id", "status", "began", "agent", "path", "text"],
    empty="No session here.",
)
def list_sessions(row: Answer) -> list[Any]:
    began = short_time(row["started_at"])
    return [row["id"], row["status"], began, row["agent_id"], row["project_path"], row["summary"]]


def name_repository(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a session, with a folder as the repository that it is of."""
    path = fields.get("project_path", "")
    if path and Path(path).is_dir():
        return {**fields, "project_path": find_project(str(Path(path).absolute()))}
    return fields


@operation(
    "sessions.create",
    "start",
    "Begin a session, or find it.",
    "day1 sessions start s1 --agent claude-code --path .",
    makes_store=True,
    prepare=name_repository,
)
def start(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['id']}\t{'begun' if row['created'] else row['status']}")


@operation("sessions.retrieve", "show", "Show a session.", "day1 sessions show s1")
def show(run: Invocation, row: Answer) -> None:
    run.show_pairs(row)


@operation(
    "sessions.context",
    "context",
    "Show what the next session should know of this one.",
    "day1 sessions context s1 --messages 10",
)
def context(run: Invocation, answer: Answer) -> None:
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


@operation(
    "sessions.end",
    "end",
    "End a session: its conversations end with it.",
    'day1 sessions end s1 --summary "Moved the queue to Redis."',
)
def end(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['id']}\t{row['status']}")

"""The commands on sessions."""

from pathlib import Path
from typing import Any

from day1site.cli.importing.writer import find_project
from day1site.cli.operation_commands import Noun
from day1site.cli.output import print_pairs, print_rows
from day1site.cli.transport.rest import Answer

GROUP = Noun("sessions", "day1 sessions --limit 5")

GROUP.add_list(
    "sessions.list",
    "List sessions, the last begun first.",
    "day1 sessions list --status active",
    empty="No session here.",
)


def name_repository(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a session, with a folder as the repository that it is of."""
    path = fields.get("project_path", "")
    if path and Path(path).is_dir():
        return {**fields, "project_path": find_project(str(Path(path).absolute()))}
    return fields


@GROUP.operation(
    "sessions.create",
    "Begin a session, or find it.",
    "day1 sessions start s1 --agent claude-code --path .",
    name="start",
    makes_store=True,
    prepare=name_repository,
)
def print_started(row: Answer) -> None:
    print(f"{row['id']}\t{'begun' if row['created'] else row['status']}")


GROUP.add_operation("sessions.retrieve", "Show a session.", "day1 sessions show s1")


@GROUP.operation(
    "sessions.context",
    "Show what the next session should know of this one.",
    "day1 sessions context s1 --messages 10",
)
def print_context(answer: Answer) -> None:
    print_pairs({"parent": answer["parent_summary"], "summary": answer["session"]["summary"]})
    print_pairs({"observations": answer["observations_summary"]["by_type"]})
    if answer["facts"]:
        print_rows(answer["facts"], "id", "category", "confidence", "text=fact_text")
    messages = [row for conversation in answer["conversations"] for row in conversation["messages"]]
    if messages:
        print_rows(messages, "seq=sequence_num", "role", "text=content")


GROUP.add_operation(
    "sessions.end",
    "End a session: its conversations end with it.",
    'day1 sessions end s1 --summary "Moved the queue to Redis."',
    line="{id}\t{status}",
)
GROUP.add_deletion("sessions", "a session with what it captured", "sessions", "s1", "--agent claude-code")

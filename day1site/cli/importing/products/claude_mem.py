"""claude-mem: observations with their facts, and summaries of sessions, in one SQLite file."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from conversations.capture.transcripts.records import Report, moment
from day1site.cli.importing.products.records import (
    Found,
    Memory,
    find_stores,
    read_list,
    read_stores,
    read_text,
)
from day1site.cli.importing.products.sqlite_files import open_store

PROMPTS = "prompts of sessions: import the transcripts of their program"
# All of a session behind one another, sessions as they began. Rows are read by their key: a sort of whole
# rows would write them to the disk.
IN_SESSIONS = """
    SELECT place, id FROM (
        SELECT 'observations' AS place, id, memory_session_id, created_at_epoch FROM observations
        UNION ALL SELECT 'session_summaries', id, memory_session_id, created_at_epoch FROM session_summaries
    ) ORDER BY min(created_at_epoch) OVER (PARTITION BY memory_session_id), memory_session_id, place, id
"""
SUMMARY = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def read(path: Path, report: Report) -> Found:
    files = find_stores(path, "claude-mem", "claude-mem.db")
    yield from read_stores(files, report, lambda file: read_file(file, report))


def read_file(file: Path, report: Report) -> Found:
    with open_store(file, "claude-mem", report) as store:
        store.require("sdk_sessions", "memory_session_id", "project")
        for table in TABLES:
            store.require(table, "id", "memory_session_id", "project", "created_at_epoch")
        for row in store.list_rows(IN_SESSIONS):
            for found in store.read_rows(f"SELECT * FROM {row['place']} WHERE id = ?", row["id"]):
                yield from TABLES[row["place"]](found, report)
        if "user_prompts" in store.tables:
            [(count,)] = store.connection.execute("SELECT count(*) FROM user_prompts").fetchall()
            report.skip(PROMPTS, count)


def read_observation(row: Mapping[str, Any], report: Report) -> Iterator[Memory]:
    """Yield what an observation tells, and each of its facts."""
    uid = f"observation-{row['id']}-{row['created_at_epoch']}"
    title, body = read_text(row, "title"), read_text(row, "narrative", "text", "subtitle")
    summary = ": ".join(filter(None, (title, body)))
    texts = {uid: summary} if summary else {}
    texts |= {f"{uid}#{number}": text for number, text in enumerate(read_list(row.get("facts") or "[]"), 1)}
    report.skip("observations without a text", not texts)
    for name, text in texts.items():
        yield Memory(
            name,
            text,
            kind=read_text(row, "type"),
            created=read_epoch(row["created_at_epoch"]),
            author=read_text(row, "agent_type", "generated_by_model") or "claude-mem",
            session=read_text(row, "memory_session_id"),
            origin=read_text(row, "project"),
            tags=read_list(row.get("concepts") or "[]"),
            metadata=describe_files(row) | ({"title": title[:200]} if title and name == uid else {}),
            links=[("part of", uid)] if name != uid and summary else [],
        )


def describe_files(row: Mapping[str, Any]) -> dict[str, Any]:
    names = ("files_read", "files_modified", "files_edited")
    return {name: files for name in names if (files := read_list(row.get(name) or "[]"))}


def read_summary(row: Mapping[str, Any], report: Report) -> Iterator[Memory]:
    """Yield the summary of a session, each part with its name."""
    parts = [f"{name.replace('_', ' ').capitalize()}: {row[name]}" for name in SUMMARY if row.get(name)]
    if not parts:
        return report.skip("summaries without a text")
    yield Memory(
        f"summary-{row['id']}-{row['created_at_epoch']}",
        "\n".join(parts),
        kind="summary",
        created=read_epoch(row["created_at_epoch"]),
        author="claude-mem",
        session=read_text(row, "memory_session_id"),
        origin=read_text(row, "project"),
        metadata=describe_files(row),
    )


def read_epoch(value: Any) -> str:
    """Return a time that is given in milliseconds, or in seconds by early versions."""
    seconds = value / 1000 if isinstance(value, int | float) and value > 10**11 else value
    return moment(seconds)


TABLES: dict[str, Callable[[Mapping[str, Any], Report], Iterator[Memory]]] = {
    "observations": read_observation,
    "session_summaries": read_summary,
}

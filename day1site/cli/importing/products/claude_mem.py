"""claude-mem: observations with their facts, and summaries of sessions, in one SQLite file."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from conversations.capture.transcripts.records import Report, find_files, moment
from day1site.cli.importing.products.records import Found, Memory, read_list, read_text
from day1site.cli.importing.products.sqlite_files import Store, open_store

PROMPTS = "prompts of sessions: import the transcripts of their program"
SUMMARY = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def read(path: Path, report: Report) -> Found:
    file = next(iter(find_files(path, "claude-mem.db")), path)
    with open_store(file, "claude-mem", report) as store:
        store.require("sdk_sessions", "memory_session_id", "project")
        store.require("observations", "id", "memory_session_id", "project", "type", "created_at_epoch")
        for row in store.read_rows("SELECT * FROM observations ORDER BY id"):
            found = list(read_observation(row))
            report.skip("observations without a text", not found)
            yield from found
        yield from read_summaries(store)
        if "user_prompts" in store.tables:
            [(count,)] = store.connection.execute("SELECT count(*) FROM user_prompts").fetchall()
            report.skip(PROMPTS, count)


def read_observation(row: Mapping[str, Any]) -> Iterator[Memory]:
    """Yield what an observation tells, and each of its facts."""
    uid = f"observation-{row['id']}-{row['created_at_epoch']}"
    summary = ": ".join(
        filter(None, (read_text(row, "title"), read_text(row, "narrative", "text", "subtitle")))
    )
    texts = {uid: summary} if summary else {}
    texts |= {f"{uid}#{number}": text for number, text in enumerate(read_list(row.get("facts") or "[]"), 1)}
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
            metadata=describe_files(row),
            links=[("part of", uid)] if name != uid and summary else [],
        )


def describe_files(row: Mapping[str, Any]) -> dict[str, Any]:
    names = ("files_read", "files_modified", "files_edited")
    return {name: files for name in names if (files := read_list(row.get(name) or "[]"))}


def read_summaries(store: Store) -> Iterator[Memory]:
    """Yield the summaries of sessions, each part with its name."""
    if "session_summaries" not in store.tables:
        return
    for row in store.read_rows("SELECT * FROM session_summaries ORDER BY id"):
        parts = [f"{name.replace('_', ' ').capitalize()}: {row[name]}" for name in SUMMARY if row.get(name)]
        if not parts:
            store.report.skip("summaries without a text")
            continue
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

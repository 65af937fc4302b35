"""Engrava: thoughts and the edges between them, in one SQLite file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conversations.capture.transcripts.records import Report, moment
from day1site.cli.importing.products.records import (
    Found,
    Memory,
    find_stores,
    read_list,
    read_object,
    read_stores,
)
from day1site.cli.importing.products.sqlite_files import Store, open_store

OVER = ("ARCHIVED", "SUPERSEDED", "EXPIRED", "DELETED", "FADED")


def read(path: Path, report: Report) -> Found:
    files = find_stores(path, "engrava", "*.db")
    yield from read_stores(files, report, lambda file: read_file(file, report))


def read_file(file: Path, report: Report) -> Found:
    with open_store(file, "engrava", report) as store:
        store.require(
            "thought",
            "thought_id",
            "thought_type",
            "content",
            "essence",
            "lifecycle_status",
            "source",
            "created_at",
        )
        for row in store.read_rows("SELECT * FROM thought ORDER BY created_at, thought_id"):
            if str(row["content"] or row["essence"] or "").strip():
                yield read_thought(store, row)
            else:
                report.skip("thoughts without a text")


def read_thought(store: Store, row: Mapping[str, Any]) -> Memory:
    metadata = read_object(row.get("metadata_json"))
    links = [("CONSOLIDATED_FROM", one) for one in read_list(row.get("consolidated_from") or "[]")]
    return Memory(
        row["thought_id"],
        row["content"] or row["essence"],
        kind=str(row["thought_type"]).lower(),
        created=moment(row.get("created_at")),
        updated=moment(row.get("updated_at")),
        author=str(row["source"] or ""),
        session=str(metadata.get("session_id") or ""),
        user=str(metadata.get("user_id") or ""),
        tags=read_list(metadata.get("tags")),
        confidence=row.get("confidence"),
        valid_from=moment(row.get("valid_from")),
        valid_until=moment(row.get("valid_until")),
        expires=moment(row.get("expires_at")),
        ended=str(row["lifecycle_status"]).upper() in OVER,
        metadata={"priority": row.get("priority"), "visibility": row.get("visibility"), **metadata},
        links=[*links, *list_edges(store, row["thought_id"])],
    )


def list_edges(store: Store, thought: str) -> list[tuple[str, str]]:
    if "edge" not in store.tables:
        return []
    query = "SELECT edge_type, to_thought_id FROM edge WHERE from_thought_id = ? ORDER BY edge_id"
    return [(str(kind), str(end)) for kind, end in store.connection.execute(query, (thought,))]

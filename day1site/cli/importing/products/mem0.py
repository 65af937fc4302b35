"""mem0: its vector store on this machine (Qdrant, FAISS), its history, or what its API exports."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from conversations.capture.transcripts.records import Report, moment
from day1site.cli.importing.products.qdrant import read_points
from day1site.cli.importing.products.records import (
    Found,
    Memory,
    find_stores,
    guess_product,
    list_objects,
    read_json,
    read_list,
    read_object,
    read_stores,
    read_text,
    refuse_product,
    without,
)
from day1site.cli.importing.products.sqlite_files import Store, open_known_ids, open_store
from memory.db.database_files import is_sqlite

OWN = (
    "data memory text hash text_lemmatized created_at updated_at user_id agent_id run_id app_id actor_id role"
    " categories expiration_date metadata id score"
).split()
NAMES = ("history.db", "storage.sqlite", "*.json")


def read(path: Path, report: Report) -> Found:
    """Yield the memories of a folder or a file; what the history alone has was deleted."""
    files = sorted(find_stores(path, "mem0", *NAMES), key=lambda one: one.name == "history.db")
    is_alone = len(files) == 1
    found = read_stores(files, report, lambda file: read_file(file, report, is_alone=is_alone))
    yield from found if is_alone else drop_repeated(found)


def drop_repeated(memories: Found) -> Found:
    """Yield each memory once: what is known of them stands in a file, however many there are."""
    with open_known_ids() as is_new:
        yield from (one for one in memories if not isinstance(one, Memory) or is_new(one.id))


def read_file(file: Path, report: Report, *, is_alone: bool) -> Iterator[Memory]:
    if is_sqlite(file) or file.suffix != ".json":
        with open_store(file, "mem0", report) as store:
            yield from read_store(store)
        return
    value = read_json(file, report)
    payloads = list_payloads(value)
    if payloads is None:
        if value is not None and is_alone:
            raise refuse_product(file, "mem0", guess_product(value))
        return
    for number, row in list_objects(payloads, file, report, "a memory"):
        yield from read_payload(row, str(row.get("id") or number), report)


def read_store(store: Store) -> Iterator[Memory]:
    if "points" not in store.tables:
        yield from read_history(store)
        return
    for uid, payload in read_points(store):
        yield from read_payload(payload, uid, store.report)


def list_payloads(value: Any) -> list[Any] | None:
    """Return the memories of a file of JSON, each with its id; None where it is of something else."""
    if isinstance(value, Mapping) and isinstance(value.get("docstore"), Mapping):  # of FAISS
        return [{**one, "id": uid} for uid, one in value["docstore"].items() if isinstance(one, Mapping)]
    if isinstance(value, Mapping):
        value = next(
            (value[name] for name in ("results", "memories") if isinstance(value.get(name), list)), None
        )
    is_own = isinstance(value, list) and all(
        not isinstance(one, Mapping) or {"memory", "data", "text"} & one.keys() for one in value
    )
    return value if is_own else None


def read_payload(row: Mapping[str, Any], uid: str, report: Report) -> Iterator[Memory]:
    text = read_text(row, "data", "memory", "text")
    if not text:
        report.skip("memories without a text")
        return
    yield Memory(
        uid,
        text,
        kind=str(row.get("memory_type") or next(iter(read_list(row.get("categories"))), "")),
        created=moment(row.get("created_at")),
        updated=moment(row.get("updated_at")),
        author=read_text(row, "actor_id", "role", "agent_id"),
        session=read_text(row, "run_id"),
        user=read_text(row, "user_id"),
        app=read_text(row, "app_id"),
        tags=read_list(row.get("categories")),
        expires=moment(row.get("expiration_date")),
        metadata={**read_object(row.get("metadata")), **without(row, *OWN)},
    )


# ---- the history -----------------------------------------------------------------------------------


def read_history(store: Store) -> Iterator[Memory]:
    """Yield each memory as its last event left it."""
    columns = store.require(
        "history", "memory_id", "new_memory", "old_memory", "event", "created_at", "updated_at"
    )
    late = ", ".join(
        name if name in columns else f"NULL AS {name}" for name in ("is_deleted", "actor_id", "role")
    )
    query = (
        f"SELECT memory_id, old_memory, new_memory, event, created_at, updated_at, {late},"
        " max(coalesce(updated_at, created_at)) FROM history GROUP BY memory_id"
        " ORDER BY created_at, memory_id"
    )
    for row in store.read_rows(query):
        text = row["new_memory"] or row["old_memory"]
        if not text or not row["memory_id"]:
            store.report.skip("events without a text")
            continue
        yield Memory(
            row["memory_id"],
            text,
            created=moment(row["created_at"]),
            updated=moment(row["updated_at"]),
            author=row["actor_id"] or row["role"] or "",
            ended=row["event"] == "DELETE" or bool(row["is_deleted"]),
        )

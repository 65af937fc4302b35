"""LangGraph: the long-term store of SqliteStore, or a dump of it or of PostgresStore as JSON."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from conversations.capture.transcripts.records import Report, moment
from day1site.cli.importing.products.records import (
    Found,
    Memory,
    decode_json,
    find_stores,
    guess_product,
    list_objects,
    read_json,
    read_jsonl,
    read_stores,
    read_text,
    refuse_product,
)
from day1site.cli.importing.products.sqlite_files import open_store
from memory.db.database_files import is_sqlite

TEXTS = ("content", "text", "memory", "data", "fact", "value", "summary")
OWNERS = ("user_id", "user", "users")


def read(path: Path, report: Report) -> Found:
    files = find_stores(path, "langgraph", "*.db", "*.json", "*.jsonl")
    yield from read_stores(files, report, lambda file: read_file(file, report))


def read_file(path: Path, report: Report) -> Found:
    for file, number, row in list_rows(path, report):
        namespace = read_namespace(row.get("prefix", row.get("namespace")))
        if row.get("key") is None or namespace is None:
            report.breaks(file, number, "has no namespace and key")
        else:
            yield from read_item(row, namespace, report)


def list_rows(path: Path, report: Report) -> Iterator[tuple[Path, int, Mapping[str, Any]]]:
    """Yield the rows of the table, wherever they stand."""
    if path.suffix == ".jsonl":
        yield from ((path, number, row) for number, row in read_jsonl(path, report))
    elif path.suffix == ".json" and not is_sqlite(path):
        value = read_json(path, report)
        rows = value.get("store") or value.get("items") if isinstance(value, Mapping) else value
        if value is not None and not (
            isinstance(rows, list) and all("key" in one for one in rows if isinstance(one, Mapping))
        ):
            raise refuse_product(path, "langgraph", guess_product(value))
        yield from ((path, number, row) for number, row in list_objects(rows, path, report, "an item"))
    else:
        with open_store(path, "langgraph", report) as store:
            store.require("store", "prefix", "key", "value", "created_at", "updated_at")
            query = "SELECT prefix, key, value, created_at, updated_at FROM store ORDER BY prefix, key"
            yield from ((path, number, row) for number, row in enumerate(store.read_rows(query), 1))


def read_namespace(value: Any) -> list[str] | None:
    if isinstance(value, str):
        return value.split(".")
    return [str(one) for one in value] if isinstance(value, list) else None


def read_item(row: Mapping[str, Any], namespace: list[str], report: Report) -> Iterator[Memory]:
    value = decode_json(row.get("value"))  # SqliteStore keeps it as JSON, a dump may have it as it is
    text = find_text(value)
    if not text:
        return report.skip("items without a text")
    fields = value if isinstance(value, Mapping) else {}
    content = fields.get("content")
    inner = content if isinstance(content, Mapping) else {}
    owner = read_text(fields, "user_id") or find_owner(namespace)
    yield Memory(
        "/".join((*namespace, str(row["key"]))),
        text,
        kind=read_text(fields, "kind", "type")
        or next((one for one in reversed(namespace) if one != owner), ""),
        created=moment(row.get("created_at")),
        updated=moment(row.get("updated_at")),
        author=read_text(fields, "author", "agent_id", "role"),
        session=read_text(fields, "thread_id", "session_id"),
        origin=f"namespace {'/'.join(namespace)}",
        user=owner,
        metadata={
            "namespace": namespace,
            "key": str(row["key"]),
            "value": {name: one for name, one in {**fields, **inner}.items() if one != text},
        },
    )


def find_text(value: Any) -> str:
    """Return what an item says: its text, that of its content, or all of its texts with their names."""
    if isinstance(value, str):
        return value.strip()
    if not isinstance(value, Mapping):
        return ""
    found = next((value[name] for name in TEXTS if value.get(name)), None)
    if isinstance(found, Mapping):
        return find_text(found)
    if isinstance(found, str):
        return found.strip()
    pairs = [f"{name}: {one}" for name, one in value.items() if isinstance(one, str | int | float)]
    return "; ".join(pairs)


def find_owner(namespace: list[str]) -> str:
    """Return the end user of a namespace: ("memories", "ada"), ("ada", "memories"), ("users", "ada", …)."""
    if len(namespace) == 2 and namespace[1] == "memories":
        return namespace[0]
    for place, name in enumerate(namespace[:-1]):
        if name in (*OWNERS, "memories"):
            return namespace[place + 1]
    return ""

"""The memory server of the Model Context Protocol: entities with observations, and relations, in lines."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from conversations.capture.transcripts.records import Report, moment
from day1site.cli.importing.products.records import (
    Found,
    Memory,
    Relation,
    find_stores,
    guess_product,
    list_objects,
    read_json,
    read_jsonl,
    read_stores,
    read_text,
    refuse_product,
)


def read(path: Path, report: Report) -> Found:
    """Yield an observation a memory, with the name of its entity, and all relations."""
    files = find_stores(path, "mcp-memory", "memory.json*")
    yield from read_stores(files, report, lambda file: read_file(file, report))


def read_file(file: Path, report: Report) -> Found:
    if whole := read_whole(file, report):
        rows = iter([one for part in whole for one in list_objects(part, file, report)])
    else:
        rows = read_jsonl(file, report)
    yield from read_rows(rows, file, report)


def read_whole(file: Path, report: Report) -> list[Any]:
    """Return entities and relations of a graph that is one value, as a tool answers it; [] for lines."""
    if file.suffix != ".json" or file.stat().st_size > 1 << 24:
        return []
    value = read_json(file, Report())
    if value is None:
        return []
    if isinstance(value, Mapping) and {"entities", "relations"} <= value.keys():
        report.files += 1
        report.empty = False
        return [value["entities"], value["relations"]]
    if isinstance(value, Mapping) and {"name", "from", "type"} & value.keys():
        return []
    raise refuse_product(file, "mcp-memory", guess_product(value))


def read_rows(rows: Any, file: Path, report: Report) -> Iterator[Memory | Relation]:
    for number, row in rows:
        if {"from", "to"} <= row.keys():
            yield Relation(str(row["from"]), read_text(row, "relationType") or "related to", str(row["to"]))
        elif read_text(row, "name"):
            yield from read_entity(row, file, number, report)
        elif likeness := guess_product(row):
            raise refuse_product(file, "mcp-memory", likeness)
        else:
            report.breaks(file, number, "is neither an entity nor a relation")


def read_entity(row: Mapping[str, Any], file: Path, number: int, report: Report) -> Iterator[Memory]:
    name, kind = read_text(row, "name"), read_text(row, "entityType")
    observations = row.get("observations")
    if not isinstance(observations, list):
        return report.breaks(file, number, "its observations are no list")
    report.skip("entities without observations", not observations)
    for place, text in enumerate(observations, 1):
        if not isinstance(text, str):
            report.breaks(file, number, f"observation {place} is no text")
        elif text.strip():
            yield Memory(
                f"{name}\n{text}",
                text if name.casefold() in text.casefold() else f"{name}: {text}",
                kind=kind,
                created=moment(row.get("createdAt")),
                origin=f"entity {name}",
            )
        else:
            report.skip("observations without a text")

"""Basic Memory: a folder of Markdown notes, or its SQLite index where the notes are not at hand."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from conversations.capture.transcripts.records import Report, is_readable, moment
from day1site.cli.importing.instructions import read_front_matter
from day1site.cli.importing.products.records import Found, Memory, Relation, find_stores, read_list
from day1site.cli.importing.products.sqlite_files import Store, open_store
from memory.db.database_files import is_sqlite

OBSERVATION = re.compile(r"\s*[-*] \[([^\[\]]{1,60})\]\s+(.+)")
RELATION = re.compile(
    r"\s*[-*] (?:\"([^\"]+)\"|([^\[\"]*?))\s*\[\[([^\]|]+)(?:\|[^\]]*)?\]\](?: \(.*\))?\s*\Z"
)
TAG = re.compile(r"(?<!\S)#([\w/-]+)")
CONTEXT = re.compile(r"\s*\(([^()]*)\)\s*\Z")
CHECKBOX = (" ", "x", "X", "-")
SECTIONS = ("observations", "relations")


def read(path: Path, report: Report) -> Found:
    """Yield the observations of all notes, the prose between them, and the relations."""
    if path.is_file() and path.suffix != ".md":
        with open_store(path, "basic-memory", report) as store:
            yield from read_index(store)
        return
    for file in find_stores(path, "basic-memory", "*.md"):
        if is_readable(file, report) and not is_sqlite(file):
            yield from read_note(file, path if path.is_dir() else file.parent, report)


def read_note(file: Path, folder: Path, report: Report) -> Found:
    raw = file.read_bytes()
    report.empty = report.empty and not raw.strip()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return report.breaks(file, 1, "is not UTF-8")
    matter, lines, first = read_front_matter(text)
    place = str(file.relative_to(folder))
    about = {
        "title": matter.get("title") or file.stem,
        "origin": matter.get("permalink") or place,
        "created": moment(matter.get("created") or matter.get("date")),
        "updated": moment(matter.get("modified") or matter.get("updated")),
        "tags": read_tags(text, matter),
        "type": matter.get("type", "note"),
    }
    found = list(read_lines(lines, first, about))
    report.skip("notes without a statement", not found)
    yield from found


def read_tags(text: str, matter: Mapping[str, str]) -> list[str]:
    """Return the tags of a note, in one line or one a line."""
    if value := matter.get("tags"):
        return [tag.strip(" \"'[]#") for tag in value.split(",")]
    block = re.search(r"^tags:\s*\n((?:\s*- .*\n)+)", text, re.MULTILINE)
    return [line.strip(" -\"'#") for line in block[1].splitlines()] if block else []


def read_lines(lines: list[str], first: int, about: Mapping[str, Any]) -> Found:
    """Yield what the lines of a note say: observations, relations, and paragraphs between headings."""
    prose: list[str] = []
    start = first
    for number, line in enumerate([*lines, ""], first):
        observed, related = OBSERVATION.fullmatch(line), RELATION.fullmatch(line)
        if line.strip() and not line.startswith("#") and not observed and not related:
            start = start if prose else number
            prose.append(line.strip())
            continue
        if prose:
            yield build_memory("\n".join(prose), "note", f"{about['origin']}#{start}", about)
            prose = []
        if observed and observed[1] not in CHECKBOX:
            yield build_memory(observed[2], observed[1], f"{about['origin']}#{number}", about)
        elif related:
            yield Relation(
                about["title"], (related[1] or related[2] or "").strip() or "links to", related[3].strip()
            )


def build_memory(text: str, kind: str, uid: str, about: Mapping[str, Any]) -> Memory:
    title, plain = about["title"], TAG.sub("", text).strip()
    context = CONTEXT.search(plain)
    own = TAG.findall(text)
    return Memory(
        uid,
        plain if title.casefold() in plain.casefold() else f"{title}: {plain}",
        kind=kind,
        created=about["created"],
        updated=about["updated"],
        origin=about["origin"],
        tags=[*own, *about["tags"]],
        metadata={"title": title, "type": about["type"], **({"context": context[1]} if context else {})},
    )


# ---- the index -------------------------------------------------------------------------------------


def read_index(store: Store) -> Found:
    columns = store.require("entity", "id", "title", "permalink", "created_at", "updated_at")
    kind = "e.note_type" if "note_type" in columns else "e.entity_type"
    store.require("observation", "entity_id", "content", "category", "tags", "context")
    query = (
        f"SELECT o.id, o.content, o.category, o.tags, o.context, e.title, e.permalink, {kind} AS type,"
        " e.created_at, e.updated_at FROM observation o JOIN entity e ON e.id = o.entity_id ORDER BY o.id"
    )
    for row in store.read_rows(query):
        if not row["content"]:
            store.report.skip("observations without a text")
            continue
        origin = row["permalink"] or row["title"]
        yield build_memory(
            row["content"], row["category"] or "note", f"{origin}#observation-{row['id']}", read_about(row)
        )
    yield from read_relations(store)


def read_about(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "title": row["title"],
        "origin": row["permalink"] or row["title"],
        "created": moment(row["created_at"]),
        "updated": moment(row["updated_at"]),
        "tags": read_list(row["tags"]),
        "type": row["type"] or "note",
    }


def read_relations(store: Store) -> Iterator[Relation]:
    store.require("relation", "from_id", "to_id", "to_name", "relation_type")
    query = (
        "SELECT a.title AS source, r.relation_type AS type, coalesce(b.title, r.to_name) AS target"
        " FROM relation r JOIN entity a ON a.id = r.from_id LEFT JOIN entity b ON b.id = r.to_id"
        " ORDER BY r.id"
    )
    for row in store.read_rows(query):
        yield Relation(row["source"], row["type"] or "links to", row["target"])

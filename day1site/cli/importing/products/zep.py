"""Zep: what its API exports of a graph (edges, nodes, episodes) or of a session (messages, facts)."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from conversations.capture.transcripts.records import Report, moment
from day1site.cli.importing.products.records import (
    Found,
    Memory,
    Relation,
    Row,
    find_stores,
    guess_product,
    list_objects,
    read_json,
    read_list,
    read_object,
    read_stores,
    read_text,
    refuse_product,
)

PARTS = (
    "edges",
    "entity_edges",
    "facts",
    "nodes",
    "entity_nodes",
    "entities",
    "episodes",
    "messages",
    "items",
    "results",
)
ROW_FIELDS = {"uuid", "fact", "content"}
PRODUCT = "zep"


def read(path: Path, report: Report) -> Found:
    yield from read_graphs(path, report, PRODUCT)


def read_graphs(path: Path, report: Report, product: str) -> Found:
    """Yield facts, entities with a summary, and episodes of a file or of all files of a folder."""
    files = find_stores(path, product, "*.json")
    yield from read_stores(files, report, lambda file: read_graph(file, report, product))


def read_graph(file: Path, report: Report, product: str) -> Found:
    value = read_json(file, report)
    parts = list_parts(value)
    if value is not None and not parts:
        raise refuse_product(file, product, guess_product(value))
    rows = [
        (name, row) for name, found in parts.items() for _, row in list_objects(found, file, report, name)
    ]
    names = {read_id(row): read_text(row, "name") for _, row in rows}
    for group, name, row in group_rows(rows):
        found = list(read_row(row, names))
        report.skip(f"{name} without a text", not found)
        for one in found:
            if isinstance(one, Memory):
                one.group = group
            yield one


def group_rows(rows: Sequence[tuple[str, Row]]) -> list[tuple[str, str, Row]]:
    """Return the rows of a conversation behind one another, with its name: episodes with the facts that were
    drawn from them. What is of none comes last.
    """
    talks = {read_id(row): read_session(row) or read_id(row) for _, row in rows if read_text(row, "content")}
    places: dict[str, int] = {}
    found = []
    for name, row in rows:
        known = (talks[uid] for uid in (*list_episodes(row), read_id(row)) if uid in talks)
        group = read_session(row) or next(known, "")
        places.setdefault(group, len(places))
        found.append((group, name, row))
    return sorted(found, key=lambda one: (not one[0], places[one[0]]))


def read_id(row: Row) -> str:
    return read_text(row, "uuid", "uuid_")


def read_session(row: Row) -> str:
    return read_text(row, "session_id", "thread_id", "thread_uuid")


def list_episodes(row: Row) -> list[str]:
    return read_list(row.get("episodes") or row.get("episode_uuids"))


def list_parts(value: Any) -> dict[str, list[Any]]:
    """Return the lists of an export by name; a bare list is of what its rows look like."""
    if isinstance(value, list):
        return {"items": value} if not value or ROW_FIELDS & read_object(value[0]).keys() else {}
    if not isinstance(value, Mapping):
        return {}
    graph = value.get("graph")
    inner = graph if isinstance(graph, Mapping) else value
    return {name: inner[name] for name in PARTS if isinstance(inner.get(name), list)}


def read_row(row: Mapping[str, Any], names: Mapping[Any, Any]) -> Iterator[Memory | Relation]:
    if read_text(row, "fact"):
        yield from read_edge(row, names)
    elif read_text(row, "summary"):
        yield read_entity(row)
    elif read_text(row, "content", "name"):
        yield from read_episode(row)


def read_edge(row: Mapping[str, Any], names: Mapping[Any, Any]) -> Iterator[Memory | Relation]:
    """Yield a fact with its times, and the edge between the entities that it is of."""
    ends = [
        read_text(row, f"{end}_node_name") or str(names.get(row.get(f"{end}_node_uuid")) or "")
        for end in ("source", "target")
    ]
    since, until = moment(row.get("valid_at")), moment(row.get("invalid_at"))
    since = since if not until or since < until else ""
    episodes = list_episodes(row)
    yield Memory(
        read_id(row) or read_text(row, "fact"),
        read_text(row, "fact"),
        kind=read_text(row, "name"),
        created=moment(row.get("created_at")),
        session=read_session(row),
        origin=f"episode {episodes[0]}" if episodes else "",
        user=read_text(row, "user_id"),
        valid_from=since,
        valid_until=until,
        ended=bool(moment(row.get("expired_at"))),
        metadata={**read_object(row.get("attributes")), "group": read_text(row, "group_id", "graph_uuid")},
        links=[("episode", one) for one in episodes],
    )
    if all(ends) and read_text(row, "name"):
        yield Relation(ends[0], read_text(row, "name"), ends[1], since, until)


def read_entity(row: Mapping[str, Any]) -> Memory:
    name, summary = read_text(row, "name"), read_text(row, "summary")
    return Memory(
        read_id(row) or name,
        summary if name and name in summary else f"{name}: {summary}" if name else summary,
        kind="entity",
        created=moment(row.get("created_at")),
        origin=f"entity {name}",
        tags=[label for label in read_list(row.get("labels")) if label != "Entity"],
        metadata=read_object(row.get("attributes")),
    )


def read_episode(row: Mapping[str, Any]) -> Iterator[Memory]:
    """Yield an episode, or a message, as it was said."""
    if text := read_text(row, "content"):
        yield Memory(
            read_id(row) or text,
            text,
            kind="message" if read_text(row, "role", "role_type") else read_text(row, "source") or "episode",
            created=moment(row.get("valid_at") or row.get("reference_time") or row.get("created_at")),
            author=read_text(row, "role_name", "role", "role_type"),
            session=read_session(row),
            origin=read_text(row, "source_description", "name"),
            user=read_text(row, "user_id"),
            metadata=read_object(row.get("metadata")),
        )

"""Write a store of another product with its own package: ``python write_stores.py PRODUCT FOLDER COUNT``.

It runs with the Python in which that package is installed, and imports nothing of the project. ``--rows``
keeps the rows of an SQLite file as JSON beside it, which is what the fixtures are.
"""

import asyncio
import json
import sqlite3
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from corpus import list_memories


def write_mem0(folder: Path, count: int) -> list[Path]:
    """mem0ai with FAISS and without a model: ``infer=False`` keeps each text as it is."""
    from mem0 import Memory
    from mem0.configs.base import MemoryConfig

    memory = Memory.__new__(Memory)
    from mem0.memory.storage import SQLiteManager
    from mem0.vector_stores.faiss import FAISS

    memory.config, memory.db = MemoryConfig(), SQLiteManager(str(folder / "history.db"))
    memory._entity_store, memory.embedding_model = None, FakeEmbedder()
    memory.vector_store = FAISS("mem0", str(folder / "faiss"), embedding_model_dims=4)
    made = []
    for one in list_memories(count):
        about = {"user_id": one["user"], "agent_id": one["agent"], "run_id": one["session"], "role": "user"}
        made.append(memory._create_memory(one["text"], {}, {**about, "created_at": one["time"]}))
    memory._delete_memory(made[0])
    memory._update_memory(made[1], "The ledger of Bergen is written anew each night.", {})
    return [folder / "history.db", folder / "faiss" / "mem0.json"]


class FakeEmbedder:
    def embed(self, text: str, memory_action: str = "") -> list[float]:
        return [float(len(text)), 1.0, 2.0, 3.0]


def write_langgraph(folder: Path, count: int) -> list[Path]:
    from langgraph.store.sqlite import SqliteStore

    file = folder / "store.db"
    with SqliteStore.from_conn_string(str(file)) as store:
        store.setup()
        for number, one in enumerate(list_memories(count)):
            value = {"content": one["text"], "agent_id": one["agent"], "thread_id": one["session"]}
            store.put(("memories", one["user"]), f"m{number}", value)
    return [file]


def write_engrava(folder: Path, count: int) -> list[Path]:
    file = folder / "engrava.db"
    asyncio.run(fill_engrava(file, count))
    return [file]


async def fill_engrava(file: Path, count: int) -> None:
    import aiosqlite
    from engrava import EdgeRecord, EdgeType, SqliteEngravaCore

    async with aiosqlite.connect(file) as connection:
        connection.row_factory = aiosqlite.Row
        store = SqliteEngravaCore(connection)
        await store.ensure_schema()
        made = []
        for one in list_memories(count):
            about = {"user_id": one["user"], "session_id": one["session"]}
            made.append(await store.remember(one["text"], metadata=about))
        for number, (one, other) in enumerate(zip(made, made[3:], strict=False)):
            if one.thought_id != other.thought_id and number % 3 == 0:
                edge = EdgeRecord(
                    edge_id=f"edge-{number}",
                    from_thought_id=one.thought_id,
                    to_thought_id=other.thought_id,
                    edge_type=EdgeType.ASSOCIATED,
                    created_cycle=0,
                    weight=0.5,
                )
                await store.create_edge(edge)
        await connection.commit()


def write_letta(folder: Path, count: int) -> list[Path]:
    """Letta 0.11: the model of agent files is filled and written, without a server."""
    memories = list(list_memories(count))
    blocks = [memories[: count // 2][place : place + 20] for place in range(0, count // 2, 20)]
    agent = {
        "id": "agent-0",
        "name": "planner",
        "block_ids": [f"block-{number}" for number in range(len(blocks))],
        "messages": [
            {
                "id": f"message-{number}",
                "role": "assistant" if number % 2 else "user",
                "content": [{"type": "text", "text": one["text"]}],
                "created_at": one["time"],
            }
            for number, one in enumerate(memories[count // 2 :])
        ],
    }
    value = {
        "agents": [agent],
        "blocks": [
            {
                "id": f"block-{number}",
                "label": f"notes {number}",
                "value": "\n".join(one["text"] for one in part),
            }
            for number, part in enumerate(blocks)
        ],
        **{name: [] for name in ("groups", "files", "sources", "tools", "mcp_servers")},
    }
    file = folder / "agent.af"
    file.write_text(check_letta(value), encoding="utf-8")
    return [file]


def check_letta(value: dict[str, Any]) -> str:
    from letta.schemas.agent_file import AgentFileSchema

    return AgentFileSchema.model_validate(value).model_dump_json(indent=1, exclude_none=True)


def write_graphiti(folder: Path, count: int) -> list[Path]:
    """graphiti-core with Kuzu inside: nodes and edges are saved, read again and written by their models."""
    file = folder / "graph.json"
    graph = asyncio.run(fill_graphiti(folder / "graph.kuzu", count))
    file.write_text(json.dumps(graph, indent=1), encoding="utf-8")
    return [file]


async def fill_graphiti(place: Path, count: int) -> dict[str, Any]:
    from graphiti_core.driver.kuzu_driver import KuzuDriver
    from graphiti_core.edges import EntityEdge
    from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode

    driver = KuzuDriver(str(place))
    episodes, nodes, edges = [], {}, []
    for number, one in enumerate(list_memories(count)):
        at = datetime.fromisoformat(one["time"])
        own = {"group_id": one["user"], "created_at": at}
        for name in (one["agent"], one["session"]):
            nodes.setdefault(
                name, EntityNode(name=name, summary="", labels=["Entity"], name_embedding=[1.0, 0.0], **own)
            )
        if number % 10 == 0:
            about = {"source": EpisodeType.message, "source_description": one["session"], "valid_at": at}
            text = f"{one['user']}: what of {one['session']} and its notes?"
            episodes.append(EpisodicNode(name=one["session"], content=text, **about, **own))
        edges.append(
            EntityEdge(
                source_node_uuid=nodes[one["agent"]].uuid,
                target_node_uuid=nodes[one["session"]].uuid,
                name="WROTE_IN",
                fact=one["text"],
                fact_embedding=[1.0, 0.0],
                episodes=[episodes[-1].uuid],
                valid_at=at,
                invalid_at=datetime.fromisoformat("2026-11-01T00:00:00+00:00") if number % 25 == 0 else None,
                **own,
            )
        )
    for row in (*episodes, *nodes.values(), *edges):
        await row.save(driver)
    groups = sorted({edge.group_id for edge in edges})
    parts = {
        "episodes": await EpisodicNode.get_by_group_ids(driver, groups),
        "nodes": await EntityNode.get_by_group_ids(driver, groups),
        "edges": await EntityEdge.get_by_group_ids(driver, groups),
    }
    hidden = {"name_embedding", "fact_embedding"}
    return {
        name: [json.loads(row.model_dump_json(exclude=hidden)) for row in rows]
        for name, rows in parts.items()
    }


def write_zep(folder: Path, count: int) -> list[Path]:
    """zep-cloud: the types of its client, as an export of a graph by its API has them."""
    from zep_cloud.types.edge import Edge
    from zep_cloud.types.episode import Episode

    edges, episodes = [], []
    for number, one in enumerate(list_memories(count)):
        if number % 4 == 0:
            about = {"role": "user", "role_name": one["user"], "source": "message", "created_at": one["time"]}
            episodes.append(
                Episode(uuid=f"episode-{number}", content=f"{one['text']} Noted {number}.", **about)
            )
        edges.append(
            Edge(
                uuid=f"00000000-0000-4000-8000-{number:012}",
                fact=one["text"],
                name="KNOWS",
                created_at=one["time"],
                valid_at=one["time"],
                episode_uuids=[f"episode-{number - number % 4}"],
                source_node_name=one["user"],
                target_node_name=one["session"],
            )
        )
    parts = {"edges": edges, "episodes": episodes}
    value = {name: [json.loads(row.json(by_alias=True)) for row in rows] for name, rows in parts.items()}
    file = folder / "zep.json"
    file.write_text(json.dumps(value, indent=1), encoding="utf-8")
    return [file]


def write_basic_memory(folder: Path, count: int) -> list[Path]:
    """basic-memory: notes of twenty observations each, written by its own processor of Markdown."""
    notes = folder / "notes"
    notes.mkdir(exist_ok=True)
    asyncio.run(fill_notes(notes, list(list_memories(count))))
    return [notes]


async def fill_notes(folder: Path, memories: list[dict[str, str]]) -> None:
    from basic_memory.markdown.entity_parser import EntityParser
    from basic_memory.markdown.markdown_processor import MarkdownProcessor
    from basic_memory.markdown.schemas import EntityFrontmatter, EntityMarkdown, Observation, Relation

    processor = MarkdownProcessor(EntityParser(folder))
    for place in range(0, len(memories), 20):
        part, title = memories[place : place + 20], f"Notes {place // 20}"
        matter = {
            "title": title,
            "type": "note",
            "permalink": f"notes-{place // 20}",
            "created": part[0]["time"],
        }
        note = EntityMarkdown(
            frontmatter=EntityFrontmatter(metadata={**matter, "tags": ["systems"]}),
            content=f"# {title}",
            observations=[Observation(category=one["agent"], content=one["text"], tags=[]) for one in part],
            relations=[Relation(type="follows", target=f"Notes {place // 20 + 1}")],
        )
        await processor.write_file(folder / f"{title}.md", note)


WRITERS = {
    name[6:].replace("_", "-"): function
    for name, function in list(globals().items())
    if name.startswith("write_") and name != "write_rows"
}


def write_rows(file: Path, tables: list[str]) -> None:
    """Write the rows of an SQLite file as JSON beside it, with the names of their columns alone."""
    connection = sqlite3.connect(file)
    found = {}
    for table in tables:
        cursor = connection.execute(f"SELECT * FROM {table}")
        found[table] = {"columns": [column[0] for column in cursor.description], "rows": cursor.fetchall()}
    file.with_suffix(".rows.json").write_text(
        json.dumps(found, indent=0, ensure_ascii=False, default=bytes.decode), encoding="utf-8"
    )


if __name__ == "__main__":
    product, target, number = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    target.mkdir(parents=True, exist_ok=True)
    for made in WRITERS[product](target, number):
        print(made)
        if sys.argv[4:] and made.suffix == ".db":
            write_rows(made, sys.argv[4].split(","))

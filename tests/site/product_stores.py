"""Stores of other memory products for tests, and what an import of each gives."""

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

from memory.models import Branch, Fact
from tests.command_line import Day1

STORES = Path(__file__).parent / "products" / "stores"

ORDER = "records new known duplicate refused links relations".split()
ORDER += "junk echo hostile stale contradictory unsourced".split()
# product -> the file to name, what becomes of its records (of twenty memories), what its doctor finds
TABLE: dict[str, tuple[str, str, str]] = {
    "mem0": ("", "records=20 new=18 duplicate=2", "junk=2 echo=2 hostile=1 stale=1"),
    "langgraph": ("store.db", "records=20 new=18 duplicate=2", "junk=2 echo=2 hostile=1"),
    "engrava": ("engrava.db", "records=20 new=18 duplicate=2 links=6", "junk=2 echo=2 hostile=1"),
    "claude-mem": ("claude-mem.db", "records=22 new=22 links=4", "junk=2 echo=2 hostile=1"),
    "zep": ("zep.json", "records=25 new=23 duplicate=2 links=20 relations=20", "junk=2 echo=2 hostile=1"),
    "graphiti": (
        "graph.json",
        "records=22 new=20 duplicate=2 links=20 relations=20",
        "junk=2 echo=2 hostile=1 stale=1",
    ),
    "letta": ("agent.af", "records=20 new=18 duplicate=2", "junk=2 echo=2 hostile=1"),
    "mcp-memory": ("memory.jsonl", "records=20 new=18 known=2 relations=1", "junk=2 echo=2 hostile=1"),
    "basic-memory": ("", "records=20 new=18 duplicate=2 relations=1", "junk=2 echo=2 hostile=1"),
}


def build_store(product: str, folder: Path) -> Path:
    """Return the store of a product, with SQLite files made of the rows that its package wrote."""
    target = folder / product
    shutil.copytree(STORES / product, target)
    for rows in target.glob("*.rows.json"):
        build_database(target / f"{rows.name.removesuffix('.rows.json')}.db", json.loads(rows.read_text()))
        rows.unlink()
    return target / TABLE[product][0]


def build_database(file: Path, tables: dict[str, Any]) -> None:
    with sqlite3.connect(file) as connection:
        for name, table in tables.items():
            columns = ", ".join(f'"{column}"' for column in table["columns"])
            marks = ", ".join("?" for _ in table["columns"])
            connection.execute(f"CREATE TABLE {name} ({columns})")
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", table["rows"])
    connection.close()


def run_import(day1: Day1, product: str, path: Path) -> dict[str, Any]:
    _status, out, err = day1("import-from", product, str(path), "--format", "json")
    assert out, err
    [report] = json.loads(out)["imports"]
    return dict(report)


def show(counts: dict[str, Any]) -> str:
    return " ".join(f"{name}={counts[name]}" for name in ORDER if counts.get(name))


def count_on(branch: str) -> int:
    return int(Fact.objects.on(Branch.objects.get(name=branch)).count())

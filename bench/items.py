"""Items over HTTP: puts a second, a read by key, a list by prefix, beside one table of SQLite for the same.

.venv/bin/python -m bench.items [--items 100000] [--embedder minilm]
"""

import argparse
import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench import server

BATCH, NAMESPACES, READS = 1000, 200, 300


def main() -> None:
    parser = argparse.ArgumentParser(description="Items over HTTP.")
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--embedder", default="off")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        table = Table(Path(folder, "reference.sqlite3"))
        with server.serving(Path(folder, "data"), options.embedder) as running:
            measure(running.client(), table, options.items)


class Table:
    """The reference: one table with a primary key, and a commit for each batch."""

    def __init__(self, file: Path) -> None:
        self.db = sqlite3.connect(file)
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute("PRAGMA synchronous=FULL")
        self.db.execute("CREATE TABLE item (path TEXT PRIMARY KEY, value TEXT)")

    def put(self, calls: list[dict[str, Any]]) -> None:
        rows = [(f"{one['namespace']}//{one['key']}", json.dumps(one["value"])) for one in calls]
        self.db.executemany("INSERT INTO item VALUES (?, ?)", rows)
        self.db.commit()

    def get(self, namespace: str, key: str) -> None:
        self.db.execute("SELECT value FROM item WHERE path = ?", (f"{namespace}//{key}",)).fetchone()

    def list(self, namespace: str) -> None:
        where = (f"{namespace}/", f"{namespace}0")
        self.db.execute(
            "SELECT * FROM item WHERE path >= ? AND path < ? ORDER BY path LIMIT 51", where
        ).fetchall()


def make_batches(items: int) -> Iterator[list[dict[str, Any]]]:
    for start in range(0, items, BATCH):
        yield [make_call(n) for n in range(start, min(start + BATCH, items))]


def make_call(n: int) -> dict[str, Any]:
    value = {"theme": "dark", "n": n, "text": f"User {n} prefers the dark theme."}
    return {"op": "put", "namespace": f"users/{n % NAMESPACES:03}", "key": f"k{n}", "value": value}


def measure(client: server.Client, table: Table, items: int) -> None:
    batches = list(make_batches(items))
    ours = take_times(lambda calls: client.ask("POST", "/items/batch", {"calls": calls}), batches)
    theirs = take_times(table.put, batches)
    tell("puts a second", items / sum(ours), items / sum(theirs))
    tell("a batch of 1,000, p50 ms", 1000 * statistics.median(ours), 1000 * statistics.median(theirs))
    places = [(f"users/{n % NAMESPACES:03}", f"k{n}") for n in range(0, items, max(items // READS, 1))]
    compare(
        "a read by key",
        lambda at: client.ask("GET", f"/items/{at[0]}/{at[1]}"),
        lambda at: table.get(*at),
        places,
    )
    lists = [place[0] for place in places]
    compare("a list by prefix", lambda at: client.ask("GET", f"/items?prefix={at}"), table.list, lists)
    compare("a list of all", lambda _: client.ask("GET", "/items"), lambda _: table.list("users"), lists)
    single = [(f"single/{n % 10}", f"k{n}") for n in range(READS)]
    compare(
        "a put",
        lambda at: client.ask("PUT", f"/items/{at[0]}/{at[1]}", {"value": {"n": 1}}),
        lambda at: table.put([{"namespace": at[0], "key": at[1], "value": {"n": 1}}]),
        single,
    )


def take_times(do: Callable[[Any], Any], values: list[Any]) -> list[float]:
    """Return the seconds that each took."""
    found = []
    for value in values:
        started = time.perf_counter()
        do(value)
        found.append(time.perf_counter() - started)
    return found


def compare(name: str, ours: Callable[[Any], Any], theirs: Callable[[Any], Any], values: list[Any]) -> None:
    times = [take_times(do, values) for do in (ours, theirs)]
    tell(f"{name}, p50 ms", *(1000 * statistics.median(one) for one in times))


def tell(name: str, ours: float, theirs: float) -> None:
    print(f"{name:28} {ours:10.2f}   one table {theirs:10.3f}   ratio {ours / theirs:.2f}", flush=True)


if __name__ == "__main__":
    main()

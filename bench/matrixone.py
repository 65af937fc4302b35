"""Day1 on MatrixOne beside the bare SQL: writes, searches, branches. See README.md.

    .venv/bin/python bench/matrixone.py --url matrixone://user:password@127.0.0.1:6001/day1_bench

The database is made when it is missing, and kept: the next run measures at once.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import inprocess
import numpy as np
from building import CHILD, DIMENSIONS, MODEL, SEED
from figures import Figure, p50, table, timed, times
from searching import Query, embedded, queries
from synthetic import Vocabulary

MOST = 1.3  # times the bare statements
TOP = 60
WRITES, WARM = 30, 3
NODE = "memory_node"  # leased now and then, whatever is written
COPY = """
    INSERT INTO memory_branch (project_id, name, parent_id, fork_seq, ancestors, depth, head, head_at, cycle,
      indexed, purpose, created_at, created_by)
    SELECT project_id, %s, id, head, ancestors, 1, 0, head_at, 0, true, '', created_at, ''
    FROM memory_branch WHERE id = %s"""


class Bare:
    """The statements that the work cannot do without, on a connection of their own."""

    def __init__(self, project_id: Any) -> None:
        from django.db import connections

        self.connection = connections["default"].copy()
        self.project = project_id.hex
        with self.connection.cursor() as cursor:
            cursor.execute(
                "SELECT id, head FROM memory_branch WHERE project_id = %s AND name = 'main'", [self.project]
            )
            self.main, self.head = cursor.fetchone()

    def ask(self, sql: str, *params: Any) -> list[tuple]:
        with self.connection.cursor() as cursor:
            cursor.execute(sql, params)
            return list(cursor.fetchall())

    def search(self, query: Query) -> None:
        """Both arms, and the rows that they found."""
        from memory.db.matrixone import sql
        from memory.db.matrixone.patterns import pattern_of

        pattern = pattern_of(query.words)
        match = "MATCH(fact_text) AGAINST (%s IN BOOLEAN MODE)"
        found = self.ask(
            f"SELECT rid, {match} s FROM memory_fact WHERE {match} AND branch_id = %s AND seq_from <= %s"
            " AND seq_to > %s AND NOT deleted ORDER BY s DESC LIMIT %s",
            pattern, pattern, self.main, self.head, self.head, TOP,
        )  # fmt: skip
        near = self.ask(
            "SELECT f.rid, v.s FROM (SELECT content_hash, cosine_similarity(e, %s) s FROM memory_vector_384"
            " WHERE project_id = %s ORDER BY s DESC LIMIT %s) v"
            " JOIN memory_fact f ON f.content_hash = v.content_hash WHERE f.branch_id = %s AND f.seq_to > %s",
            sql.literal(query.vector), self.project, 2 * TOP, self.main, self.head,
        )  # fmt: skip
        rids = [rid for rid, _ in found + near[:TOP]]
        self.ask(f"SELECT * FROM memory_fact WHERE rid IN ({', '.join(map(str, rids))})")

    def write(self, rows: list[tuple[str, tuple]]) -> None:
        """The statements of a commit, as they were recorded."""
        with self.connection.cursor() as cursor:
            for statement, params in rows:
                cursor.execute(statement, params)


def searches(actor: Any, size: int, asked: list[Query]) -> Iterator[Figure]:
    from memory.engines.search import SearchEngine

    bare, engine = Bare(actor.project_id), SearchEngine()

    def search(query: Query, branch: str = "main") -> None:
        engine.search(query=query.text, actor=actor, branch_name=branch)

    ways: dict[str, Callable[[Query], None]] = {
        "bare": bare.search,
        "main": search,
        "child": lambda query: search(query, CHILD),
    }
    took: dict[str, list[float]] = {name: [] for name in ways}
    with embedded(asked):
        for number, query in enumerate(asked):
            for name, work in ways.items():
                value = timed(lambda work=work, query=query: work(query))
                if number >= WARM:
                    took[name].append(value)
    of = f"{size:,} facts"
    yield times(f"search, {of}, p50", p50(took["main"]), p50(took["bare"]), MOST, "bare SQL")
    yield times(f"search on a branch, {of}, p50", p50(took["child"]), p50(took["main"]), MOST, "main")


def writes(actor: Any, size: int) -> Iterator[Figure]:
    """One fact a commit, beside its own inserts sent again with other keys."""
    from django.db import connection

    from memory.engines.facts import FactEngine

    engine, bare, took, plain = FactEngine(), Bare(actor.project_id), [], []
    for _ in range(WRITES):
        text, seen = f"bench {uuid4().hex}", []
        with connection.execute_wrapper(recording(seen)):
            took.append(timed(partial(engine.write_fact, actor=actor, fact_text=text)))
        inserts = [
            (sql, renewed(sql, params))
            for sql, params in seen
            if sql.startswith("INSERT") and NODE not in sql
        ]
        head = ("UPDATE memory_branch SET head = head WHERE id = %s", (bare.main,))
        plain.append(timed(partial(bare.write, [("BEGIN", ()), head, *inserts, ("COMMIT", ())])))
    yield times(f"write, {size:,} facts, p50", p50(took[WARM:]), p50(plain[WARM:]), MOST, "its inserts alone")


def recording(seen: list[tuple[str, Any]]) -> Callable:
    def execute(run: Callable, sql: str, params: Any, many: bool, context: dict) -> Any:
        seen.append((sql, params[0] if many else params))
        return run(sql, params, many, context)

    return execute


def renewed(sql: str, params: Any) -> tuple:
    """The same row under keys that are not taken: the first column is the key, slots hold a colon."""
    fresh = uuid4()
    first = fresh.hex[: len(params[0])] if isinstance(params[0], str) else fresh.int >> 66
    slots = [
        f"b:{fresh.hex}" if isinstance(v, str) and ":" in v[:8] and v[0].isdigit() else v for v in params[1:]
    ]
    if "memory_commit" in sql:
        slots[1] = fresh.int >> 66  # a branch has one commit of a seq
    return (first, *slots)


def branches(actor: Any, size: int) -> Iterator[Figure]:
    from memory.engines.branches import BranchManager

    manager, bare, took, plain = BranchManager(), Bare(actor.project_id), [], []
    for _ in range(WRITES):
        took.append(timed(partial(manager.create_branch, name=f"bench/{uuid4().hex}", actor=actor)))
        plain.append(timed(partial(bare.write, [(COPY, (f"bare/{uuid4().hex}", bare.main))])))
    says = "one INSERT … SELECT"
    yield times(f"branch, {size:,} facts, p50", p50(took[WARM:]), p50(plain[WARM:]), MOST, says)


def recall(actor: Any, size: int, asked: list[Query]) -> Iterator[Figure]:
    """How much of the exact answer the index of vectors finds, where the table has one."""
    from django.db import connection

    vectors, of = connection.index.vectors, (actor.project_id.hex, MODEL)
    if not vectors._has_index(DIMENSIONS):
        return
    shares, exact, probed = [], [], []
    for query in asked:
        found: list[set[str]] = []
        for ask, took in ((vectors._exact, exact), (vectors._probe, probed)):
            started = time.perf_counter()
            found.append({value for value, _ in ask(query.vector, of, TOP)})
            took.append((time.perf_counter() - started) * 1000)
        shares.append(len(found[0] & found[1]) / TOP)
    yield Figure(
        f"recall@{TOP} of IVFFLAT, {size:,} facts", float(np.mean(shares)), "", 0.9, "≥ 0.9", least=True
    )
    yield Figure(
        f"IVFFLAT, {size:,} facts, p50", p50(probed), "ms", p50(exact), "≤ exact", p50(exact), "exact"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20_000, 100_000])
    parser.add_argument("--queries", type=int, default=20)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    os.environ["DATABASE_URL"] = chosen.url
    with tempfile.TemporaryDirectory() as folder:
        inprocess.set_up(Path(folder), "off")
        import teamstore

        started, figures = time.monotonic(), []
        for size in chosen.sizes:
            actor = teamstore.actor_of(size)
            asked = queries(Vocabulary(np.random.default_rng(SEED)), chosen.queries + WARM)
            figures += [*searches(actor, size, asked), *writes(actor, size), *branches(actor, size)]
            figures += recall(actor, size, asked)
        print(table(figures))
        print(f"{time.monotonic() - started:.0f} s in all")
        if chosen.json:
            chosen.json.write_text(json.dumps([figure.told() for figure in figures], indent=1))


if __name__ == "__main__":
    main()

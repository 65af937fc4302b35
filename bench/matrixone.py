"""Day1 on MatrixOne compared with plain SQL: writes, searches, branches, copies of the store. See README.md.

  .venv/bin/python -m bench.matrixone --url matrixone://user:password@127.0.0.1:6001/day1_bench

The database is created when it is missing, and kept: the next run measures immediately.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from bench import local_engine
from bench.baseline_matrixone import WARM, BareSearch, BareWrites
from bench.corpus import Vocabulary
from bench.engine_search import Query, embedded, queries
from bench.report import Figure, p50, table, timed, times
from bench.store_builder import CHILD, DIMENSIONS, MODEL, SEED

MAX_TIME_RATIO = 1.3  # times the plain statements
TOP = 60
COPIES = 4  # of each kind: a project may have five workspaces open


def searches(actor: Any, size: int, sample: list[Query]) -> Iterator[Figure]:
    from memory.engines.search.engine import SearchEngine

    bare, engine = BareSearch(actor.project_id), SearchEngine()

    def search(query: Query, branch: str = "main") -> None:
        engine.search(query=query.text, actor=actor, branch_name=branch)

    ways: dict[str, Callable[[Query], None]] = {
        "bare": bare.search,
        "main": search,
        "child": lambda query: search(query, CHILD),
    }
    took: dict[str, list[float]] = {name: [] for name in ways}
    with embedded(sample):
        for number, query in enumerate(sample):
            for name, work in ways.items():
                value = timed(lambda work=work, query=query: work(query))
                if number >= WARM:
                    took[name].append(value)
    of = f"{size:,} facts"
    yield times(f"search, {of}, p50", p50(took["main"]), p50(took["bare"]), MAX_TIME_RATIO, "bare SQL")
    yield times(
        f"search on a branch, {of}, p50", p50(took["child"]), p50(took["main"]), MAX_TIME_RATIO, "main"
    )


def writes(actor: Any, size: int) -> Iterator[Figure]:
    """Measure writes of one fact, against their minimum statements in a project of their own."""
    from memory.engines.facts.engine import FactEngine

    engine, bare = FactEngine(), BareWrites(f"bare-{size}")

    def write() -> None:
        engine.write_fact(actor=actor, fact_text=f"bench {uuid4().hex}")

    took, plain = bare.time_beside_reference(write, bare.commit)
    yield times(f"write, {size:,} facts, p50", p50(took), p50(plain), MAX_TIME_RATIO, "bare SQL")


def branches(actor: Any, size: int) -> Iterator[Figure]:
    from memory.engines.branches.manager import BranchManager

    manager, bare = BranchManager(), BareWrites(f"bare-{size}")

    def fork() -> None:
        manager.create_branch(name=f"bench/{uuid4().hex}", actor=actor)

    took, plain = bare.time_beside_reference(fork, bare.fork)
    yield times(f"branch, {size:,} facts, p50", p50(took), p50(plain), MAX_TIME_RATIO, "bare SQL")


def copies(actor: Any, size: int) -> Iterator[Figure]:
    """Measure snapshots and workspaces of the store, against the server's own statements and the rows for
    them.

    In a project of its own: each run leaves branches in the others, and a copy records their heads.
    """
    from memory.engines.store.snapshots import SnapshotManager
    from memory.engines.store.workspaces import WorkspaceEngine

    frozen, branched, bare = SnapshotManager(), WorkspaceEngine(), BareWrites(f"bare-{size}")
    with ExitStack() as drops:
        drops.callback(bare.drop)

        def freeze() -> None:
            made = frozen.create_store_snapshot(name=f"bench {uuid4().hex}", actor=actor)
            drops.callback(frozen.drop_snapshot, snapshot_id=made.pk, actor=actor)

        def branch() -> None:
            made = branched.create_workspace(name=f"bench {uuid4().hex}", actor=actor)
            drops.callback(branched.drop_workspace, workspace_id=made.pk, actor=actor)

        for name, work, plain in (("snapshot", freeze, bare.snapshot), ("workspace", branch, bare.workspace)):
            took, alone = bare.time_beside_reference(work, plain, turns=COPIES, warm=1)
            yield times(
                f"{name} of the store, {size:,} facts, p50", p50(took), p50(alone), MAX_TIME_RATIO, "bare SQL"
            )


def recall(actor: Any, size: int, sample: list[Query]) -> Iterator[Figure]:
    """Measure the recall of the vector index against exact search, where the table has one."""
    from django.db import connection

    vectors, of = connection.index.vectors, (actor.project_id.hex, MODEL)
    if not vectors._has_index(DIMENSIONS):
        return
    shares, exact, probed = [], [], []
    for query in sample:
        found: list[set[str]] = []
        for ask, took in ((vectors._search_exact, exact), (vectors._search_index, probed)):
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
        local_engine.set_up(Path(folder), "off")
        from bench import matrixone_builder

        started, figures = time.monotonic(), []
        for size in chosen.sizes:
            actor = matrixone_builder.build_actor(size)
            sample = queries(Vocabulary(np.random.default_rng(SEED)), chosen.queries + WARM)
            figures += [*searches(actor, size, sample), *writes(actor, size), *branches(actor, size)]
            figures += recall(actor, size, sample)
        figures += copies(local_engine.local("bench-copies"), sum(chosen.sizes))
        print(table(figures))
        print(f"{time.monotonic() - started:.0f} s in all")
        if chosen.json:
            chosen.json.write_text(json.dumps([figure.as_dict() for figure in figures], indent=1))


if __name__ == "__main__":
    main()

"""Recall of MatrixOne's vector index against exact search, through the engine, on real texts.

  .venv/bin/python -m bench.ann_recall --url matrixone://user:password@127.0.0.1:6001/day1_recall

The texts are sentences from the documentation inside installed Python packages, embedded by the built-in
model. The database is created when it is missing, and kept: an interrupted run continues.
"""

import argparse
import os
import re
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench import local_engine
from bench.report import Figure, p50, table, timed

SIZE, QUERIES, TOP, BATCH = 20_500, 100, 50, 500
DOC = re.compile(r'"""(.+?)"""', re.DOTALL)
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


def sentences() -> Iterator[str]:
    """Yield distinct sentences of 6 to 40 words."""
    seen: set[str] = set()
    for folder in (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")):
        for file in sorted(Path(folder).rglob("*.py")):
            for block in DOC.findall(file.read_text(errors="ignore")):
                for one in SENTENCE.split(" ".join(block.split())):
                    if 6 <= len(one.split()) <= 40 and one.isascii() and one not in seen and ">>>" not in one:
                        seen.add(one)
                        yield one


def texts() -> tuple[list[str], list[str]]:
    """Return the stored sentences and the queries, which are not stored, in random order."""
    found = list(sentences())
    np.random.default_rng(7).shuffle(found)
    if len(found) < SIZE + QUERIES:
        sys.exit(f"Only {len(found)} sentences were found.")
    return found[:SIZE], found[SIZE : SIZE + QUERIES]


def fill(actor: Any, stored: list[str]) -> None:
    from memory.db.backend import get_index
    from memory.engines.embedding.engine import EmbeddingEngine
    from memory.engines.facts.engine import FactEngine
    from memory.models import Branch

    head = Branch.objects.get(project=actor.project_id, name="main").head
    for start in range(head * BATCH, len(stored), BATCH):
        batch = stored[start : start + BATCH]
        FactEngine().write_facts(
            facts=[{"fact_text": text} for text in batch], actor=actor, deduplicate=False
        )
    while made := EmbeddingEngine().embed_pending(actor.project_id, BATCH):
        print(f"{made} embedded", flush=True)
    get_index().optimize()


def measured(actor: Any, queries: list[str]) -> Iterator[Figure]:
    from django.db import connection

    from memory.engines.search.engine import SearchEngine

    vectors: Any = connection.index.vectors  # type: ignore[attr-defined]  # MatrixOne's index has it
    assert vectors._has_index(384), "no index of vectors"
    has, shares, first, took = type(vectors)._has_index, [], [], {True: [], False: []}
    for text in queries:
        found = {}
        for probed in (False, True):
            type(vectors)._has_index = has if probed else lambda *_: False

            def search(text: str = text, probed: bool = probed, found: dict = found) -> None:
                hits = SearchEngine().search(query=text, actor=actor, search_type="vector", limit=TOP).hits
                found[probed] = [hit.fact.uid for hit in hits]

            took[probed].append(timed(search))
        shares.append(len(set(found[True]) & set(found[False])) / len(found[False]))
        first.append(found[True][0] == found[False][0])
    yield Figure(f"recall@{TOP} through the engine", float(np.mean(shares)), "", 0.9, "≥ 0.9", least=True)
    yield Figure("the same first hit", float(np.mean(first)), "", 0.9, "≥ 0.9", least=True)
    quick, exact = p50(took[True]), p50(took[False])
    yield Figure("search with the index, p50", quick, "ms", exact, "≤ exact", exact, "exact")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    chosen = parser.parse_args()
    os.environ["DATABASE_URL"] = chosen.url
    with tempfile.TemporaryDirectory() as folder:
        local_engine.set_up(Path(folder), "minilm")
        stored, queries = texts()
        actor, started = local_engine.local("recall"), time.monotonic()
        fill(actor, stored)
        print(table(list(measured(actor, queries))))
        print(f"{len(stored):,} facts, {len(queries)} queries, {time.monotonic() - started:.0f} s in all")


if __name__ == "__main__":
    main()

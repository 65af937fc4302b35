"""Latency at 100,000 facts, each figure with its baseline in the same run.

  .venv/bin/python -m bench.latency [--facts 100000] [--only search,branch] [--data-dir DIR] [--keep]
  .venv/bin/python -m bench.latency --only mixed [--minutes 10]

Exit status 1 when a bound is missed.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench import local_engine, store_builder
from bench.baseline_sqlite import BareRows, BareSearch, copy_store
from bench.corpus import Vocabulary
from bench.engine_search import Searches, embedded, queries
from bench.http_load import bulk, mixed, searches, writes
from bench.memory_usage import footprint
from bench.report import Figure, p50, table, timed
from bench.server import serving, time_first_answer
from bench.store_builder import SEED, Size

PARTS = ("search", "branch", "filters", "fork", "http", "writes", "bulk", "memory", "start")
LONG = ("mixed",)  # by name only
IN_ENGINE = ("search", "branch", "filters")
STORE = "day1.sqlite3"
WARM = 5
FORKS = 30
STARTS, MAX_START_MS = 5, 1500


def main() -> None:
    options = arguments()
    size = Size(options.facts)
    made = store_builder.store(options.data_dir, size)
    # In the store's parent folder: the system's temporary folder may be in memory, or small.
    with tempfile.TemporaryDirectory(dir=options.data_dir, ignore_cleanup_errors=True) as folder:
        figures = list(Run(Path(folder), made, options).figures())
    if not options.keep:
        shutil.rmtree(made)
    print("\n" + table(figures))
    if options.json:
        options.json.write_text(json.dumps([figure.as_dict() for figure in figures], indent=2) + "\n")
    sys.exit(0 if all(figure.kept for figure in figures) else 1)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Latency at 100,000 facts, beside bare SQLite and numpy.")
    parser.add_argument("--facts", type=int, default=100_000, help="thousands; each with 3 old versions")
    parser.add_argument("--only", default=",".join(PARTS), help=f"of {', '.join(PARTS + LONG)}")
    parser.add_argument("--minutes", type=float, default=10, help="of the part mixed")
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--data-dir", type=Path, default=Path(tempfile.gettempdir()) / "day1-bench")
    parser.add_argument("--keep", action="store_true", help="leave the store for the next run")
    parser.add_argument("--cpu", action="store_true", help="processor time, of searches in the engine")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    options.only = options.only.split(",")
    if unknown := set(options.only) - {*PARTS, *LONG}:
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    if options.facts < 1000 or options.facts % 1000:
        parser.error("--facts takes whole thousands")
    options.data_dir.mkdir(parents=True, exist_ok=True)
    return options


class Run:
    """Run on a copy of the store, so that its writes are discarded afterwards."""

    def __init__(self, folder: Path, made: Path, options: argparse.Namespace) -> None:
        self.folder, self.made, self.options = folder, made, options
        self.work = self.copy("work")
        local_engine.set_up(self.work, "off")
        local_engine.optimize()
        self.actor = local_engine.local()
        self.key = self.new_key()
        # The other parts write with the embedder off; embedding those texts would distort the memory figure.
        self.apart = self.copy_work("apart") if self.select_kinds("memory", "mixed") else None
        # The vocabulary is the store's, the texts drawn from it are new.
        self.words = Vocabulary(np.random.default_rng(SEED))
        self.words.rng = np.random.default_rng(SEED + 1)
        self.warm, self.counted = queries(self.words, WARM), queries(self.words, options.queries)

    def copy(self, name: str) -> Path:
        return Path(shutil.copytree(self.made, self.folder / name))

    def copy_work(self, name: str) -> Path:
        """Copy the store that this process has open, with the files beside it."""
        rest = shutil.ignore_patterns(f"{STORE}*")
        folder = Path(shutil.copytree(self.work, self.folder / name, ignore=rest))
        copy_store(self.work / STORE, folder / STORE)
        return folder

    def select_kinds(self, *parts: str) -> list[str]:
        return [part for part in parts if part in self.options.only]

    def figures(self) -> Iterator[Figure]:
        if kinds := self.select_kinds(*IN_ENGINE):
            yield from self.in_engine(kinds)
        if self.select_kinds("fork"):
            yield from self.forks()
        if kinds := self.select_kinds("http", "writes", "bulk"):
            yield from self.over_http(kinds)
        if self.select_kinds("memory"):
            yield from self.memory()
        if self.select_kinds("start"):
            yield self.start()
        if self.select_kinds("mixed"):
            yield from self.mixed()

    # ---- in this process -------------------------------------------------------------------------

    def in_engine(self, kinds: list[str]) -> Iterator[Figure]:
        from memory.engines.support.write_buffer import buffer

        texts, vectors = store_builder.open_texts(self.work)
        clock = time.process_time if self.options.cpu else time.perf_counter
        bare = BareSearch(self.folder / "bare.sqlite3", texts, vectors)
        timed_searches = Searches(self.actor, bare, clock)
        buffer.start()  # as in a server, a thread writes the recall log
        with embedded([*self.warm, *self.counted]):
            timed_searches.run(kinds, self.warm, self.counted)
        buffer.stop()
        yield from timed_searches.figures(kinds)

    def forks(self) -> Iterator[Figure]:
        from memory.engines.branches.manager import BranchManager
        from memory.models import Branch

        rows = self.bare_rows("bare-forks")
        engine, bare = [], []
        for number in range(FORKS):
            name = f"experiment/fork-{number}"
            engine.append(timed(lambda name=name: BranchManager().create_branch(name=name, actor=self.actor)))
            bare.append(timed(lambda number=number: rows.insert_branch(number)))
        Branch.objects.filter(name__startswith="experiment/fork-").delete()
        says = "one insert and commit"
        yield Figure("branch creation in the engine, p50", p50(engine), "ms", 5, "≤ 5 ms", p50(bare), says)

    def bare_rows(self, name: str) -> BareRows:
        return BareRows(self.work / STORE, self.folder / name / STORE)

    # ---- with a server ---------------------------------------------------------------------------

    def over_http(self, kinds: list[str]) -> Iterator[Figure]:
        key = self.key
        with serving(self.work, embedder="off") as running:
            running.key = key
            client = running.client()
            if "http" in kinds:
                yield from searches(client, self.actor, self.warm, self.counted)
            rows = self.bare_rows("bare-rows")
            if "writes" in kinds:
                yield from writes(running.url, key, rows, self.words)
            if "bulk" in kinds:
                yield from bulk(client, rows, self.words)

    def memory(self) -> Iterator[Figure]:
        """Measure memory with the default embedder, whose name the store's vectors have: all become
        resident.
        """
        assert self.apart is not None
        with serving(self.apart) as running:
            running.key = self.key
            yield from footprint(running.client(), running.process.pid, self.counted, self.words)

    def start(self) -> Figure:
        """Measure the time from the start of the program to its first answer; files are in the cache then."""
        took = [time_first_answer(self.work, self.key) for _ in range(STARTS + 1)][1:]
        name = "first answer after `up`, p50"
        return Figure(name, p50(took), "ms", MAX_START_MS, f"≤ {MAX_START_MS} ms")

    def mixed(self) -> Iterator[Figure]:
        """Measure a mixed load with the default embedder."""
        assert self.apart is not None
        with serving(self.apart) as running:
            running.key = self.key
            yield from mixed(running, self.words, self.options.minutes)

    def new_key(self) -> str:
        """Create a key with a practically unlimited rate."""
        from memory.engines.access.keys import KeyEngine

        made: tuple[Any, str] = KeyEngine().create_key(
            label="bench", scopes=["admin"], actor=self.actor, rate_per_minute=1_000_000
        )
        return made[1]


if __name__ == "__main__":
    main()

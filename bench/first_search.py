"""The first search of a process, with its vectors read from the database and mapped from files; then others.

  .venv/bin/python -m bench.first_search [--facts 1000000] [--queries 40] [--data-dir DIR] [--keep]

Each row is a process of its own on the store of latency.py. The first has no files and writes them.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench import local_engine, store_builder
from bench.corpus import Vocabulary
from bench.engine_search import embedded, queries
from bench.report import p50, timed
from bench.store_builder import SEED, Size

COLUMNS = (
    "first search",
    "new words, p50",
    "known words, p50",
    "the same, processor",
    "memory (Pss)",
    "at its peak",
)


def main() -> None:
    options = arguments()
    if options.one:
        print(json.dumps(search_store(options.one, options.queries)))
        return
    made = store_builder.store(options.data_dir, Size(options.facts))
    shutil.rmtree(made / "day1.sqlite3-vectors", ignore_errors=True)
    print("| | " + " | ".join(COLUMNS) + " |\n" + "|---" * (len(COLUMNS) + 1) + "|")
    for name in ("from the database", "from files", "from files again"):
        print(f"| {name} | " + " | ".join(run_process(made, options.queries)) + " |", flush=True)
    if not options.keep:
        shutil.rmtree(made)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The first search of a process, and those after it.")
    parser.add_argument("--facts", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--data-dir", type=Path, default=Path(tempfile.gettempdir()) / "day1-bench")
    parser.add_argument("--keep", action="store_true", help="leave the store for the next run")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)  # a process of its own
    options = parser.parse_args()
    options.data_dir.mkdir(parents=True, exist_ok=True)
    return options


def run_process(made: Path, count: int) -> list[str]:
    command = [sys.executable, "-m", "bench.first_search", "--one", str(made), "--queries", str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def search_store(folder: Path, count: int) -> list[str]:
    """Return the figures of this process, in the order of the columns."""
    local_engine.set_up(folder, "off")
    from memory.engines.search.engine import SearchEngine

    actor, engine = local_engine.local(), SearchEngine()
    words = Vocabulary(np.random.default_rng(SEED))
    words.rng = np.random.default_rng(SEED + 1)
    known = queries(words, count + 1)

    def search(query: Any) -> None:
        engine.search(query=query.text, actor=actor)

    with embedded(known):
        first = timed(lambda: search(known[0]))
        new, again = time_searches(search, known[1:]), time_searches(search, known[1:])
        spent = time_searches(search, known[1:], time.process_time)
    for thread in threading.enumerate():
        if thread.name == "vector-files":
            thread.join()
    memory = [f"{read_memory(name):,.0f} MB" for name in ("Pss", "VmHWM")]
    return [f"{first / 1000:.2f} s", *(f"{p50(one):.0f} ms" for one in (new, again, spent)), *memory]


def time_searches(
    search: Callable[[Any], None], asked: Sequence[Any], clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    return [timed(partial(search, query), clock) for query in asked]


def read_memory(name: str) -> float:
    """Return a figure of this process in MB, from /proc."""
    file = "/proc/self/smaps_rollup" if name == "Pss" else "/proc/self/status"
    (line,) = (line for line in Path(file).read_text().splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) / 1000


if __name__ == "__main__":
    main()

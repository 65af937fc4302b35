"""A merge request with many conflicts: its page, further pages, and decisions by rule.

  .venv/bin/python -m bench.many_conflicts [--conflicts 5000,20000] [--cpu] [--data-dir DIR] [--keep]

Both sides edit as many facts as there shall be conflicts, of a target of a fifth more, without an embedder.
Each size is measured in a process of its own.
"""

import argparse
import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench import local_engine, store_builder
from bench.corpus import Vocabulary
from bench.memory_usage import kib
from bench.merge_sources import content
from bench.store_builder import SEED, Size

SOURCE = "task/many"
BATCH_SIZE = 1000
FURTHER_PAGES = 5
LIMIT = 50


def main() -> None:
    options = arguments()
    if options.child:
        print(json.dumps(measure(options.child, options)))
        return
    for count in (int(text) for text in options.conflicts.split(",")):
        for name, value in measure_apart(count, options).items():
            print(f"{count:>7} {name:<40} {value:>10,.2f}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A merge request with many conflicts.")
    parser.add_argument("--conflicts", default="5000,20000", help="how many, with commas")
    parser.add_argument("--data-dir", type=Path, default=Path(tempfile.gettempdir()) / "day1-bench")
    parser.add_argument("--cpu", action="store_true", help="measure processor time: others use the machine")
    parser.add_argument("--keep", action="store_true", help="leave the stores for the next run")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.data_dir.mkdir(parents=True, exist_ok=True)
    return options


def measure_apart(count: int, options: argparse.Namespace) -> dict[str, float]:
    """Measure in another process, since Django takes one data folder per process."""
    command = [sys.executable, "-m", "bench.many_conflicts", "--child", str(count)]
    command += ["--data-dir", str(options.data_dir)]
    command += [f"--{flag}" for flag in ("keep", "cpu") if getattr(options, flag)]
    done = subprocess.run(command, cwd=local_engine.ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(count: int, options: argparse.Namespace) -> dict[str, float]:
    made = store_builder.store(options.data_dir, Size(count * 6 // 5 // BATCH_SIZE * BATCH_SIZE, old=0))
    with tempfile.TemporaryDirectory(dir=options.data_dir, ignore_cleanup_errors=True) as folder:
        work = Path(shutil.copytree(made, Path(folder) / "work"))
        local_engine.set_up(work, "off")
        local_engine.optimize()
        local_engine.freeze_gc()
        found = measure_request(count, time.process_time if options.cpu else time.perf_counter)
    if not options.keep:
        shutil.rmtree(made)
    return found


def measure_request(count: int, clock: Callable[[], float]) -> dict[str, float]:
    from memory.engines.merging.requests import MergeRequestEngine

    engine, actor = MergeRequestEngine(), local_engine.local()
    write_conflicts(actor, count)
    request = engine.create_request(source=SOURCE, actor=actor).pk
    before, found = resident_mib(), dict[str, float]()

    def timed(name: str, work: Callable[[], Any]) -> Any:
        started = clock()
        done = work()
        found[f"{name}, s"] = clock() - started
        return done

    def plan(cursor: str) -> Any:
        return engine.plan_request(request_id=request, actor=actor, limit=LIMIT, cursor=cursor).plan

    first = timed("first page of the plan", lambda: plan(""))
    assert first.open_conflicts == count, first.open_conflicts
    cursor = first.page.next
    started = clock()
    for _ in range(FURTHER_PAGES):
        cursor = plan(cursor).page.next
    found["a further page, s"] = (clock() - started) / FURTHER_PAGES
    check = timed("its checks", lambda: engine.check_request(request_id=request, actor=actor))
    assert not check.check.mergeable
    timed("its checks again", lambda: engine.check_request(request_id=request, actor=actor))
    settled = timed(
        "all decided by rule",
        lambda: engine.decide_conflicts(request_id=request, choice="source", actor=actor),
    )
    assert (settled.decided, settled.undecided) == (count, 0)
    assert timed("first page after that", lambda: plan("")).open_conflicts == 0
    found["memory that is kept, MiB"] = resident_mib() - before
    return found


def resident_mib() -> float:
    gc.collect()
    return kib(os.getpid(), "status", "VmRSS") / 1024


def write_conflicts(actor: Any, count: int) -> None:
    """Edit the same facts on main and on a branch, each with another text."""
    from memory.engines.branches.manager import BranchManager
    from memory.engines.versions.lookup import find_branch
    from memory.models import Fact

    BranchManager().create_branch(name=SOURCE, actor=actor)
    own = Fact._base_manager.filter(branch=find_branch(actor, "main"), slot__isnull=False, status="active")
    uids = list(own.order_by("uid").values_list("uid", flat=True)[:count])
    words = Vocabulary(store_builder.np.random.default_rng(SEED + 3))
    for branch in ("main", SOURCE):
        texts = list(words.texts(count))
        for start in range(0, count, BATCH_SIZE):
            part = slice(start, start + BATCH_SIZE)
            edit_facts(actor, branch, uids[part], texts[part])


def edit_facts(actor: Any, branch: str, uids: Sequence[Any], texts: Sequence[str]) -> None:
    from memory.engines.versions.commits import open_commit
    from memory.models import Fact

    with open_commit(actor, branch, "fact.bulk") as commit:
        rows = commit.visible_rows(Fact).filter(uid__in=uids).fetch_all()
        pairs = zip(rows, texts, strict=True)
        commit.add_versions([(row, content(text, row.category), False) for row, text in pairs])


if __name__ == "__main__":
    main()

r"""Diff, plan, merge and revert of a branch with 1,000 changes, and 1,000 branches, beside bare statements.

  .venv/bin/python -m bench.versions [--facts 100000] [--sizes 10000,1000000] [--only merge,branches,ratio] \
    [--rounds 5] [--cpu] [--data-dir DIR] [--keep]

The part ``ratio`` merges into targets of the two sizes, without an embedder: the cost follows the number of
changes. Exit status 1 when a bound is missed.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench import local_engine, many_rows, report, store_builder
from bench.baseline_versions import BareVersions
from bench.merge_sources import CHANGES, DELETED, EDITS, NEAR, NEW, Sources
from bench.report import Figure, p50, table, times
from bench.store_builder import CHILD, Size

PARTS = ("merge", "branches", "ratio")
BOUNDS = {"diff": 50, "plan": 1000, "merge": 500, "revert": 500}  # ms
RATIO = 1.3
FEW, MANY = 10, 1000  # branches
RUNS = 20
NONE = np.empty((0, 0))
SAYS = {
    "diff": "rows of both sides, read bare",
    "plan": "the same, texts looked up, one product of vectors",
    "merge": "rows of both sides read, those written inserted again",
    "revert": "rows of the commit read, those written inserted again",
}


def main() -> None:
    options = arguments()
    if options.child:
        print(json.dumps(measure_sizes(options)))
        return
    figures = list(run_parts(options))
    print("\n" + table(figures))
    if options.json:
        options.json.write_text(json.dumps([figure.as_dict() for figure in figures], indent=2) + "\n")
    sys.exit(0 if all(figure.kept for figure in figures) else 1)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Merges at 100,000 facts, beside bare statements.")
    parser.add_argument("--facts", type=int, default=100_000, help="thousands; each with 3 old versions")
    parser.add_argument("--sizes", default="10000,1000000", help="of the targets whose costs are compared")
    parser.add_argument("--only", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--rounds", type=int, default=5, help="source branches, merged and reverted in turn")
    parser.add_argument("--cpu", action="store_true", help="measure processor time: others use the machine")
    parser.add_argument("--data-dir", type=Path, default=Path(tempfile.gettempdir()) / "day1-bench")
    parser.add_argument("--keep", action="store_true", help="leave the stores for the next run")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.only = options.only.split(",")
    if unknown := set(options.only) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    options.data_dir.mkdir(parents=True, exist_ok=True)
    return options


def run_parts(options: argparse.Namespace) -> Iterator[Figure]:
    if kinds := [part for part in ("merge", "branches") if part in options.only]:
        made = store_builder.store(options.data_dir, Size(options.facts))
        with tempfile.TemporaryDirectory(dir=options.data_dir, ignore_cleanup_errors=True) as folder:
            work = Path(shutil.copytree(made, Path(folder) / "work"))
            local_engine.set_up(work, "minilm")  # whose name the store's vectors have
            local_engine.optimize()
            local_engine.freeze_gc()
            run = Run(work, options)
            if "merge" in kinds:
                yield from run.figures(Path(shutil.copytree(made, Path(folder) / "bare")))
            if "branches" in kinds:
                yield from Branches(run.actor, run.timed).figures()
        if not options.keep:
            shutil.rmtree(made)
    if "ratio" in options.only:
        yield from ratios(options)


class Run:
    """Merges of source branches into main, each reverted before the next."""

    def __init__(self, work: Path, options: argparse.Namespace) -> None:
        from memory.engines.versions.lookup import find_branch

        self.work, self.rounds, self.actor = work, options.rounds, local_engine.local()
        self.timed = partial(report.timed, clock=time.process_time if options.cpu else time.perf_counter)
        self.main = find_branch(self.actor, "main").pk
        self.sources = Sources(self.actor)
        self.spent: dict[str, list[float]] = defaultdict(list)
        self.bare: dict[str, list[float]] = defaultdict(list)

    def measure(self, after: Callable[[str, str], None] | None = None) -> dict[str, float]:
        """Merge one branch more than counts; return the median milliseconds of each step."""
        for number in range(self.rounds + 1):
            if number == 1:  # the first one warms up
                self.spent.clear(), self.bare.clear()
            self.merge_one(self.sources.make(number), after)
        return {name: p50(values) for name, values in self.spent.items()}

    def merge_one(self, name: str, after: Callable[[str, str], None] | None) -> None:
        from memory.engines.branches.manager import BranchManager
        from memory.engines.branches.revert import RevertEngine
        from memory.engines.merging.engine import MergeEngine

        merging, actor = MergeEngine(), self.actor
        done: dict[str, Any] = {}
        steps: dict[str, Callable[[], Any]] = {
            "diff": lambda: BranchManager().compare_branch(name=name, actor=actor),
            "plan": lambda: merging.preview_merge(source=name, actor=actor),
            "merge": lambda: merging.merge_branch(source=name, actor=actor, force=True),
            "revert": lambda: RevertEngine().revert_commit(commit_id=done["merge"].commit.pk, actor=actor),
        }
        for step in steps:
            self.spent[step].append(self.timed(partial(keep_result, done, step, steps[step])))
            if after:
                after(name, step)
        self.check(done)

    @staticmethod
    def check(done: dict[str, Any]) -> None:
        """Check that the branch's changes were all seen, merged and taken back."""
        counts, merged = done["plan"].plan.counts["fact"], done["merge"].commit
        held = counts.get("conflict", 0)
        assert done["diff"].counts["fact"] == {"added": NEW, "changed": EDITS, "removed": DELETED}
        assert counts.get("applied", 0) + held == CHANGES, counts
        assert merged.added + merged.changed + merged.removed >= CHANGES - held
        assert done["revert"] is not None

    # ---- beside bare statements ----------------------------------------------------------------

    def measure_both(self, copy: Path) -> dict[str, float]:
        """Return the median milliseconds of each step, and of the bare statements of all but the plan."""
        rows = BareVersions(self.work / "day1.sqlite3", copy / "day1.sqlite3")
        spent = self.measure(lambda name, step: step != "plan" and self.measure_bare(rows, NONE, name, step))
        return spent | {f"bare {step}": p50(values) for step, values in self.bare.items()}

    def figures(self, copy: Path) -> Iterator[Figure]:
        rows = BareVersions(self.work / "day1.sqlite3", copy / "day1.sqlite3")
        _, known = store_builder.open_texts(self.work)
        spent = self.measure(lambda name, step: self.measure_bare(rows, known, name, step))
        for step, bound in BOUNDS.items():
            name = {"plan": f"plan with duplicate detection ({NEAR} are near), p50"}.get(step, f"{step}, p50")
            yield Figure(name, spent[step], "ms", bound, f"≤ {bound} ms", p50(self.bare[step]), SAYS[step])

    def measure_bare(self, rows: BareVersions, known: np.ndarray, name: str, step: str) -> None:
        from memory.engines.versions.lookup import find_branch

        source, head = find_branch(self.actor, name), find_branch(self.actor, "main").head
        at = (source.pk, self.main, source.fork_seq)
        if step == "diff":
            self.bare[step].append(self.timed(lambda: rows.diff(*at)))
        elif step == "plan":
            new = known[:NEW].copy()
            self.bare[step].append(self.timed(lambda: rows.plan(*at, new, known)))
        else:
            written = rows.take(self.main, head)
            read = self.timed(lambda: rows.diff(*at))
            self.bare[step].append(read + self.timed(lambda: rows.write(written)))


def keep_result(done: dict[str, Any], step: str, work: Callable[[], Any]) -> None:
    done[step] = work()


class Branches:
    """Lists, topology and searches with few and with many branches."""

    def __init__(self, actor: Any, timed: Callable[..., float]) -> None:
        self.actor, self.timed = actor, timed

    def figures(self) -> Iterator[Figure]:
        few = self.measure(FEW)
        for name, spent in self.measure(MANY).items():
            yield times(f"{name} with {MANY} branches, p50", spent, few[name], RATIO, f"with {FEW}")

    def measure(self, count: int) -> dict[str, float]:
        from memory.models import Branch, Project

        project = Project.objects.get(slug="default")
        Branch.objects.filter(project=project, name__startswith="task/t-").delete()
        main = Branch.objects.get(project=project, name="main")
        many_rows.put(many_rows.branches(project, main, count))
        local_engine.optimize()
        return {name: p50([self.timed(work) for _ in range(RUNS)][2:]) for name, work in self.steps().items()}

    def steps(self) -> dict[str, Callable[[], Any]]:
        from memory.engines.branches.manager import BranchManager
        from memory.engines.branches.topology import BranchTopologyEngine
        from memory.engines.search.engine import SearchEngine

        manager, topology = BranchManager(), BranchTopologyEngine()
        search, actor = SearchEngine(), self.actor
        words = {"query": "what is the first fact about sources", "actor": actor, "search_type": "keyword"}
        return {
            f"list of {FEW}": lambda: manager.list_branches(actor=actor, limit=FEW),
            f"topology, page of {FEW}": lambda: topology.get_topology(actor=actor, limit=FEW),
            "search on main": lambda: search.search(**words),
            "search on a branch without changes": lambda: search.search(**words, branch_name="task/t-7"),
            "search on a branch with 1,000 changes": lambda: search.search(**words, branch_name=CHILD),
        }


# ---- targets of different sizes --------------------------------------------------------------------


def ratios(options: argparse.Namespace) -> Iterator[Figure]:
    """Compare the cost of merging into targets of two sizes, and that of the bare statements."""
    small, large = (measure_apart(options, int(size)) for size in options.sizes.split(","))
    sizes = [f"{int(size):,}" for size in options.sizes.split(",")]
    for step, spent in large.items():
        name = f"{step} without an embedder, target of {sizes[1]}, p50"
        says = f"target of {sizes[0]}"
        if step in BOUNDS:
            yield times(name, spent, small[step], RATIO, says)
        else:
            yield Figure(name, spent, "ms", float("inf"), "", small[step], says)


def measure_apart(options: argparse.Namespace, facts: int) -> dict[str, float]:
    """Measure in another process, since Django takes one data folder per process."""
    command = [sys.executable, "-m", "bench.versions", "--child", "--facts", str(facts)]
    command += ["--rounds", str(options.rounds), "--data-dir", str(options.data_dir)]
    command += [f"--{flag}" for flag in ("keep", "cpu") if getattr(options, flag)]
    done = subprocess.run(command, cwd=local_engine.ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure_sizes(options: argparse.Namespace) -> dict[str, float]:
    made = store_builder.store(options.data_dir, Size(options.facts, old=0))
    with tempfile.TemporaryDirectory(dir=options.data_dir, ignore_cleanup_errors=True) as folder:
        work = Path(shutil.copytree(made, Path(folder) / "work"))
        local_engine.set_up(work, "off")
        local_engine.optimize()
        local_engine.freeze_gc()
        found = Run(work, options).measure_both(Path(shutil.copytree(made, Path(folder) / "bare")))
    if not options.keep:
        shutil.rmtree(made)
    return found


if __name__ == "__main__":
    main()

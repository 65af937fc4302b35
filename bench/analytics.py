"""Analytics at many versions: each answer from stored tallies, after further writes, and counted anew.

.venv/bin/python -m bench.analytics [--versions N] [--observations N] [--data-dir DIR] [--cpu] [--runs N]

The store is that of the curators' queue, with observations and messages upon it. The reference, in the same
run: one statement of Python's sqlite3 that groups the open facts by status, category and agent.
"""

import argparse
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench import local_engine, store_builder
from bench.report import Figure, p50, p95, table, timed
from bench.store_builder import CHILD, Size

Clock = Callable[[], float]
OLD = 9  # closed versions of each fact
WARM = 1
MOST, MOST_UPDATE = 200.0, 2000.0  # ms
WRITTEN = 500  # facts after the tallies were stored
BARE = """
SELECT status, category, agent_id, COUNT(*) FROM memory_fact
WHERE branch_id = ? AND seq_to > ? AND NOT deleted GROUP BY 1, 2, 3
"""


def main() -> None:
    options = arguments()
    clock = time.process_time if options.cpu else time.perf_counter
    folder = copy_store(options.data_dir, options.versions)
    local_engine.set_up(folder, "off")
    fill(options.observations)
    local_engine.optimize()
    local_engine.freeze_gc()
    bare = p95(measure(lambda: group_bare(folder), clock, options.runs))
    print(table(list_figures(clock, options.runs, bare)))
    shutil.rmtree(folder)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Analytics at many versions.")
    parser.add_argument("--versions", type=int, default=1_000_000, help="of facts, ten of each")
    parser.add_argument("--observations", type=int, default=50_000, help="and half as many messages")
    parser.add_argument("--data-dir", type=Path, default=Path(tempfile.gettempdir()) / "day1-bench")
    parser.add_argument("--cpu", action="store_true", help="time of the processor, on a busy machine")
    parser.add_argument("--runs", type=int, default=9)
    return parser.parse_args()


def copy_store(parent: Path, versions: int) -> Path:
    built, folder = store_builder.store(parent, Size(versions // (OLD + 1), OLD)), parent / "analytics"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(built, folder)
    return folder


def fill(count: int) -> None:
    """Write observations, and messages of one conversation."""
    from django.core.management import call_command

    from bench.many_rows import conversations, messages, observations, put
    from memory.models import Project

    call_command("migrate", verbosity=0)
    project = Project.objects.get(slug="default")
    main = project.branches.get(name="main")
    put(observations(project, main, count))
    put(conversations(project, main, 1))
    put(messages(project, main, count // 2))


def group_bare(folder: Path) -> None:
    from memory.models import Branch

    main = Branch.objects.get(project__slug="default", name="main")
    with sqlite3.connect(folder / "day1.sqlite3") as database:
        database.execute(BARE, (main.pk, main.head)).fetchall()


def measure(work: Callable[[], Any], clock: Clock, runs: int) -> list[float]:
    for _ in range(WARM):
        work()
    return [timed(work, clock) for _ in range(runs)]


def list_figures(clock: Clock, runs: int, bare: float) -> list[Figure]:
    from analytics.engines.stored import update_tallies
    from memory.engines.facts.engine import FactEngine

    def add(name: str, times: Sequence[float], most: float = MOST) -> None:
        says = f"facts grouped by sqlite3; p50 {p50(times):.0f} ms"
        found.append(Figure(f"{name}, p95", p95(times), "ms", most, f"≤ {most:g} ms", bare, says))

    found: list[Figure] = []
    answers = list_answers()
    for name, work in answers.items():
        add(f"{name}, counted anew", measure(work, clock, runs), most=float("inf"))
    add("update of the tallies, from none", [timed(update_tallies, clock)], most=float("inf"))
    filling = []
    while not filling or update_tallies():  # those of the past, a few in each run
        filling.append(timed(update_tallies, clock))
    add(f"update of the tallies, {len(filling)} runs until the past has its own", filling, most=float("inf"))
    for name, work in answers.items():
        add(name, measure(work, clock, runs))
    texts = [{"fact_text": f"Written after the tallies {n}."} for n in range(WRITTEN)]
    FactEngine().write_facts(facts=texts, actor=local_engine.local())
    for name, work in answers.items():
        add(f"{name}, after {WRITTEN} further facts", measure(work, clock, runs))
    add(f"update of the tallies, after {WRITTEN}", [timed(update_tallies, clock)], most=MOST_UPDATE)
    return found


def list_answers() -> dict[str, Callable[[], Any]]:
    from analytics.engines.engine import AnalyticsEngine

    engine, actor = AnalyticsEngine(), local_engine.local()
    return {
        "overview": lambda: engine.overview(actor=actor),
        "overview of a child": lambda: engine.overview(actor=actor, branch_name=CHILD),
        "trends": lambda: engine.trends(actor=actor),
        "trends by hour": lambda: engine.trends(actor=actor, granularity="hour"),
        "an agent": lambda: engine.agent_analytics(actor=actor, agent_id="a-7"),
        "a session": lambda: engine.session_analytics(actor=actor, session_id="s-7"),
        "curation": lambda: engine.curation_analytics(actor=actor),
    }


if __name__ == "__main__":
    main()

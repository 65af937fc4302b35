"""Ageing of a branch with many facts: the dry run, the pressure, a run and its undo, beside bare SQL.

.venv/bin/python -m bench.ageing [--facts N] [--data-dir DIR] [--cpu]

The reference of the dry run, in the same run: one statement of Python's sqlite3 that finds all facts whose
time has come, those that are kept among them.
The reference of a run: the same versions closed, and the same rows written into the same tables with their
indexes, in one transaction of sqlite3. Both know nothing of branches, rights or what is kept.
"""

import argparse
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench import local_engine, store_builder
from bench.report import Figure, p50, table, timed
from bench.store_builder import Size

Clock = Callable[[], float]
FACTS = 100_000
STALE_DAYS, CATEGORY_DAYS = 30, 40
RECALLED = 30_000  # facts that searches found lately
OLD_VERSIONS = 1  # of each fact
WARM, RUNS = 1, 5
MOST_PREVIEW_MS, MOST_RUN_MS = 3000.0, 5000.0
STALE = """
SELECT count(*), group_concat(uid) FROM (SELECT f.uid FROM memory_fact f
LEFT JOIN memory_factuse u ON u.uid = f.uid
WHERE f.branch_id = ? AND f.seq_to > ? AND NOT f.deleted AND f.status IN ('active', 'done') AND NOT f.pinned
AND (f.expires_at <= ? OR f.category = 'bug_fix' AND f.updated_at <= ?
OR f.priority IN ('P3', 'P4') AND f.updated_at <= ?
AND (u.last_accessed_at IS NULL OR u.last_accessed_at <= ?)))
"""


def main() -> None:
    options = arguments()
    clock = time.process_time if options.cpu else time.perf_counter
    built = store_builder.store(options.data_dir, Size(options.facts, OLD_VERSIONS))
    with tempfile.TemporaryDirectory(dir=options.data_dir) as parent:
        folder = Path(parent) / "data"
        shutil.copytree(built, folder)
        local_engine.set_up(folder, "off")
        prepare_memory(options.facts)
        local_engine.optimize()
        local_engine.freeze_gc()
        print(table([*measure_plans(folder, options.facts, clock), *measure_run(folder, clock)]))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Ageing of a branch with many facts.")
    parser.add_argument("--facts", type=int, default=FACTS, help="how many, in thousands")
    parser.add_argument("--data-dir", type=Path, default=Path(tempfile.gettempdir()) / "day1-bench")
    parser.add_argument("--cpu", action="store_true", help="time of the processor, on a busy machine")
    return parser.parse_args()


def prepare_memory(facts: int) -> None:
    """Note recalls, and set rules by which a part of the facts has aged."""
    from memory.models import Fact, FactUse, Project

    project = Project.objects.get(slug="default")
    main = project.branches.get(name="main")
    uids = [uid for (uid,) in Fact.objects.on(main).gather_values("uid")][: RECALLED * facts // FACTS]
    now = datetime.now(UTC)
    rows = [FactUse(uid=uid, project=project, access_count=1, last_accessed_at=now) for uid in uids]
    FactUse.objects.bulk_create(rows, batch_size=500, ignore_conflicts=True)
    set_rules(stale_after_days=STALE_DAYS, category_ttl_days={"bug_fix": CATEGORY_DAYS})


def set_rules(**settings: Any) -> None:
    from memory.models import Project

    Project.objects.filter(slug="default").update(**settings)


def measure_plans(folder: Path, facts: int, clock: Clock) -> list[Figure]:
    """Return how long the dry run and the pressure take, by time alone and over a budget."""
    from memory.engines.facts.ageing.engine import AgeingEngine

    engine, actor = AgeingEngine(), local_engine.local()
    by_time = measure(lambda: engine.preview_ageing(actor=actor), clock)
    count = engine.preview_ageing(actor=actor).count
    bare = measure(lambda: find_bare(folder), clock)
    set_rules(fact_budget=facts // 4)
    over = measure(lambda: engine.preview_ageing(actor=actor), clock)
    over_count = engine.preview_ageing(actor=actor).count
    pressure = measure(lambda: engine.get_pressure(actor=actor), clock)
    set_rules(fact_budget=None)
    says = f"the {find_bare(folder):,} by one statement of sqlite3"
    return [
        build_figure(f"dry run, {count:,} of {facts:,} aged by time", by_time, MOST_PREVIEW_MS, bare, says),
        build_figure(f"dry run, {over_count:,} with the budget", over, MOST_PREVIEW_MS, bare, says),
        build_figure("pressure over the budget", pressure, MOST_PREVIEW_MS, bare, says),
    ]


def measure(work: Callable[[], Any], clock: Clock) -> float:
    for _ in range(WARM):
        work()
    return p50([timed(work, clock) for _ in range(RUNS)])


def find_bare(folder: Path) -> int:
    from memory.models import Branch

    main = Branch.objects.get(project__slug="default", name="main")
    now = datetime.now(UTC)
    days = [now, now - timedelta(days=CATEGORY_DAYS), *[now - timedelta(days=STALE_DAYS)] * 2]
    database = sqlite3.connect(folder / "day1.sqlite3")
    moments = [day.strftime("%Y-%m-%d %H:%M:%S.%f") for day in days]
    (count, _uids) = database.execute(STALE, (main.pk, main.head, *moments)).fetchone()
    database.close()
    return int(count)


def measure_run(folder: Path, clock: Clock) -> list[Figure]:
    """Return how long one run of a whole commit takes, and its undo."""
    from memory.engines.branches.revert import RevertEngine
    from memory.engines.facts.ageing.engine import AgeingEngine

    actor, done = local_engine.local(), list[Any]()
    ran = timed(lambda: done.append(AgeingEngine().run_ageing(actor=actor)), clock)
    report = done[0]
    bare = write_bare(folder, report.commit, clock)
    undone = timed(lambda: RevertEngine().revert_commit(commit_id=report.commit.pk, actor=actor), clock)
    says = "the same rows by sqlite3 alone"
    return [
        build_figure(f"run, {report.count:,} facts", ran, MOST_RUN_MS, bare, says),
        build_figure("its undo", undone, MOST_RUN_MS, bare, says),
    ]


def build_figure(name: str, value: float, most: float, bare: float, says: str) -> Figure:
    return Figure(name, value, "ms", most, f"≤ {most:g} ms", bare, says)


def write_bare(folder: Path, commit: Any, clock: Clock) -> float:
    """Return the milliseconds in which a copy of the two tables takes the rows of the commit."""
    source = sqlite3.connect(folder / "day1.sqlite3")
    target = sqlite3.connect(folder / "bare.sqlite3", isolation_level=None)
    target.execute("PRAGMA journal_mode = WAL")
    tables = ("memory_fact", "memory_agedversion")
    names = "tbl_name IN (?, ?) AND sql != '' AND type IN ('table', 'index') ORDER BY type DESC"
    for (sql,) in source.execute(f"SELECT sql FROM sqlite_master WHERE {names}", tables):
        target.execute(sql)
    before, fresh, reasons = (source.execute(sql, key).fetchall() for sql, key in list_rows(commit))
    target.execute("BEGIN")
    insert_rows(target, "memory_fact", before)
    target.execute("COMMIT")
    closed = [(commit.seq, row[0]) for row in source.execute(CLOSED, (commit.branch_id, commit.seq))]

    def write() -> None:
        target.execute("BEGIN IMMEDIATE")
        target.executemany("UPDATE memory_fact SET seq_to = ?, slot = NULL WHERE rid = ?", closed)
        insert_rows(target, "memory_fact", fresh)
        insert_rows(target, "memory_agedversion", reasons)
        target.execute("COMMIT")

    return timed(write, clock)


CLOSED = "SELECT rid FROM memory_fact WHERE branch_id = ? AND seq_to = ?"


def list_rows(commit: Any) -> list[tuple[str, tuple[int, int]]]:
    """Return statements for what was there, the versions of the commit, and their reasons."""
    where = (commit.branch_id, commit.seq)
    return [
        ("SELECT * FROM memory_fact WHERE branch_id = ? AND seq_from < ?", where),
        ("SELECT * FROM memory_fact WHERE branch_id = ? AND seq_from = ?", where),
        ("SELECT * FROM memory_agedversion WHERE branch_id = ? AND seq = ?", where),
    ]


def insert_rows(database: sqlite3.Connection, name: str, rows: list[tuple]) -> None:
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        database.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)


if __name__ == "__main__":
    main()

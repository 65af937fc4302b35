"""Curation: how many facts the heuristic verifies in a second, and how long the curators' queue and a
quarantine take.

.venv/bin/python -m bench.curation [--only verification|queue|quarantine] [--facts N] [--versions N] \
  [--cpu] [--data-dir DIR] [--keep]

Verified is a batch of facts as a worker does it: read, rated, stored with scores, verdicts and commits. The
reference, in the same run: the same rows, into the same tables with their indexes, by Python's sqlite3 alone,
in as many transactions.
"""

import argparse
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench import local_engine
from bench.curation_queue import measure_queue
from bench.quarantine import measure_quarantine
from bench.report import Figure, table, timed

FACTS, BATCH_SIZE = 10_000, 500
LEAST = 2000.0  # facts in a second
TABLES = ("curation_verification", "curation_score", "memory_factassessment")


def main() -> None:
    options = arguments()
    PARTS[options.only](options)


def report_queue(options: argparse.Namespace) -> None:
    clock = time.process_time if options.cpu else time.perf_counter
    print(table(measure_queue(options.data_dir, options.versions, clock, options.keep)))


def report_quarantine(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        local_engine.set_up(Path(folder), "off")
        local_engine.freeze_gc()
        print(table(measure_quarantine(Path(folder))))


def report_verification(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        local_engine.set_up(Path(folder), "off")
        local_engine.freeze_gc()
        job = queue_batch(options.facts)
        verified = timed(lambda: carry_out(job)) / 1000
        bare = write_bare(Path(folder)) / 1000
        print(table([build_figure(options.facts, verified, bare)]))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Verification by the heuristic, and the curators' queue.")
    parser.add_argument("--only", default="verification", choices=list(PARTS), help="each has its own store")
    parser.add_argument("--versions", type=int, default=1_000_000, help="of the queue's store, ten of a fact")
    parser.add_argument("--data-dir", type=Path, default=Path(tempfile.gettempdir()) / "day1-bench")
    parser.add_argument("--cpu", action="store_true", help="time of the processor, on a busy machine")
    parser.add_argument("--keep", action="store_true", help="keep the copy of the queue's store")
    parser.add_argument("--facts", type=int, default=FACTS, help="how many, up to 10,000")
    return parser.parse_args()


PARTS = {"verification": report_verification, "queue": report_queue, "quarantine": report_quarantine}


def build_figure(facts: int, verified: float, bare: float) -> Figure:
    return Figure(
        "heuristic verification",
        facts / verified,
        "facts/s",
        LEAST,
        f"≥ {LEAST:g} facts/s",
        facts / bare,
        "the same rows by sqlite3 alone",
        least=True,
    )


def queue_batch(count: int) -> Any:
    """Write facts of different lengths, and queue their verification."""
    from curation.engines.verification.engine import VerificationEngine
    from memory.engines.facts.engine import FactEngine

    actor = local_engine.local()
    for start in range(0, count, BATCH_SIZE):
        facts = [build_fact(n) for n in range(start, min(start + BATCH_SIZE, count))]
        FactEngine().write_facts(facts=facts, actor=actor, deduplicate=False)
    return VerificationEngine().verify_batch(actor=actor, limit=count)


def build_fact(n: int) -> dict[str, Any]:
    words = " ".join(f"word{(n * 31 + k) % 997}" for k in range(3 + n % 30))
    return {"fact_text": f"Service {n} needs {words}.", "confidence": (n % 10) / 10}


def carry_out(job: Any) -> None:
    from curation.engines.verification.engine import VerificationEngine

    VerificationEngine().run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.position) == ("done", job.total), job.note


def write_bare(folder: Path) -> float:
    """Return the milliseconds that the bare rows take."""
    source = sqlite3.connect(folder / "day1.sqlite3")
    target = sqlite3.connect(folder / "bare.sqlite3", isolation_level=None)
    target.execute("PRAGMA journal_mode = WAL")
    target.execute("PRAGMA synchronous = FULL")
    for (sql,) in source.execute(
        f"SELECT sql FROM sqlite_master WHERE sql != '' AND tbl_name IN ({', '.join('?' * len(TABLES))})"
        " ORDER BY type DESC",
        TABLES,
    ):
        target.execute(sql)
    rows = {name: source.execute(f"SELECT * FROM {name}").fetchall() for name in TABLES}
    facts = len(rows[TABLES[0]])
    portions = [list(split_rows(rows[name], facts)) for name in TABLES]
    return timed(lambda: write_portions(target, portions))


def split_rows(rows: Sequence[tuple], facts: int) -> Iterator[Sequence[tuple]]:
    """Yield the rows in as many portions as the facts have."""
    count = -(-facts // BATCH_SIZE)
    size = -(-len(rows) // count)
    for start in range(0, count * size, size):
        yield rows[start : start + size]


def write_portions(target: sqlite3.Connection, portions: Sequence[Sequence[Sequence[tuple]]]) -> None:
    for batch in zip(*portions, strict=True):
        target.execute("BEGIN IMMEDIATE")
        for name, rows in zip(TABLES, batch, strict=True):
            if rows:
                marks = ", ".join("?" * len(rows[0]))
                target.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
        target.execute("COMMIT")


if __name__ == "__main__":
    main()

"""Quarantine of an agent with many facts, its release, and a bare INSERT … SELECT of the same rows."""

import sqlite3
from pathlib import Path
from typing import Any

from bench import local_engine
from bench.report import Figure, timed

FACTS, OTHERS, BATCH_SIZE = 50_000, 50_000, 1000
MOST_SECONDS = 2.0


def measure_quarantine(folder: Path, facts: int = FACTS) -> list[Figure]:
    """Return how long a quarantine of an agent takes, and its release, among as many facts of others."""
    from curation.engines.quarantine.engine import QuarantineEngine

    actor = write_memory(facts)
    engine, made = QuarantineEngine(), []
    source = {"source": "agent", "target": "eve", "actor": actor}
    begun = timed(lambda: made.append(engine.create_quarantine(**source))) / 1000
    assert made[0].counts["fact"] >= facts, made[0].counts
    bare = insert_bare(folder / "day1.sqlite3", folder / "bare.sqlite3") / 1000
    ended = timed(lambda: engine.release_quarantine(quarantine_id=made[0].pk, actor=actor)) / 1000
    return [
        build_figure(f"quarantine of {facts:,} facts", begun, bare),
        build_figure("its release", ended, bare),
    ]


def build_figure(name: str, seconds: float, bare: float) -> Figure:
    goal = f"≤ {MOST_SECONDS:g} s"
    return Figure(name, seconds, "s", MOST_SECONDS, goal, bare, "the same hidden rows by sqlite3 alone")


def write_memory(facts: int) -> Any:
    """Write the facts of an agent, some of them derived, and those of others; return the actor."""
    from memory.engines.facts.engine import FactEngine
    from memory.engines.facts.links import LinkEngine

    actor = local_engine.local()
    eve, ada = actor.with_origin(agent_id="eve"), actor.with_origin(agent_id="ada")
    for start in range(0, facts, BATCH_SIZE):
        for who, word in ((eve, "Eve"), (ada, "Ada")):
            numbers = range(start, start + BATCH_SIZE)
            lines = [{"fact_text": f"{word} says that {n} is {n * 31 % 997}."} for n in numbers]
            made = FactEngine().write_facts(facts=lines, actor=who, deduplicate=False)
            if who is eve:
                bad = made.results[0].fact
        derived = FactEngine().write_fact(fact_text=f"From {start}.", actor=ada).fact
        LinkEngine().write_link(from_id=derived.uid, to_id=bad.uid, link_type="DERIVED_FROM", actor=ada)
    return actor


def insert_bare(store: Path, copy: Path) -> float:
    """Return the milliseconds that the rows of hidden versions take in a bare table with the same indexes."""
    source = sqlite3.connect(store)
    target = sqlite3.connect(copy, isolation_level=None)
    target.execute("PRAGMA journal_mode = WAL")
    target.execute("PRAGMA synchronous = FULL")
    own = "sql != '' AND tbl_name = 'memory_hiddenversion'"
    for (sql,) in source.execute(f"SELECT sql FROM sqlite_master WHERE {own} ORDER BY type DESC"):
        target.execute(sql)
    rows = source.execute("SELECT * FROM memory_hiddenversion").fetchall()
    target.execute("CREATE TABLE facts AS SELECT * FROM memory_hiddenversion")
    marks = ", ".join("?" * len(rows[0]))
    target.executemany(f"INSERT INTO facts VALUES ({marks})", rows)
    return timed(lambda: target.execute("INSERT INTO memory_hiddenversion SELECT * FROM facts"))

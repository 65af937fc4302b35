"""Snapshots and workspaces of a store of some size, compared with the database's own work.

On SQLite in a temporary folder; or on the database of DATABASE_URL, which is filled and kept.
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import local_engine

BATCH = 1000
CHANGED = 1000


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return (time.perf_counter() - start) * 1000, result


def fill(actor: Any, size: int) -> None:
    from memory.engines.facts.engine import FactEngine
    from memory.models import Branch

    head = Branch.objects.get(project=actor.project_id, name="main").head
    for start in range(head * BATCH, size, BATCH):
        facts = [
            {"fact_text": f"Fact {n} of a store that is copied, {n * 7919 % 1009}"}
            for n in range(start, start + BATCH)
        ]
        FactEngine().write_facts(facts=facts, actor=actor, deduplicate=False)


def more(actor: Any, text: str) -> None:
    from memory.engines.facts.engine import FactEngine

    facts = [{"fact_text": f"{text} {n}"} for n in range(CHANGED)]
    FactEngine().write_facts(facts=facts, actor=actor, deduplicate=False)


def snapshots(actor: Any) -> dict[str, float]:
    from memory.db.backend import get_store_copies
    from memory.engines.store.snapshots import SnapshotManager

    engine, name = SnapshotManager(), f"bench-{time.time_ns()}"
    found = {"a point of a branch": timed(lambda: engine.create_snapshot(name=name, actor=actor))[0]}
    bare = f"bench_{time.time_ns()}"
    found["the database alone: snapshot"] = timed(lambda: get_store_copies().take_snapshot(bare))[0]
    get_store_copies().drop_snapshot(bare)
    label = "snapshot of the store"
    found[label], made = timed(lambda: engine.create_store_snapshot(name=f"{name}-store", actor=actor))
    more(actor, f"after {name}")
    plan = {"snapshot_id": made.pk, "actor": actor}
    found["plan of a restore"] = timed(lambda: engine.restore_snapshot(**plan, dry_run=True))[0]
    found[f"restore over {CHANGED} facts"] = timed(lambda: engine.restore_snapshot(**plan))[0]
    engine.drop_snapshot(**plan)
    return found


def workspaces(actor: Any) -> dict[str, float]:
    from django.db import connections

    from memory.db.backend import get_store_copies
    from memory.engines.store.workspaces import WorkspaceEngine

    engine, bare = WorkspaceEngine(), f"bench_{time.time_ns()}"
    found = {"the database alone: workspace": timed(lambda: get_store_copies().create_workspace(bare))[0]}
    get_store_copies().drop_workspace(bare)
    made = timed(lambda: engine.create_workspace(name=bare, actor=actor))
    found["workspace"] = made[0]
    store = connections["default"]
    with get_store_copies().open_workspace(made[1].copy) as alias:
        connections["default"] = connections[alias]
        more(actor, bare)
        connections["default"] = store
    which = {"workspace_id": made[1].pk, "actor": actor}
    found[f"diff of {CHANGED} facts"] = timed(lambda: engine.diff_workspace(**which))[0]
    found[f"promote of {CHANGED} facts"] = timed(lambda: engine.promote_workspace(**which))[0]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=20_000, help="facts in the store")
    size = parser.parse_args().size
    folder = Path(tempfile.mkdtemp(prefix="day1-bench-"))
    try:
        local_engine.set_up(folder, "off")
        actor = local_engine.local(f"copies-{size}")
        fill(actor, size)
        for name, milliseconds in {**snapshots(actor), **workspaces(actor)}.items():
            print(f"{name:34} {milliseconds:9.1f} ms")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()

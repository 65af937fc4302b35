"""The curators' queue at many versions: how long its page takes, for each reason, and in a clean store.

The store is that of the other benchmarks; upon it come questions, proposals, facts that end soon, recalls
and ratings. The reference, in the same run: the newest facts without a verdict, by one statement of Python's
sqlite3.
"""

import shutil
import sqlite3
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench import local_engine, store_builder
from bench.report import Figure, p50, p95, timed
from bench.store_builder import Size

Clock = Callable[[], float]
OLD = 9  # closed versions of each fact
QUESTIONS, PROPOSALS, EXPIRING, RATINGS = 5000, 200, 2000, 500
WARM, RUNS = 2, 15
MOST = 300.0  # ms
ENTRIES = 20
BARE = """
SELECT f.* FROM memory_fact f WHERE f.branch_id = ? AND f.seq_to > ? AND NOT f.deleted
AND f.status IN ('active', 'done') AND NOT EXISTS (SELECT 1 FROM memory_factassessment j
WHERE j.uid = f.uid AND j.judged_hash = f.judged_hash AND j.branch_id = f.branch_id
AND j.status IN ('verified', 'invalidated')) ORDER BY f.uid DESC LIMIT 20
"""


def measure_queue(parent: Path, versions: int, clock: Clock, keep: bool) -> list[Figure]:
    """Return the figures of the queue's page at so many versions; the store is built in ``parent`` once."""
    built = store_builder.store(parent, Size(versions // (OLD + 1), OLD))
    folder = parent / "queue"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(built, folder)
    local_engine.set_up(folder, "off")
    fill_queue(folder)
    local_engine.optimize()
    local_engine.freeze_gc()
    figures = [*measure_pages(folder, clock), *measure_clean(folder, clock)]
    if not keep:
        shutil.rmtree(folder)
    return figures


def measure_clean(folder: Path, clock: Clock) -> list[Figure]:
    """Measure again after a person has verified nearly every fact: hardly any of them waits."""
    verify_all(folder)
    local_engine.optimize()
    return measure_pages(folder, clock, ", nearly all verified", ("", "unverified", "never_recalled"))


def measure_pages(folder: Path, clock: Clock, suffix: str = "", reasons: Sequence[str] = ()) -> list[Figure]:
    from curation.engines.queue.reasons import WORTH

    client, bare = log_in(), measure_bare(folder, clock)
    figures = []
    for reason in reasons or ("", *WORTH):
        address = f"/admin/p/default/review?reason={reason}" if reason else "/admin/p/default/review"
        times = measure(lambda address=address: load(client, address), clock)
        name = f"queue, {reason or 'all reasons'}{suffix}"
        says = f"the newest unverified by sqlite3; p50 {p50(times):.0f} ms"
        figures.append(Figure(f"{name}, p95", p95(times), "ms", MOST, f"≤ {MOST:g} ms", bare, says))
    return figures


def measure(work: Any, clock: Clock) -> list[float]:
    for _ in range(WARM):
        work()
    return [timed(work, clock) for _ in range(RUNS)]


def measure_bare(folder: Path, clock: Clock) -> float:
    from memory.models import Branch

    main = Branch.objects.get(project__slug="default", name="main")
    database = sqlite3.connect(folder / "day1.sqlite3")
    times = measure(lambda: database.execute(BARE, (main.pk, main.head)).fetchall(), clock)
    database.close()
    return p95(times)


def log_in() -> Any:
    from django.contrib.auth import get_user_model
    from django.test import Client

    from memory.models import Membership, Project

    user, made = get_user_model().objects.get_or_create(username="curator", defaults={"is_staff": True})
    if made:
        project = Project.objects.get(slug="default")
        Membership.objects.create(user=user, project=project, role=Membership.Role.CURATOR)
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(user)
    return client


def load(client: Any, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 200, (address, answer.status_code)


# ---- what waits ------------------------------------------------------------------------------------------


def fill_queue(folder: Path) -> None:
    """Write what the queue shows besides unverified facts."""
    from bench.many_rows import put, questions
    from memory.models import Project

    project = Project.objects.get(slug="default")
    main = project.branches.get(name="main")
    put(questions(project, main, QUESTIONS))
    put(build_ratings(project, main))
    write_states(folder, main.pk)


def build_ratings(project: Any, main: Any) -> list[Any]:
    """Return ratings of the judge that the heuristic contradicts."""
    from curation.models import Verification
    from memory.models import Fact

    facts = Fact.objects.on(main).highest(RATINGS, "uid")
    rated = {"method": "judge", "verdict": "verified", "average": 0.9, "disagrees": True, "model": "bench"}
    whose = {"project": project, "branch": main, "created_at": datetime.now(UTC)}
    return [Verification(fact_id=fact.uid, judged_hash=fact.judged_hash, **rated, **whose) for fact in facts]


def write_states(folder: Path, branch: int) -> None:
    """Make some of the open versions proposals, let some end soon, and let every second be recalled once."""
    database = sqlite3.connect(folder / "day1.sqlite3")
    rids = [row[0] for row in database.execute("SELECT rid FROM memory_fact WHERE slot > '' ORDER BY rid")]
    ends = [str((datetime.now(UTC) + timedelta(minutes=9 * n)).replace(tzinfo=None)) for n in range(EXPIRING)]
    first = len(rids) // 2
    database.executemany(
        "UPDATE memory_fact SET expires_at = ? WHERE rid = ?", zip(ends, rids[first:], strict=False)
    )
    database.executemany(
        "UPDATE memory_fact SET status = 'created' WHERE rid = ?", [(rid,) for rid in rids[:PROPOSALS]]
    )
    database.execute(
        "INSERT INTO memory_factuse (uid, project_id, access_count, last_accessed_at)"
        " SELECT f.uid, b.project_id, 1, f.created_at FROM memory_fact f"
        " JOIN memory_branch b ON b.id = f.branch_id WHERE f.slot > '' AND b.id = ? AND (f.rid >> 22) % 2",
        [branch],
    )
    database.commit()
    database.close()


def verify_all(folder: Path) -> None:
    """Write a person's verdict on all facts but the oldest, and a recall of each."""
    from memory.models import Branch, Fact, FactAssessment
    from memory.models.nodes import next_rid

    main = Branch.objects.get(project__slug="default", name="main")
    next_rid.ensure_lease()
    judged = set(FactAssessment.objects.on(main).gather_values("uid"))
    facts = sorted(Fact.objects.on(main).gather_values("uid", "judged_hash"))[ENTRIES:]
    shared = {"branch": main, "seq_from": main.head, "status": "verified", "method": "human", "by": "bench"}
    shared |= dict.fromkeys(("at", "created_at", "updated_at"), datetime.now(UTC))
    rows = []
    for uid, judged_hash in facts:
        if (uid,) not in judged:
            rid, slot = next_rid(), f"{main.pk}:{uid.hex}"
            rows.append(
                FactAssessment(rid=rid, vid=rid, uid=uid, judged_hash=judged_hash, slot=slot, **shared)
            )
    FactAssessment._base_manager.bulk_create(rows, batch_size=500)
    database = sqlite3.connect(folder / "day1.sqlite3")
    database.execute(
        "INSERT OR IGNORE INTO memory_factuse (uid, project_id, access_count, last_accessed_at)"
        " SELECT f.uid, b.project_id, 1, f.created_at FROM memory_fact f"
        " JOIN memory_branch b ON b.id = f.branch_id WHERE f.slot IS NOT NULL AND b.id = ?",
        [main.pk],
    )
    database.commit()
    database.close()

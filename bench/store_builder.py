"""Builder of the benchmark store: facts with old versions, vectors and a child branch, written in bulk."""

import json
import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from bench import local_engine
from bench.corpus import Vocabulary, edited

FORMAT = 5  # version of the store, raised when the builder changes
SEED = 7
DAYS = 60
BATCH = 1000  # facts in a commit
DIMENSIONS = 384
CODED_WORDS = 25  # word codes of a text
MODEL = "minilm-l6-int8"  # the model name of the vectors: that of the default embedder
CHILD = "task/child"
CHILD_CHANGES = 1000  # changes on the child
RARE = {"category": "security", "kind": "BELIEF", "status": "done", "session_id": "s-7", "agent_id": "a-7"}
NODE = 1023 << 12


@dataclass(frozen=True)
class Size:
    facts: int = 100_000
    old: int = 3

    @property
    def rounds(self) -> int:
        return self.old + 1

    @property
    def batches(self) -> int:
        return self.facts // BATCH

    @property
    def head(self) -> int:
        return self.rounds * self.batches


def store(parent: Path, size: Size) -> Path:
    """Return a folder with a store of this size, built unless it exists."""
    folder = parent / f"store-{size.facts}-{size.old}"
    note = folder / "bench-store.json"
    expected = {**asdict(size), "format": FORMAT, "tables": _tables()}
    if note.exists() and json.loads(note.read_text()) == expected:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    started = time.monotonic()
    _in_another_process(folder, size)
    note.write_text(json.dumps(expected))
    mib = (folder / "day1.sqlite3").stat().st_size / 2**20
    print(f"store of {size.facts} facts built in {time.monotonic() - started:.0f} s, {mib:.0f} MiB")
    return folder


def _tables() -> list[str]:
    folder = local_engine.ROOT / "memory" / "migrations"
    return [f"{path.name} {path.stat().st_size}" for path in sorted(folder.glob("0*.py"))]


def _in_another_process(folder: Path, size: Size) -> None:
    """Build in another process: this one opens a copy, and Django takes one data folder per process."""
    import subprocess
    import sys

    command = [sys.executable, "-m", "bench.store_builder", str(folder), str(size.facts), str(size.old)]
    subprocess.run(command, cwd=local_engine.ROOT, check=True)


def build(folder: Path, size: Size) -> None:
    local_engine.set_up(folder, "off")
    from django.db import connection, transaction

    from day1site.server.provisioning import prepare
    from memory.db.backend import get_index
    from memory.models import Branch, Project

    prepare(folder, "http://127.0.0.1:0")
    project = Project.objects.get(slug="default")
    main = Branch.objects.get(project=project, name="main")
    with transaction.atomic():
        Builder(project.pk, main, size).write()
    get_index().optimize()  # the statistics that the scheduled task would leave
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


class Builder:
    def __init__(self, project_id: Any, main: Any, size: Size) -> None:
        self.project_id, self.main, self.size = project_id, main, size
        self.rng = np.random.default_rng(SEED)
        self.words = Vocabulary(self.rng)
        self.start = datetime.now(UTC) - timedelta(days=DAYS)
        self.step = timedelta(days=DAYS) / size.facts

    def write(self) -> None:
        from memory.models import Branch

        texts = list(self.words.texts(self.size.facts))
        self.values = [self._values(i) for i in range(self.size.facts)]
        self.uids = [self._uid(self._created(i)) for i in range(self.size.facts)]
        for version in range(self.size.rounds):
            self._round(version, texts)
        self._commits(self.main, self.size.head)
        self._vectors(texts)
        Branch.objects.filter(pk=self.main.pk).update(head=self.size.head, head_at=self._now())
        self._sessions()
        self._verdicts(texts)
        self._child(texts)
        self._clock()

    # ---- facts -----------------------------------------------------------------------------------

    def _values(self, i: int) -> dict[str, Any]:
        """Return the values that all versions of a fact share; each rare value is in 1 %, independently."""
        random = self.rng.random(6)
        common = ("general", "decision", "pattern", "bug_fix", "architecture", "insight")
        status = "done" if random[0] < 0.01 else "archived" if random[0] < 0.02 else "active"
        return {
            "category": RARE["category"] if random[1] < 0.01 else common[int(random[1] * 600) % 6],
            "kind": RARE["kind"] if random[2] < 0.01 else "OBSERVATION",
            "status": status,
            "held_status": "active" if status == "archived" else "",
            "session_id": f"s-{i * 100 // self.size.facts}",
            "agent_id": f"a-{int(random[3] * 100)}",
            "confidence": round(0.4 + 0.6 * float(random[4]), 3),
            "tags": json.dumps([f"t{int(random[5] * 10)}"]),
        }

    def _round(self, version: int, texts: Sequence[str]) -> None:
        """Write the n-th version of every fact, in batches of one commit each."""
        last = version == self.size.old
        for batch in range(self.size.batches):
            indexes = range(batch * BATCH, (batch + 1) * BATCH)
            seq = version * self.size.batches + batch + 1
            ends = None if last else seq + self.size.batches
            rows = [self._version(i, version, seq, ends, texts[i]) for i in indexes]
            insert_facts(rows)
            index(rows, ends)

    def _version(self, i: int, version: int, seq: int, ends: int | None, text: str) -> dict[str, Any]:
        rid = self._rid(version * self.size.facts + i)
        before = self._rid((version - 1) * self.size.facts + i) if version else None
        says = text if version == self.size.old else edited(text, version)
        span = {"seq_from": seq, "rid": rid, "vid": rid, "prev_vid": before, "version": version + 1}
        if ends is not None:
            span["seq_to"] = ends
        slot = f"{self.main.pk}:{self.uids[i]}" if ends is None else None
        dated = {"created_at": self._created(i), "updated_at": self._created(i)}
        fixed = {"uid": self.uids[i], "branch_id": self.main.pk, "slot": slot, "fact_text": says}
        return {**self.values[i], **span, **fixed, **dated}

    def _created(self, i: int) -> datetime:
        return self.start + i * self.step

    def _now(self) -> datetime:
        return self.start + timedelta(days=DAYS)

    def _rid(self, number: int) -> int:
        return (10_000_000_000 + number) << 22 | NODE

    def _uid(self, when: datetime) -> str:
        """Return a UUID version 7 of that time."""
        low, high = self.rng.integers(0, 2**62), int(self.rng.integers(0, 2**12))
        return f"{int(when.timestamp() * 1000) << 80 | 7 << 76 | high << 64 | 2 << 62 | int(low):032x}"

    # ---- commits, vectors, verdicts --------------------------------------------------------------

    def _commits(self, branch: Any, head: int, added: int = BATCH) -> None:
        from memory.models import Commit

        whom = {"actor_kind": "system", "actor_label": "bench", "surface": "engine", "kind": "fact.bulk"}
        step = timedelta(days=DAYS) / (head + 1)
        commits = (
            Commit(branch=branch, seq=seq, at=self.start + seq * step, added=added, **whom)
            for seq in range(1, head + 1)
        )
        Commit.objects.bulk_create(commits, batch_size=500)

    def _vectors(self, texts: Sequence[str]) -> None:
        """Write vectors and word codes of the open versions' texts, as the worker would."""
        from memory.models import hashes
        from memory.models.vectors import vector_slot

        columns = "slot, project_id, model, content_hash, n, state, attempts, next_try, error, text, data"
        sql = f"INSERT INTO memory_vector ({columns}, words) VALUES ({', '.join(['%s'] * 12)})"
        project, now = self.project_id.hex, plain(self._now())
        for start in range(0, len(texts), BATCH):
            portion = texts[start : start + BATCH]
            data = self.words.unit(len(portion), DIMENSIONS)
            words = self.rng.bytes(len(portion) * CODED_WORDS * DIMENSIONS // 8)
            width = len(words) // len(portion)
            rows = []
            for at, text in enumerate(portion):
                value = hashes.content_hash(text)
                slot = vector_slot(self.project_id, MODEL, value)
                codes = words[at * width : (at + 1) * width]
                row = (slot, project, MODEL, value, 1, "ready", 0, now, "", "", data[at].tobytes(), codes)
                rows.append(row)
            run_many(sql, rows)

    def _clock(self) -> None:
        from memory.models import VectorClock

        VectorClock.objects.update_or_create(project_id=self.project_id, defaults={"n": 1})

    def _sessions(self) -> None:
        from memory.models import Session

        portion = (
            Session(project_id=self.project_id, key=f"s-{n}", branch=self.main, started_at=self.start)
            for n in range(100)
        )
        Session.objects.bulk_create(portion)

    def _verdicts(self, texts: Sequence[str]) -> None:
        """Write verdicts: 10 % verified, 1 % invalidated."""
        from memory.models import FactAssessment, hashes
        from memory.models.nodes import next_rid

        next_rid.ensure_lease()
        rows = []
        for i in np.flatnonzero(self.rng.random(self.size.facts) < 0.11):
            rid, essence = next_rid(), compute_essence(texts[i])
            judged = hashes.judged_hash(texts[i], essence, self.values[i]["category"])
            status = "invalidated" if len(rows) % 11 == 0 else "verified"
            span = {"rid": rid, "vid": rid, "seq_from": self.size.head, "branch": self.main}
            identity = {"uid": self.uids[i], "slot": f"{self.main.pk}:{self.uids[i]}", "judged_hash": judged}
            verdict = {"status": status, "method": "human", "by": "bench"}
            dated = dict.fromkeys(("at", "created_at", "updated_at"), self._now())
            rows.append(FactAssessment(**span, **identity, **verdict, **dated))
        FactAssessment._base_manager.bulk_create(rows, batch_size=500)

    def _child(self, texts: Sequence[str]) -> None:
        """Create a branch with 700 edits, 200 facts of its own and 100 deletions, in ten commits."""
        from memory.models import Branch

        child = Branch.objects.create(
            project_id=self.project_id,
            name=CHILD,
            parent=self.main,
            fork_seq=self.size.head,
            depth=1,
            ancestors=[[self.main.pk, self.size.head]],
            head=10,
            head_at=self._now(),
            created_at=self._now(),
        )
        own = list(self.words.texts(CHILD_CHANGES))
        chosen = self.rng.choice(self.size.facts, CHILD_CHANGES, replace=False)
        rows = [self._own(child, int(i), offset, own[offset]) for offset, i in enumerate(chosen)]
        insert_facts(rows)
        index([row for row in rows if not row["deleted"]])
        self._vectors([row["fact_text"] for row in rows if not row["deleted"]])
        self._commits(child, 10, CHILD_CHANGES // 10)

    def _own(self, child: Any, i: int, offset: int, text: str) -> dict[str, Any]:
        rid = self._rid(self.size.rounds * self.size.facts + offset)
        new, gone = offset % 10 in (0, 1), offset % 10 == 2
        uid = self._uid(self._now() + timedelta(seconds=offset)) if new else self.uids[i]
        before = None if new else self._rid(self.size.old * self.size.facts + i)
        span = {"seq_from": offset * 10 // CHILD_CHANGES + 1, "rid": rid, "vid": rid, "prev_vid": before}
        state = {"deleted": gone, "slot": None if gone else f"{child.pk}:{uid}", "version": 2 - new}
        fixed = {"uid": uid, "branch_id": child.pk, "fact_text": text}
        dated = {"created_at": self._created(i), "updated_at": self._now()}
        return {**self.values[i], **span, **state, **fixed, **dated}


# ---- rows as they are stored -----------------------------------------------------------------------


def insert_facts(rows: Sequence[dict[str, Any]]) -> None:
    """Insert rows directly into the table, with the model's defaults for missing values."""
    from memory.models import Fact

    fields = {f.attname: f.column for f in Fact._meta.concrete_fields}
    defaults = _defaults()
    columns = ", ".join(f'"{column}"' for column in fields.values())
    sql = f"INSERT INTO memory_fact ({columns}) VALUES ({', '.join(['%s'] * len(fields))})"
    run_many(sql, (list(_whole(row, defaults, fields)) for row in rows))


def _defaults() -> dict[str, Any]:
    """Return the stored form of the default of each column of a fact."""
    from django.db import connection

    from memory.models import Fact

    fields, now = Fact._meta.concrete_fields, datetime.now(UTC)
    empty = Fact(created_at=now, updated_at=now)
    return {f.attname: f.get_db_prep_save(getattr(empty, f.attname), connection) for f in fields}


def _whole(row: dict[str, Any], defaults: dict[str, Any], names: Any) -> Iterator[Any]:
    from memory.models import hashes

    text = row["fact_text"]
    essence = compute_essence(text)
    made = {
        "essence": essence,
        "content_hash": hashes.content_hash(text),
        "norm_hash": hashes.norm_hash(text),
        "judged_hash": hashes.judged_hash(text, essence, row["category"]),
        "created_at": plain(row["created_at"]),
        "updated_at": plain(row["updated_at"]),
    }
    full = {**defaults, **row, **made}
    return (full[name] for name in names)


def index(rows: Sequence[dict[str, Any]], ends: int | None = None) -> None:
    """Add the versions to the full-text index, through the index itself."""
    from memory.db.backend import get_index
    from memory.models import Fact

    names = (
        "rid",
        "branch_id",
        "seq_from",
        "fact_text",
        "category",
        "kind",
        "status",
        "session_id",
        "agent_id",
    )
    span = {"seq_to": ends} if ends else {}
    facts = [Fact(uid=row["uid"], **{name: row[name] for name in names}, **span) for row in rows]
    (get_index().index_closed if ends else get_index().index_rows)(facts)


def compute_essence(text: str) -> str:
    from memory.engines.facts.rules import compute_essence as line

    return line(text)


def plain(when: datetime) -> str:
    from django.db import connection

    return connection.ops.adapt_datetimefield_value(when)


def run_many(sql: str, rows: Any) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.executemany(sql, rows)


def open_texts(folder: Path) -> tuple[list[tuple[int, str]], np.ndarray]:
    """Return (row id, text) of the facts on main, and their vectors in the same order."""
    database = sqlite3.connect(folder / "day1.sqlite3")
    found = database.execute(
        "SELECT f.rid, f.fact_text, v.data FROM memory_fact f JOIN memory_vector v"
        " ON v.content_hash = f.content_hash JOIN memory_branch b ON b.id = f.branch_id"
        " WHERE b.name = 'main' AND f.slot IS NOT NULL ORDER BY f.rid"
    ).fetchall()
    database.close()
    vectors = np.frombuffer(b"".join(row[2] for row in found), dtype="<f4").reshape(len(found), -1)
    return [(rid, text) for rid, text, _ in found], vectors


if __name__ == "__main__":
    import sys

    build(Path(sys.argv[1]), Size(int(sys.argv[2]), int(sys.argv[3])))

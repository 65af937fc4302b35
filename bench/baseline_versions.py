"""Baselines of diff, plan, merge and revert on SQLite: the statements that the step cannot do without, bare.

The rows that the engine wrote are inserted again into a copy of the earlier store, as in ``BareRows``.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.baseline_sqlite import opened

BATCH_SIZE = 500
NEAR = 0.85
OPEN = 2**62


class BareVersions:
    def __init__(self, store: Path, copy: Path) -> None:
        self.source, self.target = opened(store), opened(copy)

    # ---- reading -------------------------------------------------------------------------------

    def diff(self, branch: int, main: int, fork: int) -> list[tuple]:
        """Read what a branch changed, the target's versions of it, and the verdicts on both."""
        own = self.source.execute(
            "SELECT * FROM memory_fact WHERE branch_id = ? AND seq_to = ?", (branch, OPEN)
        )
        uid = [column[0] for column in own.description].index("uid")
        rows = own.fetchall()
        uids = [row[uid] for row in rows]
        for start in range(0, len(uids), BATCH_SIZE):
            self._read_target(main, fork, uids[start : start + BATCH_SIZE])
        return rows

    def _read_target(self, main: int, fork: int, uids: Sequence[str]) -> None:
        marks = ", ".join("?" * len(uids))
        at_fork = f"branch_id = ? AND uid IN ({marks}) AND seq_from <= ? AND seq_to > ?"
        for table in ("memory_fact", "memory_factassessment"):
            sql = f"SELECT * FROM {table} WHERE {at_fork}"
            self.source.execute(sql, (main, *uids, fork, fork)).fetchall()

    def plan(self, branch: int, main: int, fork: int, new: np.ndarray, known: np.ndarray) -> int:
        """Read as ``diff`` does, look for the new texts, compare new vectors with all; count the near."""
        self.diff(branch, main, fork)
        sql = "SELECT norm_hash FROM memory_fact WHERE branch_id = ? AND version = 1 AND seq_to = ?"
        texts = [value for (value,) in self.source.execute(sql, (branch, OPEN))]
        for start in range(0, len(texts), BATCH_SIZE):
            some = texts[start : start + BATCH_SIZE]
            marks = ", ".join("?" * len(some))
            sql = f"SELECT uid FROM memory_fact WHERE branch_id = ? AND norm_hash IN ({marks})"
            self.source.execute(sql, (main, *some)).fetchall()
        return int(((known @ new.T) > NEAR).any(axis=0).sum())

    # ---- writing -------------------------------------------------------------------------------

    def take(self, main: int, seq: int) -> "Rows":
        """Return what a commit wrote and closed."""
        made = self.source.execute(
            "SELECT * FROM memory_fact WHERE branch_id = ? AND seq_from = ?", (main, seq)
        ).fetchall()
        closed = self.source.execute(
            "SELECT rid FROM memory_fact WHERE branch_id = ? AND seq_to = ?", (main, seq)
        ).fetchall()
        commit = self.source.execute(
            "SELECT * FROM memory_commit WHERE branch_id = ? AND seq = ?", (main, seq)
        ).fetchall()
        audit = self.source.execute("SELECT * FROM memory_auditentry ORDER BY id DESC LIMIT 1").fetchall()
        rids = [row[0] for row in closed]
        index = self._indexed(
            "memory_fact_fts", "rowid IN (SELECT rid FROM memory_fact WHERE seq_from = ?)", seq
        )
        pinned = self._indexed(
            "memory_fact_fts", "rowid IN (SELECT rid FROM memory_fact WHERE seq_to = ?)", seq
        )
        past = self._indexed(
            "memory_fact_fts_closed", "rowid IN (SELECT rid FROM memory_fact WHERE seq_to = ?)", seq
        )
        return Rows(main, seq, made, rids, index, pinned, past, commit, audit)

    def _indexed(self, table: str, where: str, seq: int) -> list[tuple]:
        return self.source.execute(f"SELECT rowid, text, tok FROM {table} WHERE {where}", (seq,)).fetchall()

    def write(self, rows: "Rows") -> None:
        """Write rows in one transaction: close versions, add others, keep the index and the books."""
        run = self.target.executemany
        self.target.execute("BEGIN IMMEDIATE")
        self.target.execute("SELECT head FROM memory_branch WHERE id = ?", (rows.branch,)).fetchall()
        close = "UPDATE memory_fact SET seq_to = ?, slot = NULL WHERE rid = ?"
        run(close, [(rows.seq, rid) for rid in rows.closed])
        run(insert_sql("memory_fact", rows.made), rows.made)
        pinned = {row[0] for row in rows.pinned}
        run(
            "DELETE FROM memory_fact_fts WHERE rowid = ?",
            [(rid,) for rid in rows.closed if rid not in pinned],
        )
        run("UPDATE memory_fact_fts SET tok = ? WHERE rowid = ?", [(tok, rid) for rid, _, tok in rows.pinned])
        run("INSERT INTO memory_fact_fts_closed (rowid, text, tok) VALUES (?, ?, ?)", rows.past)
        run("INSERT INTO memory_fact_fts (rowid, text, tok) VALUES (?, ?, ?)", rows.index)
        run(insert_sql("memory_commit", rows.commit), rows.commit)
        run(insert_sql("memory_auditentry", rows.audit), rows.audit)
        self.target.execute("UPDATE memory_branch SET head = ? WHERE id = ?", (rows.seq, rows.branch))
        self.target.execute("COMMIT")


class Rows:
    """What one commit wrote: new versions, closed ones, entries of the index, commit and audit entry."""

    def __init__(self, branch: int, seq: int, made: list, closed: list, *others: list) -> None:
        self.branch, self.seq, self.made, self.closed = branch, seq, made, closed
        self.index, self.pinned, self.past, self.commit, self.audit = others


def insert_sql(table: str, rows: Sequence[tuple[Any, ...]]) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})"

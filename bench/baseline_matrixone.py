"""Baseline for MatrixOne: the minimum SQL of a search, a write and a branch, on a connection of its own.

A search reads its branch, both arms, the candidates' rows, and the verdicts and confirmations that rank them.
A write locks its branch, looks for the same text, and stores its fact, its commit, its audit entry and the
new head; a branch reads its parent, and stores itself and its audit entry.
"""

import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from bench.engine_search import Query
from bench.report import timed

TOP = 60
TIMES, WARM = 30, 3
NODE = "memory_nodelease"  # leased now and then, independent of single writes
NAMED = "FROM memory_branch WHERE project_id = %s AND name = 'main'"


class Bare:
    def __init__(self) -> None:
        from django.db import connections

        self.connection = connections["default"].copy()

    def ask(self, sql: str, *params: Any) -> list[tuple]:
        with self.connection.cursor() as cursor:
            cursor.execute(sql, params)
            return list(cursor.fetchall())

    def run(self, sql: str, *params: Any) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(sql, params)


class BareSearch(Bare):
    def __init__(self, project_id: Any) -> None:
        super().__init__()
        self.project = project_id.hex

    def search(self, query: Query) -> None:
        from memory.db.matrixone import vector_sql
        from memory.db.matrixone.boolean_patterns import build_pattern, list_phrases

        ((branch, head),) = self.ask(f"SELECT id, head {NAMED}", self.project)
        pattern, match = (
            build_pattern(list_phrases(query.words)),
            "MATCH(fact_text) AGAINST (%s IN BOOLEAN MODE)",
        )
        found = self.ask(
            f"SELECT rid, {match} s FROM memory_fact WHERE {match} AND branch_id = %s AND seq_from <= %s"
            " AND seq_to > %s AND NOT deleted ORDER BY s DESC LIMIT %s",
            pattern,
            pattern,
            branch,
            head,
            head,
            TOP,
        )
        near = self.ask(
            "SELECT f.rid, v.s FROM (SELECT content_hash, cosine_similarity(e, %s) s FROM memory_vector_384"
            " WHERE project_id = %s ORDER BY s DESC LIMIT %s) v"
            " JOIN memory_fact f ON f.content_hash = v.content_hash WHERE f.branch_id = %s AND f.seq_to > %s",
            vector_sql.vector_literal(query.vector),
            self.project,
            2 * TOP,
            branch,
            head,
        )
        rids = ", ".join(str(rid) for rid, _ in found + near[:TOP])
        uids = [row[0] for row in self.ask(f"SELECT uid, f.* FROM memory_fact f WHERE rid IN ({rids})")]
        marks = ", ".join(["%s"] * len(uids))
        self.ask(f"SELECT uid, status, judged_hash FROM memory_factassessment WHERE uid IN ({marks})", *uids)
        self.ask(f"SELECT uid, source FROM memory_confirmation WHERE uid IN ({marks})", *uids)


class BareWrites(Bare):
    """Baseline of writes: an engine's rows, stored again under other keys in an otherwise empty project."""

    def __init__(self, slug: str) -> None:
        super().__init__()
        from bench import local_engine

        self.project = local_engine.local(slug).project_id.hex
        self.seen: list[tuple[str, Any]] = []
        self.copies: list[str] = []
        self.database = self.connection.settings_dict["NAME"]

    def time_beside_reference(
        self, work: Callable[[], None], bare: Callable[[], None], turns: int = TIMES, warm: int = WARM
    ) -> tuple[list[float], list[float]]:
        """Measure the engine and the baseline alternately; return the milliseconds of each."""
        from django.db import connection

        took, plain = [], []
        for _ in range(turns):
            self.seen = []
            with connection.execute_wrapper(self._record):
                took.append(timed(work))
            plain.append(timed(bare))
        return took[warm:], plain[warm:]

    def _record(self, run: Callable, sql: str, params: Any, many: bool, context: dict) -> Any:
        if sql.startswith("INSERT") and NODE not in sql:
            self.seen.append((sql, params[0] if many else params))
        return run(sql, params, many, context)

    def commit(self) -> None:
        self.run("BEGIN")
        ((branch, head, at),) = self.ask(f"SELECT id, head, head_at {NAMED} FOR UPDATE", self.project)
        self.ask(
            "SELECT rid FROM memory_fact WHERE norm_hash = %s AND branch_id = %s AND seq_from <= %s"
            " AND seq_to > %s AND NOT deleted",
            uuid4().hex * 2,
            branch,
            head,
            head,
        )
        self._insert(branch, head + 1)
        self.run("UPDATE memory_branch SET head = %s, head_at = %s WHERE id = %s", head + 1, at, branch)
        self.run("COMMIT")

    def fork(self) -> None:
        self.run("BEGIN")
        ((branch, head),) = self.ask(f"SELECT id, head {NAMED}", self.project)
        self._insert(branch, head)
        self.run("COMMIT")

    def snapshot(self) -> None:
        """Create a snapshot, read the points of its branches, and store its row."""
        name = self._made("CREATE SNAPSHOT {} FOR DATABASE `{}`", "DROP SNAPSHOT")
        self._kept(f"memory_branch {{SNAPSHOT = '{name}'}}")

    def workspace(self) -> None:
        name = self._made("DATA BRANCH CREATE DATABASE {} FROM `{}`", "DATA BRANCH DELETE DATABASE")
        self._kept(f"{name}.memory_branch")

    def _made(self, make: str, drop: str) -> str:
        name = f"bare_{uuid4().hex}"
        self.run(make.format(name, self.database))
        self.copies.append(f"{drop} {name}")
        return name

    def _kept(self, branches: str) -> None:
        self.ask(f"SELECT id, head, archived_at FROM {branches} WHERE project_id = %s", self.project)
        self.run("BEGIN")
        self._insert(0, 0)
        self.run("COMMIT")

    def drop(self) -> None:
        """Drop the copies made by this baseline."""
        for drop in self.copies:
            self.run(drop)

    def _insert(self, branch: int, seq: int) -> None:
        for sql, params in self.seen:
            self.run(sql, *self._renewed(sql, params, branch, seq))

    def _renewed(self, sql: str, params: Any, branch: int, seq: int) -> list[Any]:
        """Return the values of the same row under unused keys, on the branch of this project."""
        table, *columns = re.findall(r"`(\w+)`", sql.split("VALUES")[0])
        row, fresh = dict(zip(columns, params, strict=True)), uuid4()
        rid = fresh.int >> 66
        new = {
            "rid": rid,
            "vid": rid,
            "uid": fresh.hex,
            "project_id": self.project,
            "branch_id": branch,
            "seq": seq,
            "seq_from": seq,
            "slot": f"{branch}:{fresh.hex}",
            "parent_id": None,
            "id": fresh.hex if isinstance(row.get("id"), str) else rid,
        }
        if table == "memory_branch":
            new |= {"name": f"bare/{fresh.hex}", "parent_id": branch, "fork_seq": seq}
        return list((row | {name: new[name] for name in new if name in row}).values())

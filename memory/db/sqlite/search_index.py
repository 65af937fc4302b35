"""Full text and vectors on SQLite. The only place that says MATCH or bm25."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from django.core.exceptions import EmptyResultSet
from django.db import models

from memory.db.indexes import FullTextIndex, full_text_index
from memory.db.later import beside
from memory.db.querysets import Ranked, VersionedQuerySet
from memory.db.sqlite.closed import ClosedVersions, narrowed, text_of
from memory.db.sqlite.resident import resident_of
from memory.db.tokens import HELD, OPEN, state_token, tokens
from memory.db.words import phrases, spaced

MOST_PHRASES = 200
FEW = 3000  # versions that were written by a past point: to read them is quicker than to walk the index

_shares: dict[tuple, tuple[float, float]] = {}  # how much of an index some branches are, and until when

# Rows of a table, then rows that share the first, the first two, … columns of an index, by its name's end.
STATISTICS = {
    "buid": "400000 40000 4 1",
    "bseq": "400000 40000 4 1",
    "bopen": "400000 40000 20000",
    "uid": "400000 4",
    "bnorm": "400000 40000 4",
    "bsession": "400000 40000 400 4",
    "bstatus": "400000 40000 10000",
    "bconversation": "400000 40000 40 1",
    "bsource": "400000 40000 4",
    "btarget": "400000 40000 4",
}


class SearchIndex:
    """What a connection can search; rows are written by the committing transaction itself."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.closed = ClosedVersions(connection)
        self._others: Sequence[int] = ()

    # ---- writing -------------------------------------------------------------------------------

    def add(self, rows: Sequence[Any]) -> None:
        """Index new open versions, in the transaction that made them."""
        if rows and (index := full_text_index(type(rows[0]))):
            self._insert(index, rows, OPEN)

    def close(self, rows: Sequence[Any], held: Iterable[bool], seq: int) -> None:
        """Versions of one model that a commit closed: kept among the open ones too, where a branch was
        forked while they were open.
        """
        if not rows or not (index := full_text_index(type(rows[0]))):
            return
        self.closed.add(index, [(row, seq) for row in rows if not row.deleted])
        for row, keep in zip(rows, held, strict=True):
            if keep:
                sql = f'UPDATE "{index.name}" SET tok = %s WHERE rowid = %s'
                self._run(sql, tokens(index, row, _state(row, HELD)), row.pk)
            else:
                self._run(f'DELETE FROM "{index.name}" WHERE rowid = %s', row.pk)

    def hold(self, rows: Sequence[Any]) -> None:
        """Index closed versions that a branch forked from a past point shows."""
        self.release(rows)
        if rows and (index := full_text_index(type(rows[0]))):
            self._insert(index, rows, HELD)

    def release(self, rows: Sequence[Any]) -> None:
        """Closed versions that no branch shows at its head any more."""
        if rows and (index := full_text_index(type(rows[0]))):
            for row in rows:
                self._run(f'DELETE FROM "{index.name}" WHERE rowid = %s', row.pk)

    def keep(self, rows: Sequence[Any]) -> None:
        """Index closed versions, for searches at past points."""
        if rows and (index := full_text_index(type(rows[0]))):
            self.closed.add(index, [(row, row.seq_to) for row in rows])

    def begin_closed(self, editor: Any, closed: models.QuerySet) -> None:
        """For the migration of a store that was made before closed versions were indexed: these."""
        index = full_text_index(closed.model)
        assert index is not None
        editor.add_closed(index)
        self._run(f'DELETE FROM "{index.closed}"')  # of an earlier run
        self.closed.add(index, ((row, row.seq_to) for row in closed.iterator(2000)))

    def remove(self, rows: Sequence[Any]) -> None:
        """Versions whose rows go, or are indexed anew. Their keys are enough."""
        self.release(rows)
        if rows and (index := full_text_index(type(rows[0]))):
            self.closed.remove(index, [row.pk for row in rows])

    def clear(self, model: type[models.Model]) -> None:
        """Empty the index of a model, before it is filled anew."""
        if index := full_text_index(model):
            self._run(f'DELETE FROM "{index.name}"')
            self._run(f'DELETE FROM "{index.closed}"')

    def optimize(self) -> None:
        """Statistics for the planner; cheap when little has changed."""
        # All rows are counted (a third of a second at 400,000): a sample is taken for the whole, and
        # the planner then walks an index where it should have looked up a key.
        self._run("PRAGMA analysis_limit = 0")
        self._run("PRAGMA optimize")

    def keep_up(self, project_id: Any, model: str) -> None:
        """After vectors became ready: the copies in memory look for themselves."""

    def forget(self, project_id: Any, slots: Sequence[str]) -> None:
        """After vectors of a project were deleted: the copies in memory see it by the project's epoch."""

    def seed_statistics(self) -> None:
        """What the planner should take a grown store for, until its own statistics replace it.

        Without them it prefers (branch, seq_to), which half of a branch shares, for every look-up.
        """
        with self.connection.cursor() as cursor:
            cursor.execute("ANALYZE sqlite_master")  # makes sqlite_stat1
            cursor.execute(
                "SELECT tbl_name, name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
            )
            indexes = [
                (table, name, STATISTICS.get(name.rsplit("_", 1)[-1])) for table, name in cursor.fetchall()
            ]
            cursor.execute("SELECT idx FROM sqlite_stat1")
            known = {name for (name,) in cursor.fetchall()}
            missing = [entry for entry in indexes if entry[2] and entry[1] not in known]
            cursor.executemany("INSERT INTO sqlite_stat1 VALUES (%s, %s, %s)", missing)
            cursor.execute("ANALYZE sqlite_master")  # makes the planner read them

    def _insert(self, index: FullTextIndex, rows: Sequence[Any], letters: str) -> None:
        column = index.fields[0]
        values = [
            (row.pk, spaced(getattr(row, column)), tokens(index, row, _state(row, letters))) for row in rows
        ]
        with self.connection.cursor() as cursor:
            cursor.executemany(f'INSERT INTO "{index.name}" (rowid, text, tok) VALUES (%s, %s, %s)', values)

    def _run(self, sql: str, *params: Any) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(sql, params)

    def _rows(self, sql: str, *params: Any) -> list[tuple]:
        with self.connection.cursor() as cursor:
            cursor.execute(sql, params)
            return cursor.fetchall()

    # ---- keyword -------------------------------------------------------------------------------

    def keyword(
        self, rows: VersionedQuerySet, words: Sequence[str], k: int, also: Sequence[int]
    ) -> tuple[Ranked, Ranked]:
        """See VersionedQuerySet.keyword. One pass over the index gives both lists."""
        found = list(dict.fromkeys(p for word in words for p in phrases(word)))[:MOST_PHRASES]
        if not found:
            return [], []
        try:
            with self.connection.snapshot():  # no commit may come between the look at the head and the walk
                return self._found(rows, found, k, also)
        except EmptyResultSet:  # a filter that nothing can pass
            return [], []

    def _found(
        self, rows: VersionedQuerySet, phrases: Sequence[str], k: int, also: Sequence[int]
    ) -> tuple[Ranked, Ranked]:
        if self.covers(rows):
            return self._walk(rows, phrases, k, also)
        if self._better_read(rows):
            return self._read(rows, phrases, k, also)
        return self._walk_past(rows, phrases, k, also)

    def _walk(
        self, rows: VersionedQuerySet, phrases: Sequence[str], k: int, also: Sequence[int]
    ) -> tuple[Ranked, Ranked]:
        """What is open, or held for a branch."""
        index = full_text_index(rows.model)
        assert index is not None
        narrow, text = self._narrow(index, rows), text_of(phrases)
        sql = f'SELECT rowid AS r, rank AS s FROM "{index.name}" WHERE "{index.name}" MATCH %s'
        return self._ranked(sql, [f"{narrow} AND {text}" if narrow else text], rows, k, also)

    def _walk_past(
        self, rows: VersionedQuerySet, phrases: Sequence[str], k: int, also: Sequence[int]
    ) -> tuple[Ranked, Ranked]:
        """What was visible then: some of it is open still, the rest was closed since."""
        index = full_text_index(rows.model)
        assert index is not None
        best, others = self._walk(rows, phrases, k, also)
        sql, values = self.closed.matches(index, rows, phrases)
        if not sql:
            return best, others
        more, more_others = self._ranked(sql, values, rows, k, also)
        # What is held stands in both.
        return _sorted({**dict(more), **dict(best)})[:k], list({**dict(more_others), **dict(others)}.items())

    def covers(self, rows: VersionedQuerySet) -> bool:
        """Whether index and memory hold what the rows' lineage shows: a branch at its head does.

        Not inside a transaction: its own rows are not indexed yet, and may never be committed.
        """
        if self.connection.in_atomic_block:
            return False
        branch, limit = (rows._lineage or ((0, 0),))[0]
        notes = {} if self.connection.notes is None else self.connection.notes
        if ("covers", branch, limit) not in notes:
            known = "SELECT 1 FROM memory_branch WHERE id = %s AND head <= %s AND indexed"
            notes["covers", branch, limit] = bool(self._rows(known, branch, limit))
        return notes["covers", branch, limit]

    def _better_read(self, rows: VersionedQuerySet) -> bool:
        """Whether what is not covered is read from the database alone: in a transaction, or few rows."""
        return self.connection.in_atomic_block or rows.had_begun(FEW)

    def _narrow(self, index: FullTextIndex, rows: VersionedQuerySet) -> str:
        """The tokens that a row must have; "" where they would leave in most rows.

        To rank by a token that nearly every row has costs half as much again as the words do. The walk
        looks at each row's visibility anyway: tokens only spare it rows.
        """
        lineage = rows._lineage or ()
        if not rows._tokens and self._most(index.name, [branch for branch, _ in lineage]):
            return ""
        states = [False, True] if not rows._only_searchable else [True]
        branches = [state_token(b, OPEN, s) for b, _ in lineage for s in states]
        branches += [state_token(b, HELD, s) for b, _ in lineage[1:] for s in states]
        narrow = [" OR ".join(branches)]
        return " AND ".join(f"tok:({some})" for some in [*narrow, *narrowed(index, rows)])

    def _most(self, table: str, branches: Sequence[int]) -> bool:
        """Whether at least half of the index belongs to these branches, as of a minute ago."""
        key = (str(self.connection.settings_dict["NAME"]), table, *branches)
        share, until = _shares.get(key, (0.0, 0.0))
        if until < time.monotonic():
            share = self._share(table, branches)
            _shares[key] = (share, time.monotonic() + 60)
            while len(_shares) > 1000:
                _shares.pop(next(iter(_shares)), None)
        return share >= 0.5

    def _share(self, table: str, branches: Sequence[int]) -> float:
        tokens = " OR ".join(state_token(b, OPEN, True) for b in branches)
        with self.connection.cursor() as cursor:
            cursor.execute(f'SELECT count(*) FROM "{table}" WHERE "{table}" MATCH %s', [f"tok:({tokens})"])
            (own,) = cursor.fetchone()
            cursor.execute(f'SELECT count(*) FROM "{table}_docsize"')
            (every,) = cursor.fetchone()
        return own / every if every else 0.0

    def _ranked(
        self, matches: str, values: Sequence[str], rows: VersionedQuerySet, k: int, also: Sequence[int]
    ) -> tuple[Ranked, Ranked]:
        """Of the matches (SQL for r and s) the best k that are visible, and those of ``also``."""
        check, params = rows.shows("ranked.r")
        # LIMIT -1 keeps SQLite from dropping the order of the inner query: the walk stops at the k-th
        # visible row and has looked at no more rows than that. The scores of `also` come from the same
        # pass (a second one would cost as much as the first), which asks for them when it is done: until
        # then another thread may be looking for them.
        sql = f"""
            WITH m AS MATERIALIZED ({matches})
            SELECT 0, r, s FROM (
              SELECT ranked.r, ranked.s FROM (SELECT r, s FROM m ORDER BY s LIMIT -1) ranked
              WHERE {check} LIMIT %s)
            UNION ALL SELECT 1, r, s FROM m WHERE r IN (SELECT value FROM json_each(day1_others()))"""
        self._others = also
        with self.connection.cursor() as cursor:
            cursor.execute(sql, [*values, *params, k])
            found = cursor.fetchall()
        best = _sorted({r: -s for kind, r, s in found if kind == 0})
        return best, [(r, -s) for kind, r, s in found if kind == 1]

    def others(self) -> str:
        """The row ids whose scores a walk is to tell as well: what day1_others() gives in SQL."""
        return json.dumps([int(rid) for rid in self._others])

    def _read(
        self, rows: VersionedQuerySet, phrases: Sequence[str], k: int, also: Sequence[int]
    ) -> tuple[Ranked, Ranked]:
        """What no index knows, or few rows: index what is visible, and ask that."""
        index = full_text_index(rows.model)
        assert index is not None
        visible = rows.early().order_by().values_list("pk", index.fields[0])
        with self.connection.scratch(), self.connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS temp.past")
            cursor.execute(
                "CREATE VIRTUAL TABLE temp.past USING fts5(text, content='', tokenize='porter unicode61')"
            )
            values = ((pk, spaced(value)) for pk, value in visible.iterator(2000))
            cursor.executemany("INSERT INTO temp.past (rowid, text) VALUES (%s, %s)", values)
            cursor.execute("SELECT rowid, -rank FROM temp.past WHERE past MATCH %s", [text_of(phrases)])
            found = _sorted(dict(cursor.fetchall()))
            cursor.execute("DROP TABLE temp.past")
        wanted = set(also)
        return found[:k], [hit for hit in found if hit[0] in wanted]

    # ---- vectors -------------------------------------------------------------------------------

    def load(self, rows: VersionedQuerySet, model: str, project_id: Any) -> None:
        """Have the vectors in memory that a search of these rows compares."""
        resident = resident_of(self.connection, rows.model, project_id, model)
        with self.connection.snapshot():
            resident.load(rows._lineage or ())

    def nearest(
        self, rows: VersionedQuerySet, vector: np.ndarray, k: int, model: str, project_id: Any
    ) -> Sequence[tuple[int, float]]:
        """See VersionedQuerySet.nearest_later. Exact: every visible vector is compared."""
        resident = resident_of(self.connection, rows.model, project_id, model)
        with self.connection.snapshot():
            covered = self.covers(rows)
            if not covered and self._better_read(rows):
                return resident.nearest_read(rows, vector, k)
            scan = resident.scan(rows, vector) if covered else None
            if scan is None:
                return resident.nearest_past(rows, vector, k)
            return beside(scan.best, k) if rows.known_to_index else scan.best_that_pass(rows, k)

    def cosines(
        self, rids: Sequence[int], rows: VersionedQuerySet, vector: np.ndarray, model: str, project_id: Any
    ) -> Ranked:
        """The cosine of each of some visible rows with the vector, where the row has one."""
        resident = resident_of(self.connection, rows.model, project_id, model)
        with self.connection.snapshot():
            found = resident.cosines(rids, rows, vector) if self.covers(rows) else None
            return resident.cosines_past(rids, rows, vector) if found is None else found


def _state(row: Any, letters: str) -> str:
    return state_token(row.branch_id, letters, row.searchable)


def _sorted(scores: Mapping[int, float]) -> Ranked:
    """The best first; ties by row id."""
    return sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))

"""Full text and vectors on SQLite. MATCH and bm25 are used in this package only."""

import json
import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from django.apps import apps
from django.core.exceptions import EmptyResultSet
from django.db import models

from memory.db.deferred import run_in_thread
from memory.db.index_tokens import (
    OPEN,
    PINNED,
    row_tokens,
    space_characters,
    state_token,
)
from memory.db.indexes import FullTextIndex, full_text_index
from memory.db.querysets import Ranked, VersionedQuerySet
from memory.db.raw_select import Statement, fetch_one
from memory.db.sqlite.closed_versions import ClosedVersions, match_text, narrowing_tokens
from memory.db.sqlite.index_state import begin_epoch
from memory.db.sqlite.keyword_cache import Matches, get_keyword_cache, list_phrases
from memory.db.sqlite.planner_statistics import correct_statistics, seed_statistics
from memory.db.sqlite.vector_caches import drop_project, find_vector_cache, get_vector_cache
from memory.db.sqlite.vector_files import remove_project_files
from memory.db.sqlite.visible_rows import find_visible, list_visible, read_visible, sort_scores

FEW = 3000  # versions written by a past point, up to which reading them is faster than the index

_shares: dict[tuple, tuple[float, float]] = {}  # an index's share of some branches, with its expiry


class SearchIndex:
    """The search index of a connection; the committing transaction itself writes it."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.closed = ClosedVersions(connection)
        self._others: Sequence[int] = ()

    # ---- writing -------------------------------------------------------------------------------

    def index_rows(self, rows: Sequence[Any]) -> None:
        """Index new open versions, in the transaction that made them."""
        if rows and (index := full_text_index(type(rows[0]))):
            self._insert_rows(index, rows, OPEN)

    def close_versions(self, rows: Sequence[Any], pinned: Iterable[bool], seq: int) -> None:
        """Index versions of one model that a commit closed.

        The ``pinned`` ones also stay among the open ones, since a branch was forked while they were open.
        """
        if not rows or not (index := full_text_index(type(rows[0]))):
            return
        self.closed.add_versions(index, [(row, seq) for row in rows if not row.deleted])
        kept: list[Any] = []
        gone: list[Any] = []
        for row, keep in zip(rows, pinned, strict=True):
            (kept if keep else gone).append(row)
        tokens = [(row_tokens(index, row, row_state(row, PINNED)), row.pk) for row in kept]
        self._run_many(f'UPDATE "{index.name}" SET tok = %s WHERE rowid = %s', tokens)
        self._delete_rows(index, gone)

    def pin_rows(self, rows: Sequence[Any]) -> None:
        """Index closed versions that a branch forked from a past point shows."""
        self.unpin_rows(rows)
        if rows and (index := full_text_index(type(rows[0]))):
            self._insert_rows(index, rows, PINNED)
            begin_epoch(self.connection)  # a word that was read without them lacks them

    def unpin_rows(self, rows: Sequence[Any]) -> None:
        """Remove closed versions that no branch shows at its head any more."""
        if rows and (index := full_text_index(type(rows[0]))):
            self._delete_rows(index, rows)

    def index_closed(self, rows: Sequence[Any]) -> None:
        """Index closed versions, for searches at past points."""
        if rows and (index := full_text_index(type(rows[0]))):
            self.closed.add_versions(index, [(row, row.seq_to) for row in rows])

    def remove_rows(self, rows: Sequence[Any]) -> None:
        """Remove versions that are deleted or indexed again; their keys are enough."""
        self.unpin_rows(rows)
        if rows and (index := full_text_index(type(rows[0]))):
            self.closed.remove_versions(index, [row.pk for row in rows])
            begin_epoch(self.connection)  # what was erased is found by no word

    def clear_model(self, model: type[models.Model]) -> None:
        """Empty the index of a model before it is rebuilt, also a damaged one."""
        if index := full_text_index(model):
            for table in (index.name, index.closed):
                # FTS5 would read what is damaged to delete the rows; from no rows it makes an empty index.
                self._run_sql(f'DELETE FROM "{table}_content"')
                self._run_sql(f'INSERT INTO "{table}"("{table}") VALUES(\'rebuild\')')
            begin_epoch(self.connection)

    def optimize(self) -> None:
        """Update the planner's statistics; cheap when little has changed."""
        # All rows are counted (a third of a second at 400,000): a sample would be taken for the whole,
        # and the planner would then scan an index where it should look up a key.
        self._run_sql("PRAGMA analysis_limit = 0")
        self._run_sql("PRAGMA optimize")
        correct_statistics(self.connection)

    def refresh_vectors(self, project_id: Any, model: str) -> None:
        """Do nothing: the vector caches notice new vectors themselves."""

    def delete_vectors(self, project_id: Any, slots: Sequence[str]) -> None:
        """Do nothing: the vector caches notice deleted vectors by the project's epoch."""

    def forget_project(self, project_id: Any) -> None:
        """Remove the files and what this process has in memory of a project that is gone."""
        remove_project_files(str(self.connection.settings_dict["NAME"]), project_id)
        drop_project(project_id)

    def seed_statistics(self) -> None:
        """Store typical statistics of a large store, until the planner's own replace them."""
        seed_statistics(self.connection)

    def _insert_rows(self, index: FullTextIndex, rows: Sequence[Any], letters: str) -> None:
        column = index.fields[0]
        values = [
            (row.pk, space_characters(getattr(row, column)), row_tokens(index, row, row_state(row, letters)))
            for row in rows
        ]
        self._run_many(f'INSERT INTO "{index.name}" (rowid, text, tok) VALUES (%s, %s, %s)', values)

    def _delete_rows(self, index: FullTextIndex, rows: Sequence[Any]) -> None:
        self._run_many(f'DELETE FROM "{index.name}" WHERE rowid = %s', [(row.pk,) for row in rows])

    def _run_sql(self, sql: str, *params: Any) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(sql, params)

    def _run_many(self, sql: str, values: Sequence[tuple]) -> None:
        if values and not (len(values) == 1 and self.connection.keep_write(sql, values[0])):
            with self.connection.cursor() as cursor:
                cursor.executemany(sql, values)

    # ---- keyword -------------------------------------------------------------------------------

    def knows_words(self, rows: VersionedQuerySet) -> bool:
        """Return whether memory alone says which rows a keyword search finds; see ``list_visible``."""
        is_known = rows.known_to_index and not rows.tokens and self.covers_lineage(rows)
        return is_known and find_vector_cache(self.connection, rows.model, rows.lineage or ()) is not None

    def plan_words(self, rows: VersionedQuerySet, words: Sequence[str]) -> list[Statement]:
        """Return the statements that a search by words and vectors begins with, for ``read_together``; none
        where it reads the index itself.
        """
        index, phrases = full_text_index(rows.model), list_phrases(words)
        if not phrases or not index or self._narrow_tokens(index, rows):
            return []
        cache = get_keyword_cache(self.connection, rows.model._meta.db_table, index.name)
        vectors = find_vector_cache(self.connection, rows.model, rows.named_lineage)
        changes = vectors.plan_changes(rows.named_lineage) if vectors else []
        return [cache.plan(self.connection, phrases), *changes]

    def match_words(
        self, rows: VersionedQuerySet, words: Sequence[str], k: int, also: Sequence[int]
    ) -> tuple[Ranked, Ranked]:
        """Search by keywords; see VersionedQuerySet.match_words. One pass over the index gives both lists."""
        if not (found := list_phrases(words)):
            return [], []
        try:
            with self.connection.snapshot():  # no commit may come between reading the head and the search
                return self._find_matches(rows, found, k, also)
        except EmptyResultSet:  # a filter that no row can pass
            return [], []

    def _find_matches(
        self, rows: VersionedQuerySet, phrases: Sequence[str], k: int, also: Sequence[int]
    ) -> tuple[Ranked, Ranked]:
        if self.covers_lineage(rows):
            return self._walk_open(rows, phrases, k, also, is_covered=True)
        if self._better_read(rows):
            return self._read_visible(rows, phrases, k, also)
        return self._walk_past(rows, phrases, k, also)

    def _walk_open(
        self,
        rows: VersionedQuerySet,
        phrases: Sequence[str],
        k: int,
        also: Sequence[int],
        is_covered: bool = False,
    ) -> tuple[Ranked, Ranked]:
        """Search open versions, and closed ones that a branch still shows.

        These are all rows of a covered lineage.
        """
        index = full_text_index(rows.model)
        assert index is not None
        narrow, text = self._narrow_tokens(index, rows), match_text(phrases)
        if not narrow and (matches := self._match_cached(index, rows, phrases)):
            read = partial(list_visible, k=k) if is_covered else read_visible
            return find_visible(self.connection, rows, matches, k, read), matches.of_rows(also)
        sql = f'SELECT rowid AS r, rank AS s FROM "{index.name}" WHERE "{index.name}" MATCH %s'
        return self._rank_matches(sql, [f"{narrow} AND {text}" if narrow else text], rows, k, also)

    def _match_cached(
        self, index: FullTextIndex, rows: VersionedQuerySet, phrases: Sequence[str]
    ) -> Matches | None:
        """Search by words' scores in memory; None where they are not those of this snapshot."""
        cache = get_keyword_cache(self.connection, rows.model._meta.db_table, index.name)
        return cache.match(self.connection, phrases)

    def _walk_past(
        self, rows: VersionedQuerySet, phrases: Sequence[str], k: int, also: Sequence[int]
    ) -> tuple[Ranked, Ranked]:
        """Search a past point: versions that are still open, and versions closed since."""
        index = full_text_index(rows.model)
        assert index is not None
        best, others = self._walk_open(rows, phrases, k, also)
        sql, values = self.closed.match_sql(index, rows, phrases)
        if not sql:
            return best, others
        more, more_others = self._rank_matches(sql, values, rows, k, also)
        # Versions that a branch pins are in both.
        return sort_scores({**dict(more), **dict(best)})[:k], list(
            {**dict(more_others), **dict(others)}.items()
        )

    def covers_lineage(self, rows: VersionedQuerySet) -> bool:
        """Return whether index and cache have the rows that the lineage shows, as for a branch at its head.

        Not inside a transaction: its own rows are not indexed yet, and may never be committed.
        """
        if self.connection.in_atomic_block:
            return False
        branch, limit = (rows.lineage or ((0, 0),))[0]
        notes = self.connection.notes
        if ("covers", branch, limit) not in notes:
            row: Any = fetch_one(apps.get_model("memory", "Branch"), id=branch)
            notes["covers", branch, limit] = bool(row and row.head <= limit and row.indexed)
        return notes["covers", branch, limit]

    def _better_read(self, rows: VersionedQuerySet) -> bool:
        """Return whether to read the database alone: in a transaction, or for few rows."""
        return self.connection.in_atomic_block or rows.has_few_started(FEW)

    def _narrow_tokens(self, index: FullTextIndex, rows: VersionedQuerySet) -> str:
        """Return the tokens that a row must have; "" where they would exclude few rows.

        Ranking by a token that nearly every row has costs half as much again as the words do. Each row's
        visibility is checked anyway: tokens only reduce the rows.
        """
        lineage = rows.lineage or ()
        if not rows.tokens and self._covers_half(index.name, [branch for branch, _ in lineage]):
            return ""
        states = [False, True] if not rows.only_searchable else [True]
        branches = [state_token(b, OPEN, s) for b, _ in lineage for s in states]
        branches += [state_token(b, PINNED, s) for b, _ in lineage[1:] for s in states]
        narrow = [" OR ".join(branches)]
        return " AND ".join(f"tok:({batch})" for batch in [*narrow, *narrowing_tokens(index, rows)])

    def _covers_half(self, table: str, branches: Sequence[int]) -> bool:
        """Return whether at least half of the index belongs to these branches; cached for a minute."""
        key = (str(self.connection.settings_dict["NAME"]), table, *branches)
        share, until = _shares.get(key, (0.0, 0.0))
        if until < time.monotonic():
            share = self._own_share(table, branches)
            _shares[key] = (share, time.monotonic() + 60)
            while len(_shares) > 1000:
                _shares.pop(next(iter(_shares)), None)
        return share >= 0.5

    def _own_share(self, table: str, branches: Sequence[int]) -> float:
        tokens = " OR ".join(state_token(b, OPEN, True) for b in branches)
        with self.connection.cursor() as cursor:
            cursor.execute(f'SELECT count(*) FROM "{table}" WHERE "{table}" MATCH %s', [f"tok:({tokens})"])
            (own,) = cursor.fetchone()
            cursor.execute(f'SELECT count(*) FROM "{table}_docsize"')
            (every,) = cursor.fetchone()
        return own / every if every else 0.0

    def _rank_matches(
        self, matches: str, values: Sequence[str], rows: VersionedQuerySet, k: int, also: Sequence[int]
    ) -> tuple[Ranked, Ranked]:
        """Return the best k visible matches (SQL for r and s), and those of ``also``."""
        check, params = rows.visibility_sql("ranked.r")
        # LIMIT -1 keeps SQLite from dropping the order of the inner query: it stops at the k-th
        # visible row and has read no more rows than that. The scores of `also` come from the same
        # pass, as a second one would cost as much as the first. They are requested at its end: until
        # then another thread may be computing the list.
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
        best = sort_scores({r: -s for kind, r, s in found if kind == 0})
        return best, [(r, -s) for kind, r, s in found if kind == 1]

    def others(self) -> str:
        """Return the row ids of ``also`` as JSON, for the SQL function day1_others()."""
        return json.dumps([int(rid) for rid in self._others])

    def _read_visible(
        self, rows: VersionedQuerySet, phrases: Sequence[str], k: int, also: Sequence[int]
    ) -> tuple[Ranked, Ranked]:
        """Index the visible rows in a temporary table and search that; for few or uncommitted rows."""
        index = full_text_index(rows.model)
        assert index is not None
        visible = rows.prefer_start_index().order_by().values_list("pk", index.fields[0])
        with self.connection.allow_temporary_tables(), self.connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS temp.past")
            cursor.execute(
                "CREATE VIRTUAL TABLE temp.past USING fts5(text, content='', tokenize='porter unicode61')"
            )
            values = ((pk, space_characters(value)) for pk, value in visible.iterator(2000))
            cursor.executemany("INSERT INTO temp.past (rowid, text) VALUES (%s, %s)", values)
            cursor.execute("SELECT rowid, -rank FROM temp.past WHERE past MATCH %s", [match_text(phrases)])
            found = sort_scores(dict(cursor.fetchall()))
            cursor.execute("DROP TABLE temp.past")
        requested = set(also)
        return found[:k], [hit for hit in found if hit[0] in requested]

    # ---- vectors -------------------------------------------------------------------------------

    def load_vectors(self, rows: VersionedQuerySet, model: str, project_id: Any) -> None:
        """Load the vectors that a search of these rows compares."""
        resident = get_vector_cache(self.connection, rows.model, project_id, model)
        with self.connection.snapshot():
            resident.load_lineage(rows.lineage or ())

    def search_vectors(
        self, rows: VersionedQuerySet, vector: np.ndarray, k: int, model: str, project_id: Any
    ) -> Sequence[tuple[int, float]]:
        """Search by vector; see VersionedQuerySet.nearest_deferred. Exact: compares every visible vector."""
        resident = get_vector_cache(self.connection, rows.model, project_id, model)
        with self.connection.snapshot():
            covered = self.covers_lineage(rows)
            if not covered and self._better_read(rows):
                return resident.nearest_read(rows, vector, k)
            scan = resident.scan_visible(rows, vector) if covered else None
            if scan is None:
                return resident.nearest_past(rows, vector, k)
            return run_in_thread(scan.best, k) if rows.known_to_index else scan.best_that_pass(rows, k)

    def match_vectors(
        self, rows: VersionedQuerySet, vectors: np.ndarray, floor: float, k: int, model: str, project_id: Any
    ) -> list[Ranked]:
        """Search by several vectors; see VersionedQuerySet.match_vectors. Exact, like search_vectors."""
        resident = get_vector_cache(self.connection, rows.model, project_id, model)
        with self.connection.snapshot():
            covered = self.covers_lineage(rows)
            if not covered and self._better_read(rows):
                return resident.match_read(rows, vectors, floor, k)
            scan = resident.scan_visible(rows, vectors) if covered else None
            if scan is None:
                return resident.match_past(rows, vectors, floor, k)
            return scan.match_rows(rows, floor, k)

    def score_cosines(
        self, rids: Sequence[int], rows: VersionedQuerySet, vector: np.ndarray, model: str, project_id: Any
    ) -> Ranked:
        """Return the cosine of each of the visible rows with the vector, where the row has one."""
        resident = get_vector_cache(self.connection, rows.model, project_id, model)
        with self.connection.snapshot():
            found = resident.score_cosines(rids, rows, vector) if self.covers_lineage(rows) else None
            return resident.cosines_past(rids, rows, vector) if found is None else found


def row_state(row: Any, letters: str) -> str:
    return state_token(row.branch_id, letters, row.searchable)

"""Full text and vectors on MatrixOne: queries in growing portions until enough hits are visible."""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
from django.core.exceptions import EmptyResultSet
from django.db import models
from django.db.models import Q, QuerySet
from django.db.models.expressions import Exists, Subquery
from django.db.models.functions import Substr

from memory.db.backend import get_backend
from memory.db.indexes import full_text_index
from memory.db.matrixone.boolean_patterns import build_pattern, list_phrases
from memory.db.matrixone.features import DatabaseFeatures
from memory.db.matrixone.vector_sql import Match, Matches
from memory.db.matrixone.vectors import Vectors
from memory.db.matrixone.word_statistics import MAX_CHARACTERS, Statistics, Texts, read_statistics
from memory.db.querysets import Ranked, VersionedQuerySet
from memory.db.raw_select import select_by_key

GROWTH_FACTOR = 4  # growth of a portion when too few hits are visible
MIN_CANDIDATES = 60  # rows of the first portion
CANDIDATES = 4  # matches that are looked at first, for each that is wanted
BATCH_SIZE = DatabaseFeatures.keys_at_once
HASHES = "hashes"  # key of the content hashes noted during a search
RecordedFilter = tuple[bool, tuple, dict]


class SearchIndex:
    """The search index of a connection. The server maintains it itself, closed versions included."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.vectors = Vectors(connection)

    # ---- writing -------------------------------------------------------------------------------

    def index_rows(self, rows: Sequence[Any]) -> None:
        """Do nothing: the server indexed the rows when they were written."""

    def close_versions(self, rows: Sequence[Any], pinned: Iterable[bool], seq: int) -> None:
        """Do nothing: closed versions stay in the index for reads of the past; conditions exclude them."""

    def pin_rows(self, rows: Sequence[Any]) -> None:
        """Do nothing: the rows are in the index already."""

    def unpin_rows(self, rows: Sequence[Any]) -> None:
        """Do nothing: the rows stay in the index."""

    def index_closed(self, rows: Sequence[Any]) -> None:
        """Do nothing: the rows are in the index already."""

    def remove_rows(self, rows: Sequence[Any]) -> None:
        """Do nothing: the rows leave the index with their table."""

    def clear_model(self, model: type[models.Model]) -> None:
        """Do nothing: the index follows its table."""

    def optimize(self) -> None:
        """Update the copies of vectors, and index those of large tables."""
        self.vectors.optimize()

    def refresh_vectors(self, project_id: Any, model: str) -> None:
        """Copy vectors that became ready; called outside of a transaction."""
        self.vectors.refresh_vectors(project_id, model)

    def delete_vectors(self, project_id: Any, slots: Sequence[str]) -> None:
        """Delete copies of a project's vectors; called in the transaction that deletes them."""
        self.vectors.delete_vectors(project_id, slots)

    def forget_project(self, project_id: Any) -> None:
        """Do nothing: the rows are gone with the project's, and there are no files."""

    def covers_lineage(self, rows: VersionedQuerySet) -> bool:
        """Return True: the index has every version ever written."""
        return True

    # ---- keyword -------------------------------------------------------------------------------

    def knows_words(self, rows: VersionedQuerySet) -> bool:
        """Return False: the server looks at each row."""
        return False

    def plan_words(self, rows: VersionedQuerySet, words: Sequence[str]) -> list[Any]:
        """Return no statement: words and rows are found by one."""
        return []

    def match_words(
        self, rows: VersionedQuerySet, words: Sequence[str], k: int, also: Sequence[int]
    ) -> tuple[Ranked, Ranked]:
        """Search by keywords; see VersionedQuerySet.match_words."""
        phrases = list_phrases(words)
        if not build_pattern(phrases):
            return [], []
        statistics = read_statistics(self.connection, rows.model, phrases)
        try:
            return self._until_enough(_Ranking(rows, phrases, statistics), k, also)
        except EmptyResultSet:  # a filter that no row can pass
            return [], []

    def _until_enough(self, ranking: "_Ranking", k: int, also: Sequence[int]) -> tuple[Ranked, Ranked]:
        take = max(MIN_CANDIDATES, CANDIDATES * k)
        others = ranking.read_texts(also)
        while True:
            texts = ranking.best_texts(take)
            found = ranking.score_texts(texts | others)
            passed = ranking.filter_hits(found, k)
            if len(texts) < take or len(passed) >= k:
                return passed, [hit for hit in found if hit[0] in others]
            take *= GROWTH_FACTOR

    # ---- vectors -------------------------------------------------------------------------------

    def load_vectors(self, rows: VersionedQuerySet, model: str, project_id: Any) -> None:
        """Do nothing: the server compares vectors."""

    def search_vectors(
        self, rows: VersionedQuerySet, vector: np.ndarray, k: int, model: str, project_id: Any
    ) -> Ranked:
        """Search by vector; see VersionedQuerySet.search_vectors."""
        take = max(MIN_CANDIDATES, 2 * k)
        for scores, complete in self.vectors.iter_portions(vector, model, project_id, take):
            found = self._rank_texts(rows, scores)
            if complete or len(found) >= k:
                return found[:k]
        return []

    def match_vectors(
        self, rows: VersionedQuerySet, vectors: np.ndarray, floor: float, k: int, model: str, project_id: Any
    ) -> list[Ranked]:
        """Search by several vectors, one after another; see VersionedQuerySet.match_vectors."""
        return [self._match_vector(rows, vector, floor, k, model, project_id) for vector in vectors]

    def _match_vector(
        self, rows: VersionedQuerySet, vector: np.ndarray, floor: float, k: int, model: str, project_id: Any
    ) -> Ranked:
        take = max(MIN_CANDIDATES, 2 * k)
        for scores, complete in self.vectors.iter_portions(vector, model, project_id, take):
            near = {value: score for value, score in scores.items() if score >= floor}
            found = self._rank_texts(rows, near)
            # Behind a text below the floor there are only worse ones.
            if complete or len(found) >= k or len(near) < len(scores):
                return found[:k]
        return []

    def _rank_texts(self, rows: VersionedQuerySet, scores: dict[str, float]) -> Ranked:
        """Return the visible rows whose texts have these scores, best first."""
        key = rows.model._meta.pk.name
        found = rows.select_by_key((key, "content_hash"), "content_hash", scores)
        return sorted(((rid, scores[value]) for rid, value in found), key=lambda hit: (-hit[1], hit[0]))

    def score_cosines(
        self, rids: Sequence[int], rows: VersionedQuerySet, vector: np.ndarray, model: str, project_id: Any
    ) -> Ranked:
        """Return the cosine of each of the visible rows with the vector, where the row has one."""
        hashes = self._content_hashes(rows, rids)
        scores = self.vectors.score_cosines(set(hashes.values()), vector, model, project_id)
        return [(rid, scores[value]) for rid, value in hashes.items() if value in scores]

    def _content_hashes(self, rows: VersionedQuerySet, rids: Sequence[int]) -> dict[int, str]:
        """Return the content hashes of the rows; most were noted when the search checked their visibility."""
        noted = self.connection.notes.get((HASHES, rows.model), {})
        known = {rid: noted[rid] for rid in rids if rid in noted}
        base, key = rows.model._base_manager.using(rows.db).all(), rows.model._meta.pk.name
        rest = [rid for rid in rids if rid not in known]
        return known | dict(select_by_key(base, (key, "content_hash"), key, rest))


class _Ranking:
    """The rows of a lineage that have any of the phrases, by score.

    The server's own scores say only which rows are looked at.
    """

    def __init__(self, rows: VersionedQuerySet, phrases: Sequence[str], statistics: Statistics) -> None:
        index = full_text_index(rows.model)
        assert index is not None
        self.rows, self.lineage = rows, rows.named_lineage
        self.phrases, self.statistics = phrases, statistics
        plain, later = split_plain(rows.recorded_filters)
        # The nearest branch shadows the others, and some filters read other tables: MATCH allows neither.
        self.exact = not later and len(self.lineage) == 1
        pattern = build_pattern(phrases, statistics.list_forms(phrases))
        self.columns = (index.fields[0], *index.tokens)
        open_ = reduce(or_, (Q(branch_id=b, seq_from__lte=s, seq_to__gt=s) for b, s in self.lineage))
        matching = rows.model._base_manager.using(rows.db).filter(
            Matches(index.fields[0], pattern), open_, deleted=False
        )
        for negate, args, kwargs in plain:
            matching = matching.exclude(*args, **kwargs) if negate else matching.filter(*args, **kwargs)
        # The planner knows the order by score where the score is selected.
        self.matching = matching.annotate(score=Match(index.fields[0], pattern)).order_by("-score", "pk")

    def best_texts(self, take: int) -> Texts:
        """Return the texts of the ``take`` rows that the server ranks first."""
        return list_texts(row[:-1] for row in self.select_texts()[:take])

    def select_texts(self) -> models.QuerySet:
        text, *tokens = self.columns
        return self.matching.values_list("pk", Substr(text, 1, MAX_CHARACTERS), *tokens, "score")

    def read_texts(self, rids: Sequence[int]) -> Texts:
        """Return the texts of those of the rows that are visible."""
        key = self.rows.model._meta.pk.name
        return list_texts(self.rows.select_by_key((key, *self.columns), key, rids, MAX_CHARACTERS))

    def score_texts(self, texts: Texts) -> Ranked:
        """Return the rows that have any of the phrases by score, best first."""
        scores = self.statistics.score_texts(texts, self.phrases)
        return sorted((hit for hit in scores.items() if hit[1] > 0), key=lambda hit: (-hit[1], hit[0]))

    def filter_hits(self, found: Ranked, k: int) -> Ranked:
        """Return the first k hits that pass all filters."""
        passed: Ranked = []
        for start in range(0, len(found), BATCH_SIZE):
            passed += self._filter_passing(found[start : start + BATCH_SIZE])
            if len(passed) >= k:
                break
        return passed[:k]

    def _filter_passing(self, found: Ranked) -> Ranked:
        if self.exact:
            return found
        key = self.rows.model._meta.pk.name
        shown = dict(self.rows.select_by_key((key, "content_hash"), key, [rid for rid, _ in found]))
        get_backend(self.rows.db).notes.setdefault((HASHES, self.rows.model), {}).update(shown)
        return [hit for hit in found if hit[0] in shown]


def list_texts(rows: Iterable[tuple]) -> Texts:
    """Return texts by row id, with a token for the branch and one for each column of tokens with a value."""
    return {rid: (text, 1 + sum(map(bool, tokens))) for rid, text, *tokens in rows}


# ---- filters beside a match --------------------------------------------------------------------------


def split_plain(filters_given: Iterable[RecordedFilter]) -> tuple[list[RecordedFilter], list[RecordedFilter]]:
    """Split filters into those that may be combined with MATCH and those that may not."""
    plain: list[RecordedFilter] = []
    later: list[RecordedFilter] = []
    for filters in filters_given:
        _, args, kwargs = filters
        (later if any(map(_looks_elsewhere, (*args, *kwargs.values()))) else plain).append(filters)
    return plain, later


def _looks_elsewhere(part: Any) -> bool:
    if isinstance(part, Q):
        return any(map(_looks_elsewhere, part.children))
    if isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], str):  # a lookup and its value
        return _looks_elsewhere(part[1])
    if isinstance(part, QuerySet | Exists | Subquery) or getattr(part, "looks_elsewhere", False):
        return True
    sources: Any = getattr(part, "get_source_expressions", list)()
    return any(map(_looks_elsewhere, filter(None, sources)))

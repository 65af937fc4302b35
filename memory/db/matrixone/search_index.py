"""Full text and vectors on MatrixOne: queries in growing portions until enough hits are visible."""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
from django.core.exceptions import EmptyResultSet
from django.db import models
from django.db.models import Q
from django.db.models.functions import Length

from memory.db.backend import get_backend
from memory.db.indexes import full_text_index
from memory.db.matrixone.boolean_patterns import build_pattern
from memory.db.matrixone.features import DatabaseFeatures
from memory.db.matrixone.match_filters import split_plain
from memory.db.matrixone.vector_sql import Match, Matches
from memory.db.matrixone.vectors import Vectors
from memory.db.querysets import Ranked, VersionedQuerySet
from memory.db.raw_select import select_by_key

GROWTH_FACTOR = 4  # growth of a portion when too few hits are visible
MIN_CANDIDATES = 60  # rows of the first portion
MEASURED = 1_000  # texts of which the mean length is taken, where length alone ranks
BATCH_SIZE = DatabaseFeatures.keys_at_once
HASHES = "hashes"  # key of the content hashes noted during a search
LOWEST, LITTLE = 1e-9, 1e-6  # scores of hits whose words rank nothing


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

    def covers_lineage(self, rows: VersionedQuerySet) -> bool:
        """Return True: the index has every version ever written."""
        return True

    # ---- keyword -------------------------------------------------------------------------------

    def knows_words(self, rows: VersionedQuerySet) -> bool:
        """Return False: the server looks at each row."""
        return False

    def match_words(
        self, rows: VersionedQuerySet, words: Sequence[str], k: int, also: Sequence[int]
    ) -> tuple[Ranked, Ranked]:
        """Search by keywords; see VersionedQuerySet.match_words. One pass over the index gives both lists."""
        pattern = build_pattern(words)
        if not pattern:
            return [], []
        try:
            return self._until_enough(_Ranking(rows, pattern), k, also)
        except EmptyResultSet:  # a filter that no row can pass
            return [], []

    def _until_enough(self, ranking: "_Ranking", k: int, also: Sequence[int]) -> tuple[Ranked, Ranked]:
        take, requested = k if ranking.exact else max(MIN_CANDIDATES, 2 * k), set(also)
        while True:
            found = ranking.best_rows(take, also)
            complete = len(found) < take + len(also)
            passed = ranking.filter_hits(found if complete else _without_gaps(found, requested), k)
            if complete or len(passed) >= k:
                return passed, [hit for hit in found if hit[0] in requested]
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
        noted = (self.connection.notes or {}).get((HASHES, rows.model), {})
        known = {rid: noted[rid] for rid in rids if rid in noted}
        base, key = rows.model._base_manager.using(rows.db).all(), rows.model._meta.pk.name
        rest = [rid for rid in rids if rid not in known]
        return known | dict(select_by_key(base, (key, "content_hash"), key, rest))


class _Ranking:
    """The rows of a lineage that match a pattern, by score."""

    def __init__(self, rows: VersionedQuerySet, pattern: str) -> None:
        index = full_text_index(rows.model)
        assert index is not None
        self.rows, self.lineage = rows, rows.named_lineage
        plain, later = split_plain(rows.recorded_filters)
        # The nearest branch shadows the others, and some filters read other tables: MATCH allows neither.
        self.exact = not later and len(self.lineage) == 1
        column = index.fields[0]
        open_ = reduce(or_, (Q(branch_id=b, seq_from__lte=s, seq_to__gt=s) for b, s in self.lineage))
        matching = rows.model._base_manager.using(rows.db).filter(
            Matches(column, pattern), open_, deleted=False
        )
        self.unfiltered = matching.annotate(length=Length(column))
        for negate, args, kwargs in plain:
            matching = matching.exclude(*args, **kwargs) if negate else matching.filter(*args, **kwargs)
        self.matching = matching.annotate(score=Match(column, pattern), length=Length(column))

    def best_rows(self, take: int, also: Sequence[int]) -> Ranked:
        """Return the best ``take`` rows and those of ``also`` that match, by score, then by row."""
        found = self._order_hits("score", "-score", take, also)
        if not any(score > 0 for _, score in found):
            found = _by_length(self._order_hits("length", "length", take, also), self._read_mean_length())
        return sorted(((pk, max(score, LOWEST)) for pk, score in found), key=lambda hit: (-hit[1], hit[0]))

    def _read_mean_length(self) -> float:
        """Return the mean length whatever the filters are: scores of several searches are compared."""
        lengths = self.unfiltered.order_by("pk").values_list("length", flat=True)[:MEASURED]
        return sum(lengths) / max(len(lengths), 1) or 1.0

    def _order_hits(self, value: str, by: str, take: int, also: Sequence[int]) -> Ranked:
        order: list[Any] = [by, "pk"]
        if also:
            order.insert(0, models.ExpressionWrapper(Q(pk__in=also), models.BooleanField()).desc())
        return list(self.matching.values_list("pk", value).order_by(*order)[: take + len(also)])

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
        if (notes := get_backend(self.rows.db).notes) is not None:
            notes.setdefault((HASHES, self.rows.model), {}).update(shown)
        return [hit for hit in found if hit[0] in shown]


def _without_gaps(found: Ranked, also: set[int]) -> Ranked:
    """Cut hits after the last that is not in ``also``: below it, lower scores were read for ``also`` only."""
    others = [index for index, (rid, _) in enumerate(found) if rid not in also]
    return found[: others[-1] + 1] if others else []


def _by_length(found: Ranked, mean: float) -> Ranked:
    """Score by text length alone, like BM25, when every word is in every text and the server scores 0."""
    return [(pk, LITTLE / (1 + 1.2 * (0.25 + 0.75 * length / mean))) for pk, length in found]

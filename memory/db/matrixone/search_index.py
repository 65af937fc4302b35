"""Full text and vectors on MatrixOne: what to ask, in which portions, until enough of it is visible."""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
from django.core.exceptions import EmptyResultSet
from django.db import connections, models
from django.db.models import Q
from django.db.models.functions import Length

from memory.db.indexes import full_text_index
from memory.db.matrixone.features import DatabaseFeatures
from memory.db.matrixone.patterns import pattern_of
from memory.db.matrixone.plain import plain
from memory.db.matrixone.sql import Match, Matches
from memory.db.matrixone.vectors import Vectors
from memory.db.querysets import Ranked, VersionedQuerySet
from memory.db.reading import picked

MORE = 4  # times as many, where too few of what was found are visible
LEAST = 60  # asked for at first
AT_ONCE = DatabaseFeatures.keys_at_once
HASHES = "hashes"  # what is noted of rows while a search goes on
LOWEST, LITTLE = 1e-9, 1e-6  # scores of what was found by words that rank nothing


class SearchIndex:
    """What a connection can search. The server keeps its index of texts itself, closed versions included."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.vectors = Vectors(connection)

    # ---- writing -------------------------------------------------------------------------------

    def add(self, rows: Sequence[Any]) -> None:
        """The server indexed them when they were written."""

    def close(self, rows: Sequence[Any], held: Iterable[bool], seq: int) -> None:
        """Closed versions stay in the index, for reads of the past; conditions leave them out."""

    def hold(self, rows: Sequence[Any]) -> None:
        """They are in the index already."""

    def release(self, rows: Sequence[Any]) -> None:
        """They stay in the index."""

    def keep(self, rows: Sequence[Any]) -> None:
        """They are in the index already."""

    def remove(self, rows: Sequence[Any]) -> None:
        """They leave the index with their table."""

    def begin_closed(self, editor: Any, closed: models.QuerySet) -> None:
        """Closed versions were always in the index."""

    def clear(self, model: type[models.Model]) -> None:
        """Nothing: the index follows its table."""

    def optimize(self) -> None:
        """Bring the copies of vectors up to date, with an index where there are many."""
        self.vectors.optimize()

    def keep_up(self, project_id: Any, model: str) -> None:
        """After vectors became ready, outside of a transaction."""
        self.vectors.keep_up(project_id, model)

    def forget(self, project_id: Any, slots: Sequence[str]) -> None:
        """After vectors of a project were deleted, in the same transaction."""
        self.vectors.forget(project_id, slots)

    def covers(self, rows: VersionedQuerySet) -> bool:
        """Whether the index holds what the rows' lineage shows: all that was ever written is in it."""
        return True

    # ---- keyword -------------------------------------------------------------------------------

    def keyword(
        self, rows: VersionedQuerySet, words: Sequence[str], k: int, also: Sequence[int]
    ) -> tuple[Ranked, Ranked]:
        """See VersionedQuerySet.keyword. One pass over the index gives both lists."""
        pattern = pattern_of(words)
        if not pattern:
            return [], []
        try:
            return self._until_enough(_Ranking(rows, pattern), k, also)
        except EmptyResultSet:  # a filter that nothing can pass
            return [], []

    def _until_enough(self, ranking: "_Ranking", k: int, also: Sequence[int]) -> tuple[Ranked, Ranked]:
        take, wanted = k if ranking.exact else max(LEAST, 2 * k), set(also)
        while True:
            found = ranking.first(take, also)
            complete = len(found) < take + len(also)
            passed = ranking.passing(found if complete else _without_gaps(found, wanted), k)
            if complete or len(passed) >= k:
                return passed, [hit for hit in found if hit[0] in wanted]
            take *= MORE

    # ---- vectors -------------------------------------------------------------------------------

    def load(self, rows: VersionedQuerySet, model: str, project_id: Any) -> None:
        """The server compares."""

    def nearest(
        self, rows: VersionedQuerySet, vector: np.ndarray, k: int, model: str, project_id: Any
    ) -> Ranked:
        """See VersionedQuerySet.nearest."""
        take = max(LEAST, 2 * k)
        for scores, complete in self.vectors.portions(vector, model, project_id, take):
            found = self._of_texts(rows, scores)
            if complete or len(found) >= k:
                return found[:k]
        return []

    def _of_texts(self, rows: VersionedQuerySet, scores: dict[str, float]) -> Ranked:
        """The visible rows whose texts have these scores, the best first."""
        key = rows.model._meta.pk.name  # type: ignore[union-attr]
        found = rows.picked((key, "content_hash"), "content_hash", scores)
        return sorted(((rid, scores[value]) for rid, value in found), key=lambda hit: (-hit[1], hit[0]))

    def cosines(
        self, rids: Sequence[int], rows: VersionedQuerySet, vector: np.ndarray, model: str, project_id: Any
    ) -> Ranked:
        """The cosine of each of some visible rows with the vector, where the row has one."""
        hashes = self._hashes(rows, rids)
        scores = self.vectors.cosines(set(hashes.values()), vector, model, project_id)
        return [(rid, scores[value]) for rid, value in hashes.items() if value in scores]

    def _hashes(self, rows: VersionedQuerySet, rids: Sequence[int]) -> dict[int, str]:
        """The content hashes of some rows; of most a search noted them when it looked whether they pass."""
        noted = (self.connection.notes or {}).get((HASHES, rows.model), {})
        known = {rid: noted[rid] for rid in rids if rid in noted}
        base, key = rows.model._base_manager.using(rows.db).all(), rows.model._meta.pk.name
        rest = [rid for rid in rids if rid not in known]
        return known | dict(picked(base, (key, "content_hash"), key, rest))


class _Ranking:
    """The rows of a lineage that match a pattern, by score."""

    def __init__(self, rows: VersionedQuerySet, pattern: str) -> None:
        index = full_text_index(rows.model)
        assert index is not None
        self.rows, self.lineage = rows, rows._known_lineage()
        here, later = plain(rows._said)
        # The nearest branch shadows the others, and some filters look at other tables: not beside MATCH.
        self.exact = not later and len(self.lineage) == 1
        column = index.fields[0]
        open_ = reduce(or_, (Q(branch_id=b, seq_from__lte=s, seq_to__gt=s) for b, s in self.lineage))
        matching = rows.model._base_manager.using(rows.db).filter(
            Matches(column, pattern), open_, deleted=False
        )
        for negate, args, kwargs in here:
            matching = matching.exclude(*args, **kwargs) if negate else matching.filter(*args, **kwargs)
        self.matching = matching.annotate(score=Match(column, pattern), length=Length(column))

    def first(self, take: int, also: Sequence[int]) -> Ranked:
        """The best so many, and beside them those of ``also`` that match: all by score, then by row."""
        found = self._ordered("score", "-score", take, also)
        if not any(score > 0 for _, score in found):
            found = _by_length(self._ordered("length", "length", take, also))
        return sorted(((pk, max(score, LOWEST)) for pk, score in found), key=lambda hit: (-hit[1], hit[0]))

    def _ordered(self, value: str, by: str, take: int, also: Sequence[int]) -> Ranked:
        order: list[Any] = [by, "pk"]
        if also:
            order.insert(0, models.ExpressionWrapper(Q(pk__in=also), models.BooleanField()).desc())
        return list(self.matching.values_list("pk", value).order_by(*order)[: take + len(also)])

    def passing(self, found: Ranked, k: int) -> Ranked:
        """The first k of what was found that all filters let through."""
        passed: Ranked = []
        for start in range(0, len(found), AT_ONCE):
            passed += self._passing(found[start : start + AT_ONCE])
            if len(passed) >= k:
                break
        return passed[:k]

    def _passing(self, found: Ranked) -> Ranked:
        if self.exact:
            return found
        key = self.rows.model._meta.pk.name  # type: ignore[union-attr]
        shown = dict(self.rows.picked((key, "content_hash"), key, [rid for rid, _ in found]))
        if (notes := connections[self.rows.db].notes) is not None:  # type: ignore[attr-defined]
            notes.setdefault((HASHES, self.rows.model), {}).update(shown)
        return [hit for hit in found if hit[0] in shown]


def _without_gaps(found: Ranked, also: set[int]) -> Ranked:
    """What was found, as far as nothing is missing between: of the lower scores only ``also`` were told."""
    others = [place for place, (rid, _) in enumerate(found) if rid not in also]
    return found[: others[-1] + 1] if others else []


def _by_length(found: Ranked) -> Ranked:
    """Scores where every word is in every text, which the server ranks as nothing: BM25 by length alone."""
    mean = sum(length for _, length in found) / max(len(found), 1) or 1.0
    return [(pk, LITTLE / (1 + 1.2 * (0.25 + 0.75 * length / mean))) for pk, length in found]

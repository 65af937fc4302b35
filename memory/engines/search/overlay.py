"""Overlay: the facts of a branch with some of them exchanged, searched as if that had been written.

Nothing is written. The other facts are searched as ever; an exchanged fact takes the scores of a stored row
with the same text, wherever that row is. See docs/decisions/0026.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import merge
from itertools import islice
from operator import attrgetter
from typing import Any
from uuid import UUID

import numpy as np

from memory.db.deferred import Deferred
from memory.db.neighbours import Reach, count_distances
from memory.db.querysets import Lineage, Ranked, VersionedQuerySet
from memory.engines.facts.assessment import Assessment, apply_assessment, exclusion_reasons
from memory.engines.facts.filters import FactFilter
from memory.engines.versions.repositories import find_repositories
from memory.models import Fact
from memory.repository_names import ANY

FILTERS = ("category", "kind", "tags", "repository")  # that an exchanged fact can be asked for


@dataclass(frozen=True)
class Change:
    """A fact as it would be shown, which no row has; its ``rid`` is negative.

    ``rid`` and ``lineage`` name a stored row with the same text; there is none for a text that is new.
    """

    fact: Fact
    assessment: Assessment
    rid: int | None = None
    lineage: Lineage = ()


@dataclass(frozen=True)
class Overlay:
    """What is exchanged: the ids of facts that are not shown as stored, and those that are shown instead."""

    project_id: UUID
    hidden: frozenset[UUID] = frozenset()
    changes: tuple[Change, ...] = ()

    def cover_rows(
        self, rows: VersionedQuerySet, loose: VersionedQuerySet, filters: FactFilter, now: Any
    ) -> tuple[Any, Any]:
        """Return both sets of rows with the facts exchanged that the filters let pass."""
        shown = self._filter_changes(filters, now)
        return OverlayRows(self._hide(rows), shown), OverlayRows(self._hide(loose), shown)

    def _hide(self, rows: VersionedQuerySet) -> VersionedQuerySet:
        return rows.exclude(uid__in=sorted(self.hidden)) if self.hidden else rows

    def _filter_changes(self, filters: FactFilter, now: Any) -> tuple[Change, ...]:
        facts = [apply_assessment(change.fact, change.assessment) for change in self.changes]
        repositories = find_repositories(self.project_id, facts)
        return tuple(
            change
            for change, fact, repository in zip(self.changes, facts, repositories, strict=True)
            if not exclusion_reasons(fact, now) and passes_filters(fact, repository, filters)
        )

    def assess(self, known: Mapping[UUID, Assessment]) -> Mapping[UUID, Assessment]:
        """Return assessments with those of the exchanged facts."""
        own = {change.fact.uid: change.assessment for change in self.changes}
        return defaultdict(Assessment, {**known, **own})


def passes_filters(fact: Fact, repository: str, filters: FactFilter) -> bool:
    """Return whether a fact that no row has passes the filters, of which only FILTERS may be set."""
    for name, value in filters.as_dict().items():
        if name == "repository":
            if value not in (ANY, repository):
                return False
        elif name == "tags":
            if not set(value) <= set(fact.tags):
                return False
        elif getattr(fact, name) not in value:
            return False
    return True


@dataclass(frozen=True)
class OverlayRows:
    """Rows of a branch with exchanged facts, in the form that the step of candidates reads."""

    kept: VersionedQuerySet
    changes: tuple[Change, ...]
    model: Any = field(default=Fact, init=False)

    @cached_property
    def by_rid(self) -> dict[int, Change]:
        return {change.fact.rid: change for change in self.changes}

    @cached_property
    def sides(self) -> list[tuple[VersionedQuerySet, dict[int, list[int]]]]:
        """Return the rows of each lineage that lends scores, and its row id -> ids of exchanged facts."""
        lent: dict[Lineage, dict[int, list[int]]] = {}
        for change in self.changes:
            if change.rid is not None:
                lent.setdefault(tuple(change.lineage), {}).setdefault(change.rid, []).append(change.fact.rid)
        return [(Fact.objects.in_lineage(lineage), rids) for lineage, rids in lent.items()]

    # ---- filters -------------------------------------------------------------------------------

    def filter_indexed(self, **fields: Sequence[str]) -> "OverlayRows":
        """Filter by columns of the index, as its rows do."""
        left = [c for c in self.changes if all(getattr(c.fact, n) in values for n, values in fields.items())]
        return replace(self, kept=self.kept.filter_indexed(**fields), changes=tuple(left))

    def filter(self, condition: Any) -> "OverlayRows":
        """Filter by a condition on the text; a text that no row has never meets it."""
        passing = {
            rid
            for rows, lent in self.sides
            for (stored,) in rows.filter(condition).select_by_key(("rid",), "rid", lent)
            for rid in lent[stored]
        }
        left = tuple(change for change in self.changes if change.fact.rid in passing)
        return replace(self, kept=self.kept.filter(condition), changes=left)

    # ---- rows ----------------------------------------------------------------------------------

    def stream(self, k: int, by: str, *, down: bool) -> Iterator[Fact]:
        """Yield rows in order, as VersionedQuerySet.stream does."""
        key = attrgetter(by)
        own = sorted((change.fact for change in self.changes), key=key, reverse=down)
        return islice(merge(self.kept.stream(k, by, down=down), own, key=key, reverse=down), k)

    def select_by_key(self, columns: Sequence[str], by: str, values: Sequence[int]) -> list[tuple]:
        """Return columns of the rows with these row ids."""
        own = [self.by_rid[rid].fact for rid in values if rid in self.by_rid]
        found = self.kept.select_by_key(columns, by, [rid for rid in values if rid >= 0])
        return [*found, *(tuple(getattr(fact, name) for name in columns) for fact in own)]

    def read_neighbours(
        self,
        rids: Sequence[int],
        same: str,
        columns: Sequence[str],
        reach: Reach,
        cut: int | None = None,
    ) -> dict[int, dict[int, tuple]]:
        """Map each row to columns of the rows next to it by uid, as a VersionedQuerySet."""
        stored = {rid: self.by_rid[rid].rid if rid in self.by_rid else rid for rid in rids}
        requested = {rid for rid in stored.values() if rid is not None}
        kept = self.kept.read_neighbours(sorted(requested), same, columns, reach, cut)
        found = [
            (*values, distance > 0, rid)
            for rid, own in stored.items()
            for distance, values in kept.get(own or 0, {}).items()
        ]
        if self.changes:
            known = self.select_by_key(("rid", "uid", same), "rid", [*rids])
            found += [
                (*(getattr(change.fact, name) for name in columns), change.fact.uid > uid, rid)
                for change in self.changes
                for rid, uid, value in known
                if getattr(change.fact, same) == value and change.fact.uid != uid
            ]
        return count_distances(found, columns.index("uid"), reach)

    # ---- scores --------------------------------------------------------------------------------

    def knows_words(self) -> bool:
        """Return False: exchanged facts are scored beside the rows that were checked."""
        return False

    def match_words(self, words: Sequence[str], k: int, also: Sequence[int] = ()) -> tuple[Ranked, Ranked]:
        """Return the best k rows by their words, and the scores of the rows ``also``."""
        ranked, others = self.kept.match_words(words, k, also)
        own = self._match_stored(words)
        own |= self._match_new(words, max([*own.values(), *(score for _, score in ranked)], default=1.0))
        best = sort_hits({**dict(ranked), **own})[:k]
        requested = set(also) if own else set()
        return best, [*others, *((rid, score) for rid, score in own.items() if rid in requested)]

    def _match_stored(self, words: Sequence[str]) -> dict[int, float]:
        own: dict[int, float] = {}
        for rows, lent in self.sides:
            _, scores = rows.match_words(words, 1, list(lent))
            own |= {rid: score for stored, score in scores for rid in lent.get(stored, ())}
        return own

    def _match_new(self, words: Sequence[str], best: float) -> dict[int, float]:
        """Score texts that no row has by their share of the words."""
        new = [change.fact for change in self.changes if change.rid is None]
        texts = {fact.rid: fact.fact_text.casefold() for fact in new}
        shares = {rid: sum(word.casefold() in text for word in words) for rid, text in texts.items()}
        return {rid: best * share / len(words) for rid, share in shares.items() if share}

    def nearest_deferred(self, vector: np.ndarray, k: int, model: str, project_id: Any) -> Sequence[Any]:
        """Return the best k rows by cosine."""
        nearest = self.kept.nearest_deferred(vector, k, model, project_id)
        own = dict(self._score_changes(list(self.by_rid), vector, model, project_id))
        return Deferred(lambda: sort_hits({**dict(nearest), **own})[:k])

    def score_cosines(self, rids: Sequence[int], vector: np.ndarray, model: str, project_id: Any) -> Ranked:
        """Return the cosine of each of these rows that has a vector."""
        kept = [rid for rid in rids if rid >= 0]
        found = list(self.kept.score_cosines(kept, vector, model, project_id)) if kept else []
        return found + self._score_changes([rid for rid in rids if rid < 0], vector, model, project_id)

    def _score_changes(self, rids: Sequence[int], vector: np.ndarray, model: str, project_id: Any) -> Ranked:
        requested, found = set(rids), []
        for rows, lent in self.sides if requested else ():
            stored = [rid for rid, own in lent.items() if not requested.isdisjoint(own)]
            scores = rows.score_cosines(stored, vector, model, project_id) if stored else ()
            found += [(rid, score) for one, score in scores for rid in lent[one] if rid in requested]
        return found


def sort_hits(scores: Mapping[int, float]) -> Ranked:
    """Sort scores best first; ties by row id."""
    return sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))

"""Exact vector search in memory: all rows that a lineage shows, best first."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from memory.db.querysets import Lineage, Ranked, VersionedQuerySet
from memory.db.sqlite.coded_vectors import BLOCK, PAIRS, CodedVectors, Codes, Query
from memory.db.sqlite.growable_arrays import Columns

BATCH_SIZE = 500
GROWTH_FACTOR = 4  # growth of what is compared when filters hold too much of it back
MAX_SCORES = 2**22  # of one product: 16 MB
MAX_HITS = 2**20  # collected before the worse ones are dropped: 20 MB


class VisibleMask(NamedTuple):
    """Positions of the visible rows, of those among them with a vector, and of their vectors."""

    visible: np.ndarray
    at: np.ndarray
    vec: np.ndarray
    vectors: int  # number of vectors when this was computed
    shown: np.ndarray  # for each row whether it is visible

    @classmethod
    def of(cls, visible: np.ndarray, vec: np.ndarray, vectors: int) -> "VisibleMask":
        have = vec[visible] >= 0
        at = visible if have.all() else visible[have]
        shown = np.zeros(len(vec), dtype="?")
        shown[visible] = True
        return cls(visible, at, vec[at].astype("i4"), vectors, shown)

    def has_positions(self, positions: np.ndarray) -> np.ndarray:
        """Return for each position whether its row is visible; -1 is none, and later rows are not."""
        known = (positions >= 0) & (positions < len(self.shown))
        return known & self.shown[np.where(known, positions, 0)] if len(self.shown) else known


class Scan(NamedTuple):
    """A comparison of rows with a vector or several. It is immutable, so that any thread may compute it."""

    rids: np.ndarray  # of all rows
    at: np.ndarray  # the rows to compare
    vec: np.ndarray  # the positions of their vectors
    vectors: CodedVectors
    vector: np.ndarray  # of shape (d,), or (m, d) for match_rows

    def best(self, k: int) -> Ranked:
        """Return the k best by cosine; ties by row id."""
        return self._choose_best(self._estimate(), k)

    def scores(self) -> np.ndarray:
        return self.vectors.dot(self.vec, self.vector)

    def _estimate(self) -> np.ndarray:
        return self.vectors.estimate(self.vec, Query(self.vector))

    def _choose_best(self, coarse: np.ndarray, k: int) -> Ranked:
        """Compare the rows again whose coarse cosine may be among the k best."""
        at, vec = self.at, self.vec
        if 0 < k < len(coarse):
            # The k-th best is at least the lowest true cosine of any k rows, and none is more than the bound
            # above its own coarse cosine.
            first = np.argpartition(coarse, len(coarse) - k)[len(coarse) - k :]
            edge = self.vectors.dot(vec[first], self.vector).min()
            bound = self.vectors.bound_error(Query(self.vector))
            near = np.flatnonzero(coarse >= edge - bound)
            at, vec = at[near], vec[near]
        return top_rows(self.rids, at, self.vectors.dot(vec, self.vector), k)

    def best_that_pass(self, rows: VersionedQuerySet, k: int) -> Ranked:
        """Return the k best that pass filters unknown to the cache, checked by the database in rank order."""
        coarse, passed = self._estimate(), list[tuple[int, float]]()
        looked, take = 0, 4 * k
        while len(passed) < k and looked < len(self.at):
            ranked = self._choose_best(coarse, take)
            passed += filter_passing(ranked[looked:], rows)
            looked = len(ranked)
            # The number needed at the pass rate so far, and half as many again.
            take = looked + max(k, int(1.5 * looked * (k - len(passed)) / max(len(passed), looked / 20)))
        return passed[:k]

    def match_rows(self, rows: VersionedQuerySet, floor: float, k: int) -> list[Ranked]:
        """Return the k best that pass all filters and reach the floor, for each of the vectors."""
        if rows.known_to_index:
            return self._match_any(self.vector, floor, k)
        matched: list[Ranked] = [[] for _ in self.vector]
        numbers, take = list(range(len(self.vector))), GROWTH_FACTOR * k
        while numbers:
            found = dict(zip(numbers, self._match_any(self.vector[numbers], floor, take), strict=True))
            passing = find_passing({rid for ranked in found.values() for rid, _ in ranked}, rows)
            for number, ranked in found.items():
                matched[number] = [hit for hit in ranked if hit[0] in passing][:k]
            # Others may come behind those that the filters hold back.
            numbers = [at for at, ranked in found.items() if len(ranked) == take and len(matched[at]) < k]
            take *= GROWTH_FACTOR
        return matched

    def _match_any(self, vectors: np.ndarray, floor: float, k: int) -> list[Ranked]:
        best = BestRows(vectors, floor, k)
        for block, indexes in self.vectors.split_positions(self.vec):
            best.compare(block, self.vec[indexes] % BLOCK, self.rids[self.at[indexes]])
        return best.rank()


def concatenate_arms(rows: Columns, lineage: Lineage) -> np.ndarray:
    """Return the positions of the rows that a lineage shows; those of a branch shadow its ancestors'."""
    arms, spoken = [], np.empty(0, dtype="i8")
    for branch, limit in lineage:
        visible = (rows["branch"] == branch) & (rows["seq_from"] <= limit) & (rows["seq_to"] > limit)
        at = np.flatnonzero(visible)
        uids = rows["uid"][at]
        shown = ~rows["deleted"][at]
        if len(spoken):
            shown &= ~np.isin(uids, spoken)
        arms.append(at[shown])
        spoken = np.concatenate([spoken, uids])
    return np.concatenate(arms)


def top_rows(rids: np.ndarray, at: np.ndarray, scores: np.ndarray, k: int) -> Ranked:
    """Return the best k of the rows at these positions; ties by row id."""
    if 0 < k < len(scores):
        # All that tie with the k-th stay in, so that the order by row id decides.
        edge = np.partition(scores, len(scores) - k)[len(scores) - k]
        batch = np.flatnonzero(scores >= edge)
        at, scores = at[batch], scores[batch]
    rids = rids[at]
    order = np.lexsort((rids, -scores))[:k]
    return list(zip(rids[order].tolist(), scores[order].tolist(), strict=True))


def sort_hits(hits: Ranked) -> Ranked:
    """Sort hits by score, best first; ties by row id."""
    return sorted(hits, key=lambda hit: (-hit[1], hit[0]))


def filter_passing(ranked: Ranked, rows: VersionedQuerySet) -> Ranked:
    passed = find_passing([rid for rid, _ in ranked], rows)
    return [hit for hit in ranked if hit[0] in passed]


def find_passing(rids: Iterable[int], rows: VersionedQuerySet) -> set[int]:
    """Return those of the row ids that are among the rows."""
    requested = list(rids)
    batches = (requested[start : start + BATCH_SIZE] for start in range(0, len(requested), BATCH_SIZE))
    return {rid for batch in batches for (rid,) in rows.select_by_key(("rid",), "rid", batch)}


# ---- matrix products ---------------------------------------------------------------------------------


class BestRows:
    """The best k rows of each of several vectors, of those that reach a floor; compared part by part."""

    def __init__(self, vectors: np.ndarray, floor: float, k: int) -> None:
        self.query, self.floor, self.k = Query(vectors), floor, k
        self._floors = np.full(len(vectors), floor, dtype="f4")  # of each vector, rising with its hits
        self._number, self._rid = np.empty(0, dtype="i4"), np.empty(0, dtype="i8")
        self._score = np.empty(0, dtype="f4")

    def compare(self, codes: Codes, at: np.ndarray, rids: np.ndarray) -> None:
        """Compare with rows whose vectors are coded at the positions ``at``, in rising order."""
        if not len(at):
            return
        needed, at = np.unique(at, return_inverse=True)
        # Most of a block is compared in place: a copy of it would cost more than it saves.
        if 4 * len(needed) < len(codes):
            codes = codes[needed]
        else:
            at, codes = needed[at], codes[: needed[-1] + 1]
        step = max(1, MAX_SCORES // len(codes))
        for start in range(0, len(self.query.vectors), step):
            number, position, score = self._find_near(codes, slice(start, start + step))
            self._collect(number + start, position, score, at, rids)

    def _find_near(self, codes: Codes, part: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the pairs of a vector and a position that reach the vector's floor, and their cosines."""
        query, floors = self.query[part], self._floors[part]
        lowest = floors - codes.bound_error(query)
        # Two-dimensional nonzero takes fifty times as long where nearly everything is False.
        near = np.flatnonzero(codes.estimate(query) >= lowest[:, None])
        number, position = np.divmod(near, len(codes))
        score = compare_pairs(query.vectors, number, codes, position)
        reached = score >= floors[number]
        return number[reached], position[reached], score[reached]

    def _collect(
        self, number: np.ndarray, position: np.ndarray, score: np.ndarray, at: np.ndarray, rids: np.ndarray
    ) -> None:
        """Add hits of vectors with positions, one for each row that has its vector there."""
        first, end = np.searchsorted(at, position), np.searchsorted(at, position, side="right")
        counts = end - first
        ends = np.cumsum(counts)
        rows = np.arange(counts.sum()) + np.repeat(first - ends + counts, counts)
        self._number = np.concatenate([self._number, np.repeat(number, counts).astype("i4")])
        self._rid = np.concatenate([self._rid, rids[rows]])
        self._score = np.concatenate([self._score, np.repeat(score, counts)])
        if len(self._rid) > MAX_HITS:
            self._drop_worse()

    def _drop_worse(self) -> None:
        """Sort the hits and keep the best k of each vector; worse ones are not collected any more."""
        order = np.lexsort((self._rid, -self._score, self._number))
        number, rid, score = self._number[order], self._rid[order], self._score[order]
        rank = np.arange(len(order)) - np.searchsorted(number, number)
        self._floors[number[rank == self.k - 1]] = score[rank == self.k - 1]
        kept = rank < self.k
        self._number, self._rid, self._score = number[kept], rid[kept], score[kept]

    def rank(self) -> list[Ranked]:
        """Return the hits of each vector, best first; ties by row id."""
        self._drop_worse()
        ranked: list[Ranked] = [[] for _ in self.query.vectors]
        hits = zip(self._number.tolist(), self._rid.tolist(), self._score.tolist(), strict=True)
        for number, rid, score in hits:
            if score >= self.floor:  # the products were compared with its rounded value
                ranked[number].append((rid, score))
        return ranked


def compare_pairs(vectors: np.ndarray, number: np.ndarray, codes: Codes, position: np.ndarray) -> np.ndarray:
    """Return the cosine of each pair of a vector and a coded one."""
    if len(number) > len(codes):  # most of the codes are needed, many of them for several vectors
        return (vectors @ codes.decode(slice(None)).T)[number, position]
    cosines = np.empty(len(number), dtype="f4")
    for start in range(0, len(number), PAIRS):
        part = slice(start, start + PAIRS)
        cosines[part] = np.einsum("ij,ij->i", vectors[number[part]], codes.decode(position[part]))
    return cosines

"""Comparison of many vectors with many rows, by matrix products of bounded size."""

import numpy as np

from memory.db.querysets import Ranked
from memory.db.sqlite.coded_vectors import PAIRS, Codes, Query

MAX_SCORES = 2**22  # of one product: 16 MB
MAX_HITS = 2**20  # collected before the worse ones are dropped: 20 MB


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

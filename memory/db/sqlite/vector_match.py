"""Comparison of many vectors with many rows, by matrix products of bounded size."""

import numpy as np

from memory.db.querysets import Ranked

MAX_SCORES = 2**22  # of one product: 16 MB
MAX_HITS = 2**20  # collected before the worse ones are dropped: 20 MB


class BestRows:
    """The best k rows of each of several vectors, of those that reach a floor; compared part by part."""

    def __init__(self, vectors: np.ndarray, floor: float, k: int) -> None:
        self.vectors, self.floor, self.k = np.ascontiguousarray(vectors, dtype="f4"), floor, k
        self._floors = np.full(len(vectors), floor, dtype="f4")  # of each vector, rising with its hits
        self._number, self._rid = np.empty(0, dtype="i4"), np.empty(0, dtype="i8")
        self._score = np.empty(0, dtype="f4")

    def compare(self, matrix: np.ndarray, at: np.ndarray, rids: np.ndarray) -> None:
        """Compare with rows whose vectors are in a matrix at the positions ``at``, in rising order."""
        if not len(at):
            return
        needed, at = np.unique(at, return_inverse=True)
        # A whole matrix is multiplied in place: a copy of most of it would cost more than it saves.
        if 4 * len(needed) < len(matrix):
            matrix = matrix[needed]
        else:
            at, matrix = needed[at], matrix[: needed[-1] + 1]
        step = max(1, MAX_SCORES // len(matrix))
        for start in range(0, len(self.vectors), step):
            scores = self.vectors[start : start + step] @ matrix.T
            near = scores >= self._floors[start : start + step, None]
            # Two-dimensional nonzero takes fifty times as long where nearly everything is False.
            number, position = np.divmod(np.flatnonzero(near), len(matrix))
            self._collect(number + start, position, scores[number, position], at, rids)

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
        ranked: list[Ranked] = [[] for _ in self.vectors]
        hits = zip(self._number.tolist(), self._rid.tolist(), self._score.tolist(), strict=True)
        for number, rid, score in hits:
            if score >= self.floor:  # the products were compared with its rounded value
                ranked[number].append((rid, score))
        return ranked

"""Comparing the vectors in memory with one: all that a lineage shows, the best first."""

from typing import NamedTuple

import numpy as np

from memory.db.querysets import Ranked, VersionedQuerySet
from memory.db.sqlite.columns import Blocks

CHUNK = 500


class Shown(NamedTuple):
    """Positions of the rows that a lineage shows; of those among them with a vector, and of that."""

    visible: np.ndarray
    at: np.ndarray
    vec: np.ndarray
    vectors: int  # how many there were when this was made

    @classmethod
    def of(cls, visible: np.ndarray, vec: np.ndarray, vectors: int) -> "Shown":
        have = vec[visible] >= 0
        at = visible if have.all() else visible[have]
        return cls(visible, at, vec[at].astype("i4"), vectors)


class Scan(NamedTuple):
    """Rows to be compared with a vector. Nothing of it changes, so that any thread may do the work."""

    rids: np.ndarray  # of all rows
    at: np.ndarray  # those to be compared
    vec: np.ndarray  # the positions of their vectors
    vectors: Blocks
    vector: np.ndarray

    def best(self, k: int) -> Ranked:
        """The k best by cosine; ties by row id."""
        return _best(self.rids, self.at, self.scores(), k)

    def scores(self) -> np.ndarray:
        return self.vectors.dot(self.vec, self.vector)

    def best_that_pass(self, rows: VersionedQuerySet, k: int) -> Ranked:
        """The k best that pass filters which memory does not know: the database is asked in rank order."""
        scores, passed = self.scores(), list[tuple[int, float]]()
        looked, take = 0, 4 * k
        while len(passed) < k and looked < len(self.at):
            ranked = _best(self.rids, self.at, scores, take)
            passed += _passing(ranked[looked:], rows)
            looked = len(ranked)
            # As many more as it takes if they pass as seldom as these did, and half as many again.
            take = looked + max(k, int(1.5 * looked * (k - len(passed)) / max(len(passed), looked / 20)))
        return passed[:k]


def _best(rids: np.ndarray, at: np.ndarray, scores: np.ndarray, k: int) -> Ranked:
    """The best k of the rows at these positions; ties by row id."""
    if 0 < k < len(scores):
        # All that tie with the k-th stay in, so that the order by row id decides.
        edge = np.partition(scores, len(scores) - k)[len(scores) - k]
        some = np.flatnonzero(scores >= edge)
        at, scores = at[some], scores[some]
    rids = rids[at]
    order = np.lexsort((rids, -scores))[:k]
    return list(zip(rids[order].tolist(), scores[order].tolist(), strict=True))


def _passing(ranked: Ranked, rows: VersionedQuerySet) -> Ranked:
    passed: set[int] = set()
    for start in range(0, len(ranked), CHUNK):
        some = [rid for rid, _ in ranked[start : start + CHUNK]]
        passed.update(rid for (rid,) in rows.picked(("rid",), "rid", some))
    return [hit for hit in ranked if hit[0] in passed]

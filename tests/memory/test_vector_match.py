"""Many vectors compared with many rows at once: the same as one by one, whatever the size of the parts."""

import numpy as np
import pytest

from memory.db.sqlite.coded_vectors import BLOCK, CodedVectors, Codes
from memory.db.sqlite.vector_scan import BestRows, Scan, top_rows
from memory.models import Fact

ROWS, DIMENSIONS = 2 * BLOCK + 700, 4
random = np.random.default_rng(7)


def units(count: int) -> np.ndarray:
    vectors = random.normal(size=(count, DIMENSIONS)).astype("f4")
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def singly(scan: Scan, floor: float, k: int) -> list[list[int]]:
    each = (scan._replace(vector=vector) for vector in scan.vector)
    ranked = (top_rows(one.rids, one.at, one.scores(), len(one.at)) for one in each)
    return [[rid for rid, score in found if score >= floor][:k] for found in ranked]


@pytest.fixture(scope="module")
def blocks() -> CodedVectors:
    stored = CodedVectors()
    stored.append(units(ROWS))
    return stored


@pytest.mark.parametrize("sizes", [(2**22, 2**20), (BLOCK * 3, 50)])
@pytest.mark.parametrize("shown", [ROWS, 900, 1, 0])
@pytest.mark.parametrize(("floor", "k"), [(0.9, 5), (0.99, 1000), (-1.0, 3), (2.0, 5)])
def test_the_same_as_one_by_one(
    blocks: CodedVectors,
    monkeypatch: pytest.MonkeyPatch,
    sizes: tuple[int, int],
    shown: int,
    floor: float,
    k: int,
) -> None:
    monkeypatch.setattr("memory.db.sqlite.vector_scan.MAX_SCORES", sizes[0])
    monkeypatch.setattr("memory.db.sqlite.vector_scan.MAX_HITS", sizes[1])
    rids = random.permutation(ROWS) + 1
    at = np.sort(random.permutation(ROWS)[:shown])
    vec = random.integers(0, ROWS, shown).astype("i4")  # some rows have the same vector
    scan = Scan(rids, at, vec, blocks, units(20))
    matched = scan.match_rows(Fact.objects.in_lineage([(1, 1)]), floor, k)
    assert [[rid for rid, _ in hits] for hits in matched] == singly(scan, floor, k)


def test_a_score_at_the_floor_counts_and_one_below_it_does_not() -> None:
    vectors = np.array([[1, 0], [0, 1]], dtype="f4")
    lower = np.float32(0.9)  # a little less than 0.9
    best = BestRows(vectors, 0.9, 5)
    best.compare(
        Codes.encode(np.array([[lower, 0.5], [1, 0]], dtype="f4")), np.array([0, 0, 1]), np.array([9, 4, 2])
    )
    assert best.rank() == [[(2, 1.0)], []]
    best = BestRows(vectors, 0.5, 5)
    best.compare(Codes.encode(np.array([[0.5, 0.5]], dtype="f4")), np.array([0, 0]), np.array([9, 4]))
    assert best.rank() == [[(4, 0.5), (9, 0.5)]] * 2

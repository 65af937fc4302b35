"""Coded vectors give the same best rows and cosines as float32, whatever the vectors are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.db.sqlite.coded_vectors import BLOCK, ROUNDING, CodedVectors, Codes, Query
from memory.db.sqlite.vector_scan import Scan, top_rows


def unit_vectors(seed: int, count: int, dimensions: int, spread: float) -> np.ndarray:
    """Vectors around one direction: the smaller the spread, the closer together."""
    random = np.random.default_rng(seed)
    center = random.normal(size=dimensions)
    vectors = center + spread * random.normal(size=(count, dimensions))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("f4")


def scan_of(vectors: np.ndarray, vector: np.ndarray) -> Scan:
    stored = CodedVectors()
    stored.append(vectors)
    every = np.arange(len(vectors))
    return Scan(every + 1000, every, every.astype("i4"), stored, vector)


def build_blocks(spread: float) -> tuple[CodedVectors, Query]:
    """Two blocks and a part of a third, and a query."""
    vectors, stored = unit_vectors(11, 2 * BLOCK + 100, 8, spread), CodedVectors()
    stored.append(vectors)
    return stored, Query(vectors[0])


BLOCKS = {spread: build_blocks(spread) for spread in (1e-3, 0.05, 1.0)}


@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(1, 400),
    dimensions=st.sampled_from([1, 3, 64, 384]),
    spread=st.sampled_from([1e-4, 0.05, 1.0, 30.0]),
    k=st.integers(1, 60),
)
def test_the_best_rows_are_those_of_float32(
    seed: int, count: int, dimensions: int, spread: float, k: int
) -> None:
    vectors = unit_vectors(seed, count + 1, dimensions, spread)
    vector, vectors = vectors[0], vectors[1:]
    exact = vectors.astype("f8") @ vector.astype("f8")
    best = scan_of(vectors, vector).best(k)
    assert len(best) == min(k, count)
    assert np.allclose([score for _, score in best], np.sort(exact)[::-1][:k], atol=2e-6)
    assert np.allclose([score for _, score in best], [exact[rid - 1000] for rid, _ in best], atol=2e-6)


@pytest.mark.parametrize("spread", [1e-4, 0.02, 0.05, 1.0])
@pytest.mark.parametrize("share", [1.0, 0.1])
def test_the_best_of_several_blocks_and_of_a_part_of_them_are_those_of_float32(
    spread: float, share: float
) -> None:
    random = np.random.default_rng(7)
    vectors = unit_vectors(3, 2 * BLOCK + 600, 32, spread)
    part = np.sort(random.permutation(len(vectors))[: int(share * len(vectors))])
    stored = CodedVectors()
    stored.append(vectors)
    scan = Scan(np.arange(len(vectors)), part, part.astype("i4"), stored, vectors[9])
    exact = vectors.astype("f8") @ vectors[9].astype("f8")
    best = scan.best(60)
    assert np.allclose([score for _, score in best], np.sort(exact[part])[::-1][:60], atol=2e-6)
    assert {rid for rid, _ in best} <= set(part.tolist())


@given(
    seed=st.integers(0, 2**32 - 1),
    spread=st.sampled_from([1e-3, 0.05, 1.0]),
    size=st.integers(1, 3000),
)
def test_the_estimate_of_some_rows_is_that_of_all(seed: int, spread: float, size: int) -> None:
    vectors, query = BLOCKS[spread]
    at = np.sort(np.random.default_rng(seed).permutation(vectors.size)[:size])
    every = vectors.estimate(np.arange(vectors.size), query)
    assert np.array_equal(vectors.estimate(at, query), every[at])


@pytest.mark.parametrize("spread", [1e-4, 0.05, 1.0, 30.0])
def test_no_coarse_cosine_is_further_off_than_the_bound(spread: float) -> None:
    vectors = unit_vectors(5, 3000, 384, spread)
    stored, query = CodedVectors(), Query(vectors[:20])
    stored.append(vectors)
    exact = query.vectors.astype("f8") @ vectors.T.astype("f8")
    for codes in (Codes.encode(vectors), Codes.encode(vectors, vectors[-1]), stored._blocks[0][:3000]):
        assert np.abs(codes.estimate(query) - exact).max() <= codes.bound_error(query)


def test_vectors_around_one_direction_have_a_bound_as_narrow_as_they_are() -> None:
    bounds = []
    for spread in (1.0, 0.1):
        vectors, stored = unit_vectors(5, 3000, 384, spread), CodedVectors()
        stored.append(vectors)
        bounds.append(stored.bound_error(Query(vectors[0])) - ROUNDING)
    assert bounds[1] < bounds[0] / 40


def test_blocks_fill_up_and_keep_positions() -> None:
    vectors = unit_vectors(1, 2 * BLOCK + 10, 4, 1.0)
    stored = CodedVectors()
    parts = [stored.append(part) for part in (vectors[:3], vectors[3 : BLOCK + 1], vectors[BLOCK + 1 :])]
    assert np.array_equal(np.concatenate(parts), np.arange(len(vectors)))
    at = np.array([len(vectors) - 1, 0, BLOCK, BLOCK - 1, 0])
    assert np.allclose(stored.dot(at, vectors[7]), vectors[at] @ vectors[7], atol=1e-6)
    assert np.allclose(
        stored.estimate(at, Query(vectors[7])),
        vectors[at] @ vectors[7],
        atol=stored.bound_error(Query(vectors[7])),
    )


def test_empty_and_zero_vectors_are_no_error() -> None:
    stored = CodedVectors()
    nothing = np.empty(0, dtype="i4")
    assert (stored.dimensions, stored.bound_error(Query(np.ones(3)))) == (0, 0.0)
    assert Scan(nothing, nothing, nothing, stored, np.ones(3, dtype="f4")).best(5) == []
    stored.append(np.zeros((2, 3), dtype="f4"))
    assert stored.dot(np.array([0, 1]), np.ones(3, dtype="f4")).tolist() == [0.0, 0.0]


def test_ties_are_ordered_by_row_id() -> None:
    vectors = np.repeat(unit_vectors(2, 1, 16, 1.0), 50, axis=0)
    scan = scan_of(vectors, vectors[0])
    assert [rid for rid, _ in scan.best(7)] == list(range(1000, 1007))
    assert scan.best(7) == top_rows(scan.rids, scan.at, scan.scores(), 7)

"""Search among vectors in memory: coded, and as floats, for vectors of any direction and around one.

  .venv/bin/python -m bench.coded_vectors [--vectors 100000]

Processor time of this thread, so that other work on the machine counts less.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

from memory.db.sqlite.coded_vectors import CodedVectors, Query
from memory.db.sqlite.vector_scan import Scan, top_rows

DIMENSIONS, BATCH_SIZE, HITS, RUNS = 384, 2000, 60, 5
SPREADS = (None, 1.0, 0.3, 0.1, 0.03, 0.01)  # per number, around a direction of the length 1 per number


def main() -> None:
    parser = argparse.ArgumentParser(description="Search among vectors in memory, coded and as floats.")
    parser.add_argument("--vectors", type=int, default=100_000)
    count = parser.parse_args().vectors
    print("spread | coded ms | floats ms | bound | encode µs a vector")
    for spread in SPREADS:
        vectors = make_vectors(count, spread)
        print(spread or "any", *measure(vectors), sep=" | ", flush=True)


def make_vectors(count: int, spread: float | None) -> np.ndarray:
    random = np.random.default_rng(1)
    center = random.normal(size=DIMENSIONS)
    vectors = np.empty((count, DIMENSIONS), dtype="f4")
    for start in range(0, count, BATCH_SIZE):
        part = random.normal(size=(min(BATCH_SIZE, count - start), DIMENSIONS))
        part = part if spread is None else center + spread * part
        vectors[start : start + len(part)] = part / np.linalg.norm(part, axis=1, keepdims=True)
    return vectors


def measure(vectors: np.ndarray) -> list[str]:
    """Return the figures of one kind of vectors, after both ways gave the same rows."""
    stored, every, vector = CodedVectors(), np.arange(len(vectors)), vectors[7]

    def encode() -> None:
        for start in range(0, len(vectors), BATCH_SIZE):
            stored.append(vectors[start : start + BATCH_SIZE])

    encoding = timed(encode, 1) / len(vectors)
    scan = Scan(every, every, every.astype("i4"), stored, vector)
    scores = np.einsum("ij,j->i", vectors, vector)
    ours, theirs = scan.best(HITS), top_rows(every, every, scores, HITS)
    assert np.allclose([score for _, score in ours], [score for _, score in theirs], atol=2e-6)
    coded = timed(lambda: scan.best(HITS), RUNS)
    floats = timed(lambda: top_rows(every, every, np.einsum("ij,j->i", vectors, vector), HITS), RUNS)
    bound = stored.bound_error(Query(vector))
    return [f"{coded:.1f}", f"{floats:.1f}", f"{bound:.5f}", f"{1000 * encoding:.1f}"]


def timed(work: Callable[[], object], runs: int) -> float:
    """Return the milliseconds of one run."""
    began = time.thread_time()
    for _ in range(runs):
        work()
    return (time.thread_time() - began) / runs * 1000


if __name__ == "__main__":
    main()

"""Alignments of two sequences. Pairs never cross: both sides keep their order."""

from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from rapidfuzz.distance import Indel

Pair = tuple[int | None, int | None]  # places on both sides; None where a side has nothing


def align_equal(first: Sequence[Hashable], second: Sequence[Hashable]) -> list[Pair]:
    """Pair equal items by a longest common subsequence; the rest stands alone, in order."""
    numbers: dict[Hashable, int] = {}
    left, right = ([numbers.setdefault(item, len(numbers)) for item in side] for side in (first, second))
    pairs: list[Pair] = []
    for step in Indel.opcodes(left, right):
        places, others = range(step.src_start, step.src_end), range(step.dest_start, step.dest_end)
        if step.tag == "equal":
            pairs += zip(places, others, strict=True)
        else:
            pairs += [(place, None) for place in places]
            pairs += [(None, other) for other in others]
    return pairs


def align_similar(similarity: np.ndarray) -> list[tuple[int, int]]:
    """Return the pairs with the highest sum of similarities, none of which cross, in order.

    ``similarity`` has a row for each item of one side and a column for each of the other, 0 to 1.
    """
    rows, columns = similarity.shape
    best = np.zeros((rows + 1, columns + 1))
    for i in range(rows):
        paired = best[i, :-1] + similarity[i]
        best[i + 1, 1:] = np.maximum.accumulate(np.maximum(best[i, 1:], paired))
    return list(_walk_back(best, similarity))[::-1]


def _walk_back(best: np.ndarray, similarity: np.ndarray) -> Iterator[tuple[int, int]]:
    i, j = similarity.shape
    while i and j:
        if best[i, j] == best[i - 1, j]:
            i -= 1
        elif best[i, j] == best[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            yield i, j


def measure_overlap(first: frozenset, second: frozenset) -> float:
    """Return the share of items that both sets have (Jaccard); 1 for two empty ones."""
    return len(first & second) / len(first | second) if first or second else 1.0


def count_bigrams(names: Sequence[str]) -> frozenset[tuple[str, str]]:
    """Return the pairs of neighbours in a sequence, with its begin and end; none for an empty one."""
    return frozenset(zip(["", *names], [*names, ""], strict=True)) if names else frozenset()

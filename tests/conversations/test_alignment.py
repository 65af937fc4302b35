"""Alignments and verdicts on random sequences: never crossing, the same from both sides, equal to itself."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.engines.semantic_diff.comparison import align_equal, align_similar
from conversations.engines.semantic_diff.engine import choose_verdict, compare_actions
from conversations.engines.semantic_diff.tool_steps import ToolStep

NAMES = st.lists(st.sampled_from("abcd"), max_size=12)
GRIDS = st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**31)).map(
    lambda shape: np.random.default_rng(shape[2]).random(shape[:2]).round(2)
)


def increases(values):
    return all(one < other for one, other in pairwise(values))


@given(NAMES, NAMES)
def test_equal_items_are_paired_in_order_and_all_are_there(first, second):
    pairs = align_equal(first, second)
    both = [(i, j) for i, j in pairs if i is not None and j is not None]
    assert all(first[i] == second[j] for i, j in both)
    assert [i for i, _ in pairs if i is not None] == list(range(len(first)))
    assert [j for _, j in pairs if j is not None] == list(range(len(second)))
    assert len(both) == longest(first, second)


def longest(first, second):
    table = [[0] * (len(second) + 1)]
    for one in first:
        row = [0]
        for j, other in enumerate(second):
            row.append(table[-1][j] + 1 if one == other else max(table[-1][j + 1], row[-1]))
        table.append(row)
    return table[-1][-1]


@given(GRIDS)
def test_similar_items_are_paired_in_order_with_the_highest_sum(grid):
    pairs = align_similar(grid)
    assert increases([i for i, _ in pairs])
    assert increases([j for _, j in pairs])
    total = sum(grid[i, j] for i, j in pairs)
    assert total == pytest.approx(highest_sum(grid))
    assert total == pytest.approx(sum(grid[j, i] for i, j in align_similar(grid.T)))


def highest_sum(grid):
    rows, columns = grid.shape
    return max(
        sum(grid[i, j] for i, j in zip(left, right, strict=True))
        for size in range(min(rows, columns) + 1)
        for left in combinations(range(rows), size)
        for right in combinations(range(columns), size)
    )


@given(NAMES, NAMES)
def test_actions_compare_the_same_from_both_sides(first, second):
    steps, others = ([ToolStep(name) for name in names] for names in (first, second))
    one, other = compare_actions(steps, others), compare_actions(others, steps)
    assert (one.similarity, one.sequence, one.order) == (other.similarity, other.sequence, other.order)
    assert 0 <= one.similarity <= 1
    assert compare_actions(steps, steps).similarity == 1
    assert (one.similarity == 1) == (first == second)


@pytest.mark.parametrize(
    ("actions", "reasoning", "verdict"),
    [
        (0.81, 0.81, "equivalent"),
        (0.8, 1.0, "similar"),
        (0.51, 0.9, "similar"),
        (0.5, 0.9, "mixed"),
        (0.29, 0.9, "divergent"),
        (0.3, 0.9, "mixed"),
        (0.9, 0.1, "mixed"),
    ],
)
def test_verdicts_follow_the_thresholds(actions, reasoning, verdict):
    assert choose_verdict(actions, reasoning) == verdict

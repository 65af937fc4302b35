"""Differences of two conversations message by message."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import numpy as np
from rapidfuzz.distance import Indel

from conversations.engines.semantic_diff.loading import NOW, Comparison, Points, load_comparison, row_key
from conversations.models import Message
from memory.actors import Actor
from memory.engines.search.fact_rows import MAX_FOUND_CHARACTERS
from memory.engines.support.pagination import (
    NOT_OURS,
    check_limit,
    mark_from,
    parse_count,
    read_cursor,
    write_cursor,
)
from memory.exceptions import Invalid

TEXTS = ("content", "thinking")
SAME, CHANGED, REMOVED, ADDED = CHANGES = "same", "changed", "removed", "added"
Pair = tuple[int | None, int | None]  # places on both sides; None where a side has nothing


@dataclass(frozen=True)
class DiffRow:
    """Messages that stand at the same place; one is None where only one side has something."""

    change: str
    first: Message | None
    second: Message | None


@dataclass(frozen=True)
class RowDiff:
    """The rows after what both share, in order."""

    comparison: Comparison
    rows: list[DiffRow]
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class RowDiffPage:
    """A page of rows; long texts are cut."""

    diff: RowDiff
    rows: Sequence[DiffRow]
    next: str | None


def list_diff_rows(
    *,
    first: UUID,
    second: UUID,
    actor: Actor,
    limit: int = 50,
    cursor: str = "",
    points: Points = NOW,
    **branches: Any,
) -> RowDiffPage:
    """Return a page of the differences of two conversations, as both were for the first page."""
    check_limit(limit)
    mark = mark_from(repr((first, second, sorted(branches.items()))))
    position = read_cursor(cursor, mark)
    start = parse_count(position.get("key", "0"))
    points = parse_points(position["seqs"]) if "seqs" in position else points
    diff = diff_rows(load_comparison(first=first, second=second, actor=actor, points=points, **branches))
    rows = diff.rows[start : start + limit]
    for row in (row for one in rows for row in (one.first, one.second) if row):
        _cut_texts(row)
    seqs = [str(side.seq) for side in (diff.comparison.first, diff.comparison.second)]
    following = {"key": str(start + limit), "list": mark, "seqs": seqs}
    return RowDiffPage(diff, rows, write_cursor(following) if len(diff.rows) > start + limit else None)


def parse_points(seqs: Any) -> Points:
    """Return the seqs of both sides that a cursor has. Raises Invalid."""
    if not isinstance(seqs, list) or len(seqs) != 2:
        raise Invalid(NOT_OURS, field="cursor")
    return parse_count(str(seqs[0])), parse_count(str(seqs[1]))


def _cut_texts(row: Any) -> None:
    """Shorten long texts, as among the results of a search."""
    row.truncated = [name for name in TEXTS if len(getattr(row, name)) > MAX_FOUND_CHARACTERS]
    for name in row.truncated:
        setattr(row, name, getattr(row, name)[:MAX_FOUND_CHARACTERS])


def diff_rows(comparison: Comparison) -> RowDiff:
    """Align messages by a longest common subsequence; in its gaps those of one role are changes."""
    first, second = comparison.first.messages, comparison.second.messages
    pairs = align_equal([row_key(row) for row in first], [row_key(row) for row in second])
    rows = list(_build_rows(pairs, first, second))
    counts = {name: sum(row.change == name for row in rows) for name in CHANGES}
    return RowDiff(comparison, rows, counts)


def _build_rows(
    pairs: Sequence[Pair], first: Sequence[Message], second: Sequence[Message]
) -> Iterator[DiffRow]:
    removed: list[Message] = []
    added: list[Message] = []
    for place, other in pairs:
        if place is not None and other is not None:
            yield from _build_gap(removed, added)
            removed, added = [], []
            yield DiffRow(SAME, first[place], second[other])
        elif place is not None:
            removed.append(first[place])
        elif other is not None:
            added.append(second[other])
    yield from _build_gap(removed, added)


def _build_gap(removed: Sequence[Message], added: Sequence[Message]) -> Iterator[DiffRow]:
    for place, other in align_equal([row.role for row in removed], [row.role for row in added]):
        one = None if place is None else removed[place]
        two = None if other is None else added[other]
        yield DiffRow(CHANGED if one and two else REMOVED if one else ADDED, one, two)


# ---- alignment ---------------------------------------------------------------------------------------


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

"""What could answer a question: the rows of both arms, each with all of its raw scores.

Every candidate of either arm gets both scores; a list per arm with nothing in the other column would
punish what only one arm put among its first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from uuid import UUID

import numpy as np
from django.db import DatabaseError
from django.db.models import Q

from memory.db.later import Later
from memory.db.querysets import Ranked, VersionedQuerySet

LIKE_WORDS = 8
MARGIN = 5  # one more in so many, where the caller may have to leave some out


@dataclass(frozen=True)
class Question:
    """A query, ready to be asked: its words, and its vector and word vectors where there is an embedder."""

    text: str
    words: Sequence[str]
    vector: np.ndarray | None = None
    word_vectors: np.ndarray | None = None
    model: str = ""


@dataclass
class Candidates:
    """Raw scores by row id, and which arms found anything."""

    keyword: dict[int, float] = field(default_factory=dict)
    vector: dict[int, float] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    near: list[int] = field(default_factory=list)  # what the vector arm offered
    asked: int = 0  # how many rows it was asked for

    def add(self, more: "Candidates") -> None:
        self.keyword |= more.keyword
        self.vector |= more.vector
        self.used |= more.used

    def short_of(self, pool: int, valid: set[int]) -> bool:
        """Whether too few of what the vector arm offered are valid, though it has more."""
        return len(self.near) == self.asked > 0 and len(valid.intersection(self.near)) < pool

    @property
    def rids(self) -> list[int]:
        return sorted(self.keyword.keys() | self.vector.keys())


def candidates(
    rows: VersionedQuerySet,
    question: Question,
    search_type: str,
    pool: int,
    project_id: UUID,
    also: Sequence[int] = (),
    near: VersionedQuerySet | None = None,
) -> Candidates:
    """The best ``pool`` rows of each arm that the search type wants, and the rows ``also``.

    ``near`` are the rows for the vector arm, where the caller checks what it finds.
    """
    found = Candidates()
    nearest: Sequence[tuple[int, float]] = ()
    if question.vector is None:
        search_type = "keyword"  # without an embedder the keywords alone decide, whatever was asked for
    if search_type != "keyword" and question.vector is not None:
        source, found.asked = (rows, pool) if near is None else (near, pool + pool // MARGIN)
        nearest = source.nearest_later(question.vector, found.asked, question.model, project_id)
    if search_type != "vector":
        others = Later(lambda: [*(rid for rid, _ in nearest), *also])  # not looked into before it must be
        _keyword_arm(found, rows, question, pool, others)
    found.near = [rid for rid, _ in nearest]
    if search_type != "keyword" and question.vector is not None:
        _vector_arm(found, rows, question, nearest, project_id, also)
    return found


def _keyword_arm(
    found: Candidates, rows: VersionedQuerySet, question: Question, pool: int, also: Sequence[int]
) -> None:
    ranked: Ranked = []
    others: Ranked = []
    try:
        ranked, others = rows.keyword(question.words, pool, also)
    except DatabaseError:  # an index that is damaged or being rebuilt: search degrades, it does not fail
        found.used.add("index_error")
    if ranked:
        found.used.add("keyword")
    elif ranked := like(rows, question.words, pool):
        found.used.add("like")
    found.keyword = dict(others) | dict(ranked)


def _vector_arm(
    found: Candidates,
    rows: VersionedQuerySet,
    question: Question,
    nearest: Sequence[tuple[int, float]],
    project_id: UUID,
    also: Sequence[int],
) -> None:
    found.vector = dict(nearest)
    rest = [rid for rid in {*found.keyword, *also} if rid not in found.vector]
    if rest and question.vector is not None:
        found.vector |= dict(rows.cosines(rest, question.vector, question.model, project_id))
    if found.vector:
        found.used.add("vector")


def like(rows: VersionedQuerySet, words: Sequence[str], k: int) -> Ranked:
    """The newest rows that hold any of the words as a part, scored by the share of the words they hold."""
    words = list(words)[:LIKE_WORDS]
    if not words:
        return []
    text = rows.model.TEXT  # type: ignore[attr-defined]
    holds = reduce(or_, (Q(**{f"{text}__icontains": word}) for word in words))
    hits = [(row.pk, _share(getattr(row, text), words)) for row in rows.filter(holds).newest(k)]
    return sorted(hits, key=lambda hit: (-hit[1], hit[0]))


def _share(text: str, words: Sequence[str]) -> float:
    folded = text.casefold()
    return max(sum(word.casefold() in folded for word in words), 1) / len(words)

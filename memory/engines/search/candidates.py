"""Candidates of a search: the rows of both arms, each with all of its raw scores.

Every candidate of either arm gets both scores; without them, a row that only one arm ranked high would be
penalised.
"""

import logging
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from uuid import UUID

import numpy as np
from django.db import DatabaseError
from django.db.models import Q

from memory.db.deferred import Deferred
from memory.db.querysets import Ranked, VersionedQuerySet
from memory.engines.embedding.models import usable_provider
from memory.engines.support.model_budgets import paid_by
from memory.exceptions import Invalid, ProviderUnavailable, QueryTooLong
from memory.metrics import timed
from memory.providers.embedding import EmbeddingProvider, get_floor, read_query, share_known
from memory.words import STOP_WORDS, extract_keywords, list_phrases

logger = logging.getLogger(__name__)
LIKE_WORDS = 8
MARGIN = 5  # one extra row in so many, where the caller may have to drop some
MAX_QUERY_LENGTH = 8000  # characters
MIN_KNOWN, MIN_ENGLISH = 0.78, 0.3  # letters in words that the model knows, words that connect others


@dataclass(frozen=True)
class PreparedQuery:
    """Prepared query: its words, and its vector and word vectors where there is an embedder."""

    text: str
    words: Sequence[str]
    vector: np.ndarray | None = None
    word_vectors: np.ndarray | None = None
    model: str = ""
    floor: float = 0.0  # the cosine that unrelated texts have under this model
    is_foreign: bool = False  # in a language of which the model knows the letters alone


@dataclass
class Candidates:
    """Raw scores by row id, and the arms that found anything."""

    keyword: dict[int, float] = field(default_factory=dict)
    vector: dict[int, float] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    vector_hits: list[int] = field(default_factory=list)  # hits of the vector arm
    vector_limit: int = 0  # the vector arm's limit
    word_hits: list[int] = field(default_factory=list)  # hits of the keyword arm that nobody has checked
    word_limit: int = 0

    def add(self, more: "Candidates") -> None:
        self.keyword |= more.keyword
        self.vector |= more.vector
        self.used |= more.used

    def needs_refill(self, pool: int, valid: set[int]) -> bool:
        """Return whether too few of an arm's hits are valid, though it has more."""
        arms = [(self.vector_hits, self.vector_limit), (self.word_hits, self.word_limit)]
        return any(
            len(hits) == limit > 0 and len(valid.intersection(hits)) < pool for hits, limit in arms
        ) or (bool(self.word_hits) and valid.isdisjoint(self.word_hits))

    def trim_words(self, pool: int, valid: set[int], also: Sequence[int] = ()) -> None:
        """Keep the best ``pool`` valid hits of the keyword arm, as if only valid ones had been looked at."""
        best = [rid for rid in self.word_hits if rid in valid][:pool]
        for rid in set(self.word_hits).difference(best, self.vector_hits, also):
            self.keyword.pop(rid, None)
            self.vector.pop(rid, None)

    @property
    def rids(self) -> list[int]:
        return sorted(self.keyword.keys() | self.vector.keys())


@timed("day1_search_part_seconds", part="candidates")
def find_candidates(
    rows: VersionedQuerySet,
    question: PreparedQuery,
    search_type: str,
    pool: int,
    project_id: UUID,
    also: Sequence[int] = (),
    near: VersionedQuerySet | None = None,
    substrings: bool = True,
) -> Candidates:
    """Return the best ``pool`` rows of each arm of the search type, and the rows ``also``.

    ``near`` are rows that are quicker to look through, where the caller checks the hits itself. Where no row
    has a word of the query, rows that contain one as a part are read, unless ``substrings`` is false: that
    reads all.
    """
    found = Candidates()
    more = pool + pool // MARGIN
    nearest: Sequence[tuple[int, float]] = ()
    if question.vector is None:
        search_type = "keyword"  # without an embedder the keywords alone decide, whatever the search type
    if search_type != "keyword" and question.vector is not None:
        source, found.vector_limit = (rows, pool) if near is None else (near, more)
        nearest = source.nearest_deferred(question.vector, found.vector_limit, question.model, project_id)
    if search_type != "vector":
        others = Deferred(lambda: [*(rid for rid, _ in nearest), *also])  # evaluated only when needed
        if near is not None and near.knows_words():
            found.word_limit = more
            _keyword_arm(found, near, question, more, others)
        else:
            _keyword_arm(found, rows, question, pool, others)
        if substrings and "keyword" not in found.used:
            _substring_arm(found, rows, question, pool)
    found.vector_hits = [rid for rid, _ in nearest]
    if search_type != "keyword" and question.vector is not None:
        _vector_arm(found, rows, question, nearest, project_id, also)
    return found


@timed("day1_search_part_seconds", part="keywords")
def _keyword_arm(
    found: Candidates, rows: VersionedQuerySet, question: PreparedQuery, pool: int, also: Sequence[int]
) -> None:
    ranked: Ranked = []
    others: Ranked = []
    try:
        ranked, others = rows.match_words(question.words, pool, also)
    except DatabaseError as error:  # damaged or being rebuilt: search degrades, it does not fail
        logger.warning("search without keywords: %s", error)
        found.used.add("index_error")
    if ranked:
        found.used.add("keyword")
    if found.word_limit:
        found.word_hits = [rid for rid, _ in ranked]
    found.keyword = dict(others) | dict(ranked)


def _substring_arm(found: Candidates, rows: VersionedQuerySet, question: PreparedQuery, pool: int) -> None:
    if ranked := substring_search(rows, question.words, pool):
        found.used.add("like")
        found.keyword |= dict(ranked)


def _vector_arm(
    found: Candidates,
    rows: VersionedQuerySet,
    question: PreparedQuery,
    nearest: Sequence[tuple[int, float]],
    project_id: UUID,
    also: Sequence[int],
) -> None:
    found.vector = dict(nearest)
    rest = [rid for rid in {*found.keyword, *also} if rid not in found.vector]
    if rest and question.vector is not None:
        found.vector |= dict(rows.score_cosines(rest, question.vector, question.model, project_id))
    if found.vector:
        found.used.add("vector")


def substring_search(rows: VersionedQuerySet, words: Sequence[str], k: int) -> Ranked:
    """Return the newest rows that contain any of the words, scored by the share of the words."""
    words = list(words)[:LIKE_WORDS]
    if not words:
        return []
    text = rows.model.TEXT
    holds = reduce(or_, (Q(**{f"{text}__icontains": word}) for word in words))
    newest = rows.filter(holds).stream(k, "uid", down=True)
    hits = [(row.pk, matched_share(getattr(row, text), words)) for row in newest]
    return sorted(hits, key=lambda hit: (-hit[1], hit[0]))


def matched_share(text: str, words: Sequence[str]) -> float:
    folded = text.casefold()
    return max(sum(word.casefold() in folded for word in words), 1) / len(words)


# ---- the query ---------------------------------------------------------------------------------------


def build_query(
    query: str, project_id: UUID, vector: np.ndarray | None = None, search_type: str = "hybrid"
) -> PreparedQuery:
    """Prepare a query's words and vectors, by the model that searches of the project use.

    ``vector`` replaces the embedder's. Raises QueryTooLong, Invalid for a query that is no text.
    """
    return embed_query(query, usable_provider(project_id), vector, search_type, project_id)


@timed("day1_search_part_seconds", part="query_vector")
def embed_query(
    query: str,
    provider: EmbeddingProvider | None,
    vector: np.ndarray | None = None,
    search_type: str = "hybrid",
    project_id: UUID | None = None,
) -> PreparedQuery:
    """Prepare a query's words and vectors, of which a project pays for the second. Without an embedder, when
    it fails, and of a query that it cannot read, the words alone; of the last two only a failure keeps the
    model's name. Raises as ``build_query``.
    """
    text = check_query(query)
    words = extract_keywords(text)
    if provider is None:
        return PreparedQuery(text, words, vector)
    model, floor = provider.model, get_floor(provider)
    if vector is not None or search_type == "keyword" or not text.strip():
        return PreparedQuery(text, words, vector, None, model, floor)
    try:
        with paid_by(project_id) if project_id else nullcontext():
            read = read_query(provider, text)
    except ProviderUnavailable as error:
        logger.warning("search without vectors: %s", error)
        return PreparedQuery(text, words, None, None, model, floor)
    if not read:
        return PreparedQuery(text, words, is_foreign=True)
    return PreparedQuery(text, words, *read, model, floor, is_foreign(provider, text))


def is_foreign(provider: EmbeddingProvider, text: str) -> bool:
    """Return whether few words of a query are known to the model, and few connect others in English: it finds
    texts of one language near whatever they say.
    """
    words = [word for word in list_phrases(text) if word.isalpha() and len(word) > 1]
    english = sum(word in STOP_WORDS for word in words)
    return len(words) > 1 and english < MIN_ENGLISH * len(words) and share_known(provider, text) < MIN_KNOWN


def check_query(query: str) -> str:
    """Return a query that every database accepts: lone surrogates and NULs match nothing and are removed."""
    if not isinstance(query, str):
        raise Invalid("{field} must be a text.", field="query")
    if len(query) > MAX_QUERY_LENGTH:
        raise QueryTooLong(limit=MAX_QUERY_LENGTH, length=len(query), field="query")
    return query.replace("\x00", " ").encode("utf-8", "ignore").decode()

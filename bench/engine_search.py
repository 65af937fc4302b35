"""Searches in the engine compared with plain FTS5 and numpy, query by query."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from bench.baseline_sqlite import BareSearch
from bench.corpus import Vocabulary
from bench.report import Figure, p50, timed, times
from bench.store_builder import CHILD, DIMENSIONS, MODEL, RARE

NARROW = tuple(RARE)  # these filters leave 1 %
BRANCH, FILTER, OTHER = 1.3, 1.0, 1.5  # times main, unfiltered


@dataclass(frozen=True)
class Query:
    """Query with the vectors that an embedder would have made of it."""

    text: str
    words: Sequence[str]
    vector: np.ndarray
    word_vectors: np.ndarray


def queries(vocabulary: Vocabulary, count: int) -> list[Query]:
    from memory.words import extract_keywords

    found = []
    for _ in range(count):
        text = vocabulary.query()
        words = extract_keywords(text)
        rows = vocabulary.unit(1 + len(words), DIMENSIONS)
        found.append(Query(text, words, rows[0], rows[1:]))
    return found


@contextmanager
def embedded(known: Sequence[Query]) -> Iterator[None]:
    """Give the engine the vectors of these queries and their words, without an embedder.

    SearchEngine.search takes a query's vector, but not those of its words, so matching them would be skipped.
    """
    from memory.engines.search import engine as search
    from memory.engines.search.candidates import PreparedQuery

    plain, by_text = search.build_query, {query.text: query for query in known}

    def ask(query: str, project_id: Any, vector: Any = None, search_type: str = "hybrid") -> PreparedQuery:
        found = by_text.get(query)
        if found is None or search_type == "keyword":
            return plain(query, project_id, vector, search_type)
        return PreparedQuery(query, found.words, found.vector, found.word_vectors, MODEL)

    search.build_query = ask
    try:
        yield
    finally:
        search.build_query = plain


class Searches:
    """Timed variants of one search; all variants run for a query before the next query."""

    def __init__(self, actor: Any, bare: BareSearch, clock: Callable[[], float]) -> None:
        self.actor, self.bare, self.clock = actor, bare, clock
        self.took: dict[str, list[float]] = {}

    def engine(self, query: Query, branch: str = "main", **options: Any) -> Any:
        from memory.engines.search.engine import SearchEngine

        return SearchEngine().search(query=query.text, actor=self.actor, branch_name=branch, **options)

    def search_new_words(self, query: Query) -> Any:
        """Search as if nobody had asked for these words before."""
        from memory.db.sqlite.keyword_cache import forget_words

        forget_words()
        return self.engine(query)

    def ways(self, kinds: Sequence[str]) -> dict[str, Callable[[Query], Any]]:
        ways: dict[str, Callable[[Query], Any]] = {
            "bare FTS5": lambda query: self.bare.keyword(query.words),
            "bare numpy": lambda query: self.bare.nearest(query.vector),
            "main": self.engine,
        }
        if "search" in kinds:
            ways["new words"] = self.search_new_words
        if "branch" in kinds:
            ways["branch"] = lambda query: self.engine(query, CHILD)
        if "filters" in kinds:
            ways |= {f"filter {name}": self._filtered(options) for name, options in filters().items()}
        return ways

    def _filtered(self, options: dict[str, Any]) -> Callable[[Query], Any]:
        from memory.engines.facts.filters import FactFilter

        chosen = FactFilter.from_values(options)
        return lambda query: self.engine(query, filters=chosen)

    def run(self, kinds: Sequence[str], warm: Sequence[Query], counted: Sequence[Query]) -> None:
        ways = self.ways(kinds)
        for query in warm:
            for work in ways.values():
                work(query)
        self.took = {name: [] for name in ways}
        names = list(ways)
        for number, query in enumerate(counted):
            self.engine(query)  # its words are known to all variants but "new words"
            # The first variant of a query finds colder caches: each is first in rotation.
            for name in names[number % len(names) :] + names[: number % len(names)]:
                self.took[name].append(timed(lambda name=name, query=query: ways[name](query), self.clock))

    def figures(self, kinds: Sequence[str]) -> Iterator[Figure]:
        main = p50(self.took["main"])
        bare = p50(np.add(self.took["bare FTS5"], self.took["bare numpy"]))
        parts = f"FTS5 {p50(self.took['bare FTS5']):.1f} + numpy {p50(self.took['bare numpy']):.1f}"
        if "search" in kinds:
            yield times("hybrid search on main, p50", main, bare, 2, parts)
            yield Figure("the same, in all", main, "ms", 100, "≤ 100 ms")
            yield times("the same, no word known, p50", p50(self.took["new words"]), bare, 2, parts)
        if "branch" in kinds:
            says = "main"
            yield times("search on a branch with 1,000 changes", p50(self.took["branch"]), main, BRANCH, says)
        if "filters" in kinds:
            for name in filters():
                most = FILTER if name in NARROW else OTHER
                yield times(f"filter {name}", p50(self.took[f"filter {name}"]), main, most, "unfiltered")


def filters() -> dict[str, dict[str, Any]]:
    now = datetime.now(UTC)
    week = {"created_after": now - timedelta(days=21), "created_before": now - timedelta(days=14)}
    return {
        **{name: {name: value} for name, value in RARE.items()},
        "tags": {"tags": ["t3"]},
        "min_confidence": {"min_confidence": 0.9},
        "created range": week,
        "verification": {"verification_status": "verified"},
    }

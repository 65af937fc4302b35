"""Searches in the engine beside bare FTS5 and numpy, query by query."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from bare import BareSearch
from building import CHILD, DIMENSIONS, MODEL, RARE
from figures import Figure, p50, timed, times
from synthetic import Vocabulary

NARROW = tuple(RARE)  # these filters leave 1 %
BRANCH, FILTER, OTHER = 1.3, 1.0, 1.5  # times main, unfiltered


@dataclass(frozen=True)
class Query:
    """A question with the vectors that an embedder would have made of it."""

    text: str
    words: Sequence[str]
    vector: np.ndarray
    word_vectors: np.ndarray


def queries(vocabulary: Vocabulary, count: int) -> list[Query]:
    from memory.words import keywords

    found = []
    for _ in range(count):
        text = vocabulary.query()
        words = keywords(text)
        rows = vocabulary.unit(1 + len(words), DIMENSIONS)
        found.append(Query(text, words, rows[0], rows[1:]))
    return found


@contextmanager
def embedded(known: Sequence[Query]) -> Iterator[None]:
    """The engine gets the vectors of these queries, and of their words, without an embedder.

    SearchEngine.search takes a query's vector, but not those of its words: matching them would be left out.
    """
    from memory.engines import search
    from memory.engines.candidates import Question

    plain, by_text = search.ask, {query.text: query for query in known}

    def ask(query: str, vector: Any = None, search_type: str = "hybrid") -> Question:
        found = by_text.get(query)
        if found is None or search_type == "keyword":
            return plain(query, vector, search_type)
        return Question(query, found.words, found.vector, found.word_vectors, MODEL)

    search.ask = ask
    try:
        yield
    finally:
        search.ask = plain


class Searches:
    """The ways of asking one query, each timed; all of them for a query before the next one."""

    def __init__(self, actor: Any, bare: BareSearch) -> None:
        self.actor, self.bare = actor, bare
        self.took: dict[str, list[float]] = {}

    def engine(self, query: Query, branch: str = "main", **how: Any) -> Any:
        from memory.engines.search import SearchEngine

        return SearchEngine().search(query=query.text, actor=self.actor, branch_name=branch, **how)

    def ways(self, kinds: Sequence[str]) -> dict[str, Callable[[Query], Any]]:
        ways: dict[str, Callable[[Query], Any]] = {
            "bare FTS5": lambda query: self.bare.keyword(query.words),
            "bare numpy": lambda query: self.bare.nearest(query.vector),
            "main": self.engine,
        }
        if "branch" in kinds:
            ways["branch"] = lambda query: self.engine(query, CHILD)
        if "filters" in kinds:
            ways |= {f"filter {name}": self._filtered(how) for name, how in filters().items()}
        return ways

    def _filtered(self, how: dict[str, Any]) -> Callable[[Query], Any]:
        from memory.engines.filters import FactFilter

        chosen = FactFilter.of(how)
        return lambda query: self.engine(query, filters=chosen)

    def run(self, kinds: Sequence[str], warm: Sequence[Query], counted: Sequence[Query]) -> None:
        ways = self.ways(kinds)
        for query in warm:
            for work in ways.values():
                work(query)
        self.took = {name: [] for name in ways}
        names = list(ways)
        for number, query in enumerate(counted):
            # Whoever asks a query first finds colder caches: that is each way's turn in rotation.
            for name in names[number % len(names) :] + names[: number % len(names)]:
                self.took[name].append(timed(lambda name=name, query=query: ways[name](query)))

    def figures(self, kinds: Sequence[str]) -> Iterator[Figure]:
        main = p50(self.took["main"])
        bare = p50(np.add(self.took["bare FTS5"], self.took["bare numpy"]))
        parts = f"FTS5 {p50(self.took['bare FTS5']):.1f} + numpy {p50(self.took['bare numpy']):.1f}"
        if "search" in kinds:
            yield times("hybrid search on main, p50", main, bare, 2, parts)
            yield Figure("the same, in all", main, "ms", 100, "≤ 100 ms")
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

"""Pages of a search: one order of up to 1,000 hits, whatever is written meanwhile, and the cursors into it.

The best are ranked as every search ranks them, among the candidates of its recipe. Who goes on behind them
gets the others of a larger pool, in the order of that; what was shown before stays where it was.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memory.actors import Actor
from memory.engines.search.candidates import PreparedQuery
from memory.engines.search.ranked import Ranking, SearchOptions, limit_reflections, rank_candidates
from memory.engines.search.scoring import Scored
from memory.engines.support.pagination import (
    MAX_PAGE_SIZE,
    NOT_OURS,
    mark_from,
    parse_count,
    read_cursor,
    write_cursor,
)
from memory.engines.support.validation import parse_time
from memory.exceptions import Invalid
from memory.models import Fact

MAX_HITS = 1000  # of one search, on all of its pages
DEEP_POOL = 1000  # rows of each arm, for pages behind the best


@dataclass(frozen=True)
class ResultPage:
    """One page: the best candidates, by which evidence is judged, those of this page, and the next cursor."""

    best: Ranking
    ranking: Ranking
    hits: Sequence[Scored]
    next: str | None


@dataclass(frozen=True)
class ResultPages:
    """The pages of a search for one caller."""

    names: Sequence[str]
    question: PreparedQuery
    options: SearchOptions
    actor: Actor
    limit: int

    def read_page(self, cursor: str) -> ResultPage:
        """Return the page of a cursor, with the limit and at the point of the first one; the first for "".

        Raises Invalid for a cursor of another search.
        """
        mark = self._mark()
        position = read_cursor(cursor, mark)
        run = self._resume(position) if position else self
        number = parse_count(position.get("key", "0"))
        if number * run.limit >= MAX_HITS:
            raise Invalid(NOT_OURS, field="cursor")
        best = rank_candidates(run.names, run.question, run.options, run.actor)
        ranking, hits, is_last = run._find_page(best, number)
        has_next = not is_last and (number + 1) * run.limit < MAX_HITS
        return ResultPage(
            best, ranking, hits, run._write_cursor(mark, best, number + 1) if has_next else None
        )

    def read_range(self, offset: int, limit: int) -> tuple[Ranking, Sequence[Scored]]:
        """Return hits of the same order by their place in it, without the limit on reflections."""
        found = rank_candidates(self.names, self.question, self.options, self.actor)
        if offset + limit > len(found.hits) and self._may_have_more(found):
            found = self._rank_deep(found)
        return found, found.hits[offset : offset + limit]

    def _find_page(self, best: Ranking, number: int) -> tuple[Ranking, Sequence[Scored], bool]:
        """Return a page with its ranking, and whether it is the last one.

        The first pages are those that the best candidates fill, whatever follows.
        """
        ranking, left = best, list(best.hits)
        page: Sequence[Scored] = []
        for index in range(number + 1):
            page = limit_reflections(left, self.limit, self.options)
            if index and len(page) < self.limit:
                if self._may_have_more(ranking):
                    ranking = self._rank_deep(best)
                    left += ranking.hits[len(best.hits) :]
                page = self._fill_page(left)
            shown = {hit.row.rid for hit in page}
            left = [hit for hit in left if hit.row.rid not in shown]
        return ranking, page, not left and not self._may_have_more(ranking)

    def _fill_page(self, left: Sequence[Scored]) -> Sequence[Scored]:
        """Return a page behind the first, of which reflections take a limited share while others are left."""
        if all(hit.row.kind == Fact.Kind.REFLECTION for hit in left):
            return left[: self.limit]
        return limit_reflections(left, self.limit, self.options)

    def _may_have_more(self, ranking: Ranking) -> bool:
        """Return whether an arm may have found more than it was asked for."""
        return not ranking.is_deep and len(ranking.pool.rows) >= self.options.recipe.pool

    def _rank_deep(self, best: Ranking) -> Ranking:
        recipe = replace(self.options.recipe, pool=DEEP_POOL)
        options = replace(self.options, recipe=recipe, seqs=best.pool.seqs)
        deep = rank_candidates(self.names, self.question, options, self.actor)
        return best.extend(deep, by_text=len(self.names) > 1)

    # ---- cursors -------------------------------------------------------------------------------

    def _mark(self) -> str:
        """Return what identifies this search, without its point and time."""
        options = self.options
        query = (self.question.text, list(self.names), options.search_type, options.filters.as_dict())
        ways = (sorted(options.include), options.recipe.name, options.current_cycle, options.at)
        return mark_from(repr((query, ways, self.actor.repository, self.actor.session_id)))

    def _write_cursor(self, mark: str, best: Ranking, number: int) -> str:
        point = {"seqs": list(best.pool.seqs.values()), "now": self.options.now.isoformat()}
        return write_cursor({"key": str(number), "list": mark, "limit": self.limit, **point})

    def _resume(self, position: dict[str, Any]) -> "ResultPages":
        """Return these pages at the point and with the limit of a cursor. Raises Invalid."""
        seqs, limit = position.get("seqs"), position.get("limit")
        if not isinstance(seqs, list) or len(seqs) != len(self.names) or not all(map(is_whole, seqs)):
            raise Invalid(NOT_OURS, field="cursor")
        if not isinstance(limit, int) or not 1 <= limit <= MAX_PAGE_SIZE:
            raise Invalid(NOT_OURS, field="cursor")
        points = dict(zip(self.names, seqs, strict=True))
        options = replace(self.options, seqs=points, now=read_time(position.get("now")))
        return replace(self, options=options, limit=limit)


def read_time(value: Any) -> datetime:
    """Return the time of a cursor. Raises Invalid."""
    if isinstance(value, str) and (found := parse_time("cursor", value)):
        return found
    raise Invalid(NOT_OURS, field="cursor")


def is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)

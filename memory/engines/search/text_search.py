"""Search over texts of any model that has them (messages, observations), ranked as facts are.

Neighbours share scores, where the model has an order: an answer has few words in common with its question.
docs/retrieval.md has the measurement.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from django.db.models import F
from django.db.models.functions import Substr
from django.utils import timezone

from memory import ranking
from memory.actors import Actor
from memory.db.backend import get_backend
from memory.db.querysets import VersionedQuerySet
from memory.db.raw_select import read_cut
from memory.engines.fields.base import Field
from memory.engines.fields.filters import one_of
from memory.engines.fields.types import Choice, Text, Whole
from memory.engines.search.answer_boost import asks
from memory.engines.search.candidates import (
    MAX_QUERY_LENGTH,
    Candidates,
    PreparedQuery,
    build_query,
    find_candidates,
)
from memory.engines.search.evidence import Judged, Rater, judge_evidence
from memory.engines.search.fact_rows import MAX_FOUND_CHARACTERS, Row, list_inputs
from memory.engines.search.ranked import TYPES, get_recipe
from memory.engines.search.scoring import Scored, boost_answers, in_order, score_all
from memory.engines.search.speakers import NAMED_WITHIN, find_speaker
from memory.engines.search.windows import Turn, Windows, take_steps
from memory.engines.support import validation as c
from memory.engines.support.pagination import check_limit
from memory.exceptions import Invalid

MAX_RANKED_LENGTH = 8000  # characters of a text that ranking reads, to count its words
COLUMNS = ("rid", "uid", "read", "content_hash", "created_at", "session_id")
HIDDEN = frozenset({"verification", "priority", "confidence", "confirmations"})  # messages have none


@dataclass(frozen=True)
class Words(Text):
    """The words of a search; the engine says what is too long."""

    def build_check(self) -> c.Check:
        return lambda _, value: value


QUERY = Field("q", Words(MAX_QUERY_LENGTH), "What to look for.", alias="query")
LIMIT = Field("limit", Whole(1, 100), "10 by default.")
SEARCH_TYPE = Field("search_type", Choice([(one, one) for one in TYPES]), "hybrid by default.")
RECIPE = one_of("recipe", Choice([(one, one) for one in sorted(ranking.RECIPES)]), "How scores are mixed.")


@dataclass(frozen=True)
class Adjacent:
    """Rows before and after a row, by row id; None at either end."""

    previous: int | None = None
    following: int | None = None


class Neighbours(Protocol):
    """Callable that returns the neighbours of rows in their order."""

    def __call__(self, rows: VersionedQuerySet, rids: Sequence[int]) -> Mapping[int, Adjacent]: ...


Sides = tuple[Sequence[int], Sequence[int]]


class Walk(Protocol):
    """Callable that returns the rows before and after each, nearest first."""

    def __call__(self, rows: VersionedQuerySet, rids: Sequence[int]) -> Mapping[int, Sides]: ...


@dataclass(frozen=True)
class TextHit:
    """Row found, with the parts of its score; ``around`` are its neighbours, in their order."""

    row: Any
    score: float
    signals: dict[str, float]
    around: Sequence[Any] = ()
    evidence: float = 0.0

    @property
    def text(self) -> str:
        return str(getattr(self.row, self.row.TEXT))


@dataclass(frozen=True, kw_only=True)
class TextSearchResult(Judged):
    hits: Sequence[TextHit]
    signals_used: Sequence[str]
    recipe: str
    took_ms: float


@dataclass(frozen=True)
class TextSearch:
    """Search over the rows of a branch."""

    rows: VersionedQuerySet
    actor: Actor
    search_type: str = "hybrid"
    recipe: ranking.Recipe = ranking.RECIPES["default"]
    neighbours: Neighbours | None = None
    walk: Walk | None = None
    everyone: VersionedQuerySet | None = None  # the unfiltered rows, which include the neighbours

    def find_rows(self, query: str, limit: int, query_vector: np.ndarray | None = None) -> TextSearchResult:
        """Search the rows. Any text of up to 8,000 characters is a valid query; without an embedder, or when
        it fails, the keywords alone decide. Raises Invalid, QueryTooLong.
        """
        started = time.perf_counter()
        check_limit(limit)
        question = build_query(query, self.actor.project_id, query_vector, self.search_type)
        with get_backend().snapshot():
            ranked, used, adjacent = self.rank_rows(question, self.recipe.pool)
            rater = Rater.from_hits(ranked, question)
            hits = self._load_hits(ranked[:limit], adjacent, rater)
            judgement = judge_evidence(ranked, rater, question, self.actor.project_id)
        took = (time.perf_counter() - started) * 1000
        return TextSearchResult(
            hits=hits,
            signals_used=sorted(used),
            recipe=self.recipe.name,
            took_ms=round(took, 3),
            **judgement,
        )

    def rank_rows(
        self, question: PreparedQuery, pool: int
    ) -> tuple[list[Scored], set[str], Mapping[int, Adjacent]]:
        """Return the rows in order, the signals used, and the neighbours where both are known."""
        found = find_candidates(self.rows, question, self.search_type, pool, self.actor.project_id)
        offered = ranked_rows(self.rows, found.rids)
        adjacent = self._load_adjacent(offered)
        others = self._score_adjacent(adjacent, offered, found, question)
        every = {**offered, **others}
        near = _both_ways(adjacent)
        ask = (question, self.recipe, self.actor.project_id)
        answers = find_answers(every, near) if self.recipe.replies else {}
        linked = {} if self.recipe.following else answers
        inputs = list_inputs([*every.values()], {}, timezone.now(), None)
        scored, used = score_all(every, found, *ask, inputs, linked, self._find_windows)
        drawn = {rid for rid in others if scored[rid].score > 0}
        whole = adjacent if self.recipe.following else {}  # else only one side is known
        if self.recipe.following:
            spread_scores(scored, near, self.recipe)
            boost_answers(scored, answers, self.recipe)
        drawn |= {rid for rid in others if "reply" in scored[rid].added}
        allowed = offered | ranked_rows(self.rows, drawn)
        return in_order({rid: hit for rid, hit in scored.items() if rid in allowed}), used, whole

    def _load_adjacent(self, offered: Mapping[int, Row]) -> Mapping[int, Adjacent]:
        """Return the neighbours that share scores: all of them, or only what follows a question."""
        if self.neighbours is None or not (self.recipe.following or self.recipe.replies):
            return {}
        if self.recipe.following:
            return self.neighbours(self.all_rows, list(offered))
        asking = [rid for rid, row in offered.items() if asks(row.text)]
        found = self.neighbours(self.all_rows, asking) if asking else {}
        return {rid: Adjacent(following=near.following) for rid, near in found.items()}

    def _find_windows(self, rids: Sequence[int]) -> Windows:
        """Return what stands around rows in their conversation."""
        if self.walk is None:
            return {}
        around = self.walk(self.all_rows, rids)
        requested = {at for sides in around.values() for side in sides for at in side}
        turns = read_turns(self.all_rows, requested.union(rids))
        return {
            rid: [
                near for side in sides for near in take_steps(turns[rid].speaker, [turns[at] for at in side])
            ]
            for rid, sides in around.items()
        }

    @property
    def all_rows(self) -> VersionedQuerySet:
        """Return the rows in which to look for neighbours."""
        return self.rows if self.everyone is None else self.everyone

    def _score_adjacent(
        self,
        adjacent: Mapping[int, Adjacent],
        offered: Mapping[int, Row],
        found: Candidates,
        question: PreparedQuery,
    ) -> dict[int, Row]:
        """Return the neighbours that are no candidates themselves; add their raw scores."""
        new = sorted(adjacent_ids(adjacent) - offered.keys())
        if new and question.vector is not None and self.search_type != "keyword":
            cosines = self.all_rows.score_cosines(new, question.vector, question.model, self.actor.project_id)
            found.vector |= dict(cosines)
        return ranked_rows(self.all_rows, new)

    def _load_hits(
        self, chosen: Sequence[Scored], adjacent: Mapping[int, Adjacent], rater: Rater
    ) -> list[TextHit]:
        missing = [hit.row.rid for hit in chosen if hit.row.rid not in adjacent]
        if missing and self.neighbours is not None:
            adjacent = {**adjacent, **self.neighbours(self.all_rows, missing)}
        around = {hit.row.rid: pair_ids(adjacent.get(hit.row.rid)) for hit in chosen}
        requested = {*around, *(rid for pair in around.values() for rid in pair)}
        found = read_cut(self.rows.model, "rid", requested, MAX_FOUND_CHARACTERS)
        whole = {row.rid: row for row in found}
        return [
            TextHit(
                whole[hit.row.rid],
                hit.score,
                {k: v for k, v in hit.signals.items() if k not in HIDDEN},
                [whole[rid] for rid in around[hit.row.rid]],
                rater.rate(hit),
            )
            for hit in chosen
        ]


def text_search(
    rows: VersionedQuerySet, *, actor: Actor, search_type: str, recipe: str, **options: Any
) -> TextSearch:
    """Build a search from a caller's options. Raises Invalid for an unknown type or recipe."""
    if search_type not in TYPES:
        raise Invalid("search_type must be one of {types}.", types=", ".join(TYPES), field="search_type")
    return TextSearch(rows, actor, search_type, get_recipe(actor, recipe), **options)


# ---- pieces ----------------------------------------------------------------------------------------


def ranked_rows(rows: VersionedQuerySet, rids: Iterable[int]) -> dict[int, Row]:
    """Return those of the rows that a branch shows, in the form that ranking reads."""
    batch = (
        rows.rows().filter(pk__in=list(rids)).annotate(read=Substr(F(rows.model.TEXT), 1, MAX_RANKED_LENGTH))
    )
    role = ("role",) if hasattr(rows.model, "role") else ()
    found = batch.values_list(*COLUMNS, *role)
    return {
        rid: Row(rid, uid, text, content_hash, at, session_id, role="".join(who))
        for rid, uid, text, content_hash, at, session_id, *who in found
    }


def read_turns(rows: VersionedQuerySet, rids: Iterable[int]) -> dict[int, Turn]:
    """Return who says each of the rows, and the key of its vector."""
    role = ("role",) if hasattr(rows.model, "role") else ()
    columns = ("rid", "content_hash", rows.model.TEXT, *role)
    found = rows.select_by_key(columns, "rid", rids, NAMED_WITHIN)
    return {rid: Turn(rid, key, find_speaker(text) or "".join(who)) for rid, key, text, *who in found}


def find_answers(rows: Mapping[int, Row], near: Mapping[int, Adjacent]) -> dict[int, int]:
    """Return the rows that follow a question: row id -> row id of the question."""
    before = {rid: near[rid].previous for rid in rows if rid in near}
    return {
        rid: previous
        for rid, previous in before.items()
        if previous is not None and previous in rows and asks(rows[previous].text)
    }


def spread_scores(scored: dict[int, Scored], near: Mapping[int, Adjacent], recipe: ranking.Recipe) -> None:
    """Add to each row a part of the next one's score."""
    own = {rid: hit.score for rid, hit in scored.items()}
    for rid, hit in scored.items():
        after = hit.added["following"] = own.get(near.get(rid, Adjacent()).following or 0, 0.0)
        hit.score = (own[rid] + recipe.following * after) / (1 + recipe.following)


def _both_ways(adjacent: Mapping[int, Adjacent]) -> dict[int, Adjacent]:
    """Add the neighbours that are known only from the other side."""
    found = dict(adjacent)
    for rid, near in adjacent.items():
        if near.previous is not None and near.previous not in adjacent:
            found[near.previous] = replace(found.get(near.previous, Adjacent()), following=rid)
        if near.following is not None and near.following not in adjacent:
            found[near.following] = replace(found.get(near.following, Adjacent()), previous=rid)
    return found


def adjacent_ids(adjacent: Mapping[int, Adjacent]) -> set[int]:
    return {rid for near in adjacent.values() for rid in pair_ids(near)}


def pair_ids(near: Adjacent | None) -> list[int]:
    return [rid for rid in (near.previous, near.following) if rid is not None] if near else []

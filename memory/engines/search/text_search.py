"""Search over texts of any model that has them (messages, observations), ranked as facts are.

Neighbours share in a score, where the model has an order: an answer holds few words of the question that
it answers. docs/retrieval.md has the measurement.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol
from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import F
from django.db.models.functions import Substr
from django.utils import timezone

from memory import ranking
from memory.actors import Actor
from memory.db.querysets import VersionedQuerySet
from memory.engines.candidates import Candidates, Question, candidates
from memory.engines.pages import check_limit
from memory.engines.questions import ask
from memory.engines.replies import ASKS
from memory.engines.scoring import Row, Scored, in_order, score_all
from memory.engines.search import TYPES, recipe_of
from memory.exceptions import Invalid

READ = 8000  # characters of a text that ranking looks at; its words are counted
COLUMNS = ("rid", "uid", "content_hash", "created_at", "session_id")
SHOWN = frozenset({"keyword", "vector", "words", "recency", "following", "reply"})


@dataclass(frozen=True)
class Beside:
    """The rows before and after a row, by row id; None where there is none."""

    previous: int | None = None
    following: int | None = None


class Neighbours(Protocol):
    """Finds what stands beside some rows in their order."""

    def __call__(self, rows: VersionedQuerySet, rids: Sequence[int]) -> Mapping[int, Beside]: ...


@dataclass(frozen=True)
class TextHit:
    """A row found, with the parts of its score; ``around`` are its neighbours, in their order."""

    row: Any
    score: float
    signals: dict[str, float]
    around: Sequence[Any] = ()


@dataclass(frozen=True)
class TextFound:
    hits: Sequence[TextHit]
    signals_used: Sequence[str]
    recipe: str
    took_ms: float


@dataclass(frozen=True)
class TextSearch:
    """One search over rows that a branch was named for."""

    rows: VersionedQuerySet
    actor: Actor
    search_type: str = "hybrid"
    recipe: ranking.Recipe = ranking.RECIPES["default"]
    neighbours: Neighbours | None = None
    everyone: VersionedQuerySet | None = None  # the rows before filters, among which neighbours stand

    def find(self, query: str, limit: int, query_vector: np.ndarray | None = None) -> TextFound:
        """The best rows. No text up to the limit of 8,000 characters makes it fail; without an embedder,
        or when it is down, the keywords alone decide. Raises Invalid, QueryTooLong.
        """
        started = time.perf_counter()
        check_limit(limit)
        question = ask(query, query_vector, self.search_type)
        with connection.snapshot():  # type: ignore[attr-defined]
            ranked, used, beside = self._ranked(question, max(self.recipe.pool, limit))
            hits = self._page(ranked[:limit], beside)
        took = (time.perf_counter() - started) * 1000
        return TextFound(hits, sorted(used), self.recipe.name, round(took, 3))

    def _ranked(self, question: Question, pool: int) -> tuple[list[Scored], set[str], Mapping[int, Beside]]:
        found = candidates(self.rows, question, self.search_type, pool, self.actor.project_id)
        offered = ranked_rows(self.rows, found.rids)
        beside = self._beside(offered)
        others = self._others(beside, offered, found, question)
        every = {**offered, **others}
        scored, used = score_all(
            every, found, question, self.recipe, self.actor.project_id, timezone.now()
        )  # fmt: skip
        drawn = {rid for rid in others if scored[rid].score > 0}
        share(scored, beside, self.recipe)
        drawn |= {rid for rid in others if "reply" in scored[rid].signals}
        allowed = offered | ranked_rows(self.rows, drawn)
        return in_order({rid: hit for rid, hit in scored.items() if rid in allowed}), used, beside

    def _beside(self, offered: Mapping[int, Row]) -> Mapping[int, Beside]:
        if self.neighbours is None or not (self.recipe.following or self.recipe.replies):
            return {}
        return self.neighbours(self.every, list(offered))

    @property
    def every(self) -> VersionedQuerySet:
        """What neighbours are looked for in."""
        return self.rows if self.everyone is None else self.everyone

    def _others(
        self, beside: Mapping[int, Beside], offered: Mapping[int, Row], found: Candidates, question: Question
    ) -> dict[int, Row]:
        """The neighbours that are no candidates themselves, with their raw scores."""
        new = sorted(_named(beside) - offered.keys())
        if new and question.vector is not None and self.search_type != "keyword":
            cosines = self.every.cosines(new, question.vector, question.model, self.actor.project_id)
            found.vector |= dict(cosines)
        return ranked_rows(self.every, new)

    def _page(self, chosen: Sequence[Scored], beside: Mapping[int, Beside]) -> list[TextHit]:
        missing = [hit.row.rid for hit in chosen if hit.row.rid not in beside]
        if missing and self.neighbours is not None:
            beside = {**beside, **self.neighbours(self.every, missing)}
        around = {hit.row.rid: _pair(beside.get(hit.row.rid)) for hit in chosen}
        wanted = {*around, *(rid for pair in around.values() for rid in pair)}
        whole = {row.rid: row for row in self.rows.model._base_manager.filter(pk__in=wanted)}
        return [
            TextHit(
                whole[hit.row.rid], hit.score, {k: v for k, v in hit.signals.items() if k in SHOWN},
                [whole[rid] for rid in around[hit.row.rid]],
            )
            for hit in chosen
        ]  # fmt: skip


def text_search(
    rows: VersionedQuerySet, *, actor: Actor, search_type: str, recipe: str, **how: Any
) -> TextSearch:
    """A search as a caller asks for it. Raises Invalid for an unknown type or recipe."""
    if search_type not in TYPES:
        raise Invalid("search_type must be one of {types}.", types=", ".join(TYPES), field="search_type")
    return TextSearch(rows, actor, search_type, recipe_of(actor, recipe), **how)


# ---- pieces ----------------------------------------------------------------------------------------


def ranked_rows(rows: VersionedQuerySet, rids: Iterable[int]) -> dict[int, Row]:
    """Those of these rows that a branch shows, as ranking looks at them."""
    some = rows.rows().filter(pk__in=list(rids)).annotate(read=Substr(F(rows.model.TEXT), 1, READ))
    found = some.values_list(*COLUMNS, "read")
    return {rid: _row(rid, *rest) for rid, *rest in found}


def _row(rid: int, uid: UUID, content_hash: str, created_at: Any, session_id: str, text: str) -> Row:
    standing = ranking.Standing(created_at, False, "", 1.0, 0)
    return Row(rid, uid, text, content_hash, standing, session_id=session_id)


def share(scored: dict[int, Scored], beside: Mapping[int, Beside], recipe: ranking.Recipe) -> None:
    """A row gets a part of what the next one scores, and an answer at least what its question scored."""
    near = _both_ways(beside)
    own = {rid: hit.score for rid, hit in scored.items()}
    for rid, hit in scored.items():
        after = hit.signals["following"] = own.get(near.get(rid, Beside()).following or 0, 0.0)
        hit.score = (own[rid] + recipe.following * after) / (1 + recipe.following)
    shared = {rid: hit.score for rid, hit in scored.items()}
    for rid, hit in scored.items() if recipe.replies else ():
        before = near.get(rid, Beside()).previous
        if before in scored and shared[before] > hit.score and ASKS.search(scored[before].row.text):
            hit.score = hit.signals["reply"] = shared[before]


def _both_ways(beside: Mapping[int, Beside]) -> dict[int, Beside]:
    """What a neighbour's own neighbours are, as far as they are known from the other side."""
    found = dict(beside)
    for rid, near in beside.items():
        if near.previous is not None and near.previous not in beside:
            found[near.previous] = replace(found.get(near.previous, Beside()), following=rid)
        if near.following is not None and near.following not in beside:
            found[near.following] = replace(found.get(near.following, Beside()), previous=rid)
    return found


def _named(beside: Mapping[int, Beside]) -> set[int]:
    return {rid for near in beside.values() for rid in _pair(near)}


def _pair(near: Beside | None) -> list[int]:
    return [rid for rid in (near.previous, near.following) if rid is not None] if near else []

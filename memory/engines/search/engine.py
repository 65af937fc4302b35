"""Search over facts: candidates from two arms, one ranking, every part of a score told."""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
from django.db import connection
from django.utils import timezone

from memory import ranking
from memory.actors import Actor
from memory.conf import conf
from memory.db.reading import picked
from memory.engines.belief import Belief, attach_use, beliefs, believe, read_on, searchable_now, time_of
from memory.engines.branches import MAIN, find_branch, point_of
from memory.engines.candidates import Candidates, Question, candidates
from memory.engines.fact_rows import FactRow, fact_rows, ranked_row, whole_facts
from memory.engines.filters import FactFilter
from memory.engines.pages import check_limit
from memory.engines.questions import ask
from memory.engines.recalls import log_recall
from memory.engines.replies import inherit, replies
from memory.engines.scoring import Row, Scored, collapse, in_order, score_all
from memory.exceptions import BranchNotFound, Invalid
from memory.models import Branch, Fact, Project

if TYPE_CHECKING:
    from memory.engines.explain import Explanation

logger = logging.getLogger(__name__)
TYPES = ("hybrid", "keyword", "vector")
INCLUDE = ("superseded", "archived", "created", "expired", "outdated", "invalidated")
REFLECTIONS = 0.3  # of a page, at most
BUT_REFLECTIONS = [kind for kind in Fact.Kind.values if kind != Fact.Kind.REFLECTION]
MOST_BRANCHES = 50


@dataclass(frozen=True)
class Hit:
    """A fact found, with the parts of its score and the branches that show it."""

    fact: Fact
    score: float
    signals: dict[str, float]
    branches: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """The answer to a search. ``context`` is the hits' essences within ``max_tokens``, when asked for."""

    hits: Sequence[Hit]
    signals_used: Sequence[str]
    recipe: str
    took_ms: float
    branches: tuple[str, ...]
    context: str | None = None
    tokens: int | None = None


@dataclass(frozen=True)
class Wish:
    """How to search, checked; the same for one branch, several, and an explanation."""

    search_type: str = "hybrid"
    filters: FactFilter = field(default_factory=FactFilter)
    include: frozenset[str] = frozenset()
    recipe: ranking.Recipe = ranking.RECIPES["default"]
    current_cycle: int | None = None
    at: Any = None
    now: datetime = field(default_factory=timezone.now)


@dataclass
class Pool:
    """The candidates of all branches of a search, in one: they are ranked against each other."""

    raw: Candidates = field(default_factory=Candidates)
    rows: dict[int, Row] = field(default_factory=dict)
    beliefs: dict[int, Belief] = field(default_factory=dict)
    branches: dict[int, list[Branch]] = field(default_factory=dict)
    answers: dict[int, int] = field(default_factory=dict)  # a fact's row id -> that of the question before it

    def show(self, branch: Branch, row: Row, belief: Belief) -> None:
        """A row as a branch shows it; where several do, the first decides what is believed of it."""
        self.rows.setdefault(row.rid, row)
        self.beliefs.setdefault(row.rid, belief)
        self.branches.setdefault(row.rid, []).append(branch)

    def hit(self, scored: Scored, fact: Fact) -> Hit:
        """The whole fact, as the first of its branches shows it."""
        branches = self.branches[fact.rid]
        (shown,) = read_on(branches[0], [believe(fact, self.beliefs[fact.rid])])
        return Hit(shown, scored.score, scored.signals, tuple(branch.name for branch in branches))


@dataclass(frozen=True)
class Ranking:
    """Every candidate, the best first, and the signals that took part."""

    hits: Sequence[Scored]
    used: Sequence[str]
    pool: Pool

    def page(self, limit: int, wish: Wish) -> list[Hit]:
        chosen = paged(self.hits, limit, wish)
        facts = whole_facts([scored.row.rid for scored in chosen])
        return [self.pool.hit(scored, facts[scored.row.rid]) for scored in chosen]


class SearchEngine:
    def search(
        self,
        *,
        query: str,
        actor: Actor,
        branch_name: str = MAIN,
        limit: int = 10,
        search_type: str = "hybrid",
        filters: FactFilter | None = None,
        include: Sequence[str] = (),
        recipe: str = "",
        at: Any = None,
        max_tokens: int | None = None,
        current_cycle: int | None = None,
        query_vector: np.ndarray | None = None,
    ) -> Found:
        """The best facts of a branch for a query. No text up to the limit of 8,000 characters makes it
        fail; without an embedder, or when it is down, the keywords alone decide.

        Raises Invalid, QueryTooLong, BranchNotFound, scope and branch refusals.
        """
        actor.require("read", branch_name)
        wish = self._wish(actor, search_type, filters, include, recipe, at, current_cycle)
        return self._answer([branch_name], query, wish, actor, limit, max_tokens, query_vector)

    def search_cross_branch(
        self,
        *,
        query: str,
        branch_names: Sequence[str],
        actor: Actor,
        limit: int = 10,
        search_type: str = "hybrid",
        filters: FactFilter | None = None,
        include: Sequence[str] = (),
        recipe: str = "",
        max_tokens: int | None = None,
        current_cycle: int | None = None,
        query_vector: np.ndarray | None = None,
    ) -> Found:
        """The same over several branches, named or by pattern (``task/*``); one text is one hit."""
        actor.require("read")
        names = self._named(actor, branch_names)
        wish = self._wish(actor, search_type, filters, include, recipe, None, current_cycle)
        return self._answer(names, query, wish, actor, limit, max_tokens, query_vector)

    def explain(self, *, query: str, fact_id: UUID, actor: Actor, **how: Any) -> "Explanation":
        """Why a search would find a fact, or why not. See ExplainEngine.explain."""
        from memory.engines.explain import ExplainEngine  # which is built on this module

        return ExplainEngine().explain(query=query, fact_id=fact_id, actor=actor, **how)

    # ---- the way of a search ---------------------------------------------------------------------

    def _answer(
        self, names: Sequence[str], query: str, wish: Wish, actor: Actor, limit: int,
        max_tokens: int | None, query_vector: np.ndarray | None,
    ) -> Found:  # fmt: skip
        started = time.perf_counter()
        check_limit(limit)
        question = ask(query, query_vector, wish.search_type)
        wish = for_page(wish, limit)
        with connection.snapshot():  # type: ignore[attr-defined]
            found = self.ranked(names, question, wish, actor)
            hits = found.page(limit, wish)
        attach_use([hit.fact for hit in hits], actor.project_id)
        context, tokens, hits = _packed(hits, max_tokens)
        took = (time.perf_counter() - started) * 1000
        log_recall(actor, names, question.text, [hit.fact.uid for hit in hits])
        return Found(hits, found.used, wish.recipe.name, round(took, 3), tuple(names), context, tokens)

    def ranked(
        self, names: Sequence[str], question: Question, wish: Wish, actor: Actor, also: Sequence[int] = ()
    ) -> Ranking:
        """The candidates of the branches against each other, and the rows ``also``."""
        pool = Pool()
        for name in names:
            self._fill(pool, name, question, wish, actor, also)
        scored, used = score_all(pool.rows, pool.raw, question, wish.recipe, actor.project_id, wish.now)
        inherit(scored, pool.answers)
        hits = in_order(scored)
        return Ranking(collapse(hits, pool.branches) if len(names) > 1 else hits, sorted(used), pool)

    def _fill(
        self, pool: "Pool", name: str, question: Question, wish: Wish, actor: Actor, also: Sequence[int]
    ) -> None:
        branch = find_branch(actor, name)
        if branch.archived_at and "archived" not in {*wish.include, *wish.filters.status}:
            return
        lineage = branch.lineage(point_of(branch, wish.at))
        rows, loose = scope(Fact.objects.along(lineage), wish, lineage, branch.archived_at is not None)
        ask = (question, wish.search_type, wish.recipe.pool, actor.project_id, also)
        found = candidates(rows, *ask, near=loose)
        # Read through the branch once more: what memory or the index say is checked by the database.
        facts = fact_rows(rows, found.rids)
        if found.short_of(wish.recipe.pool, {fact.rid for fact in facts}):
            # Time or a verdict leaves out more than the margin holds: the database looks at each row.
            found = candidates(rows, *ask)
            facts = fact_rows(rows, found.rids)
        if crowded(facts, wish):
            found.add(candidates(rows.narrowed(kind=BUT_REFLECTIONS), *ask))
            facts = fact_rows(rows, found.rids)
        if wish.recipe.replies:
            facts += self._answers(pool, rows, facts, found, question, actor)
        known = beliefs([fact.uid for fact in facts], lineage)
        pool.raw.add(found)
        for fact in facts:
            belief = known[fact.uid]
            pool.show(branch, ranked_row(fact, belief, wish.current_cycle), belief)

    def _answers(
        self, pool: "Pool", rows: Any, facts: Sequence[FactRow], found: Candidates, question: Question,
        actor: Actor,
    ) -> list[FactRow]:  # fmt: skip
        """The facts that follow an asking one, where they are no candidates yet."""
        answers = replies(rows, facts)
        new = [rid for rid in answers if rid not in {*found.keyword, *found.vector}]
        if new and question.vector is not None and "vector" in found.used:
            found.vector |= dict(rows.cosines(new, question.vector, question.model, actor.project_id))
        pool.answers |= answers
        return fact_rows(rows, new) if new else []

    # ---- wishes ----------------------------------------------------------------------------------

    def _wish(
        self, actor: Actor, search_type: str, filters: FactFilter | None, include: Sequence[str], recipe: str,
        at: Any, current_cycle: int | None,
    ) -> Wish:  # fmt: skip
        if search_type not in TYPES:
            raise Invalid("search_type must be one of {types}.", types=", ".join(TYPES), field="search_type")
        if unknown := set(include) - set(INCLUDE):
            raise Invalid(
                "include knows {known}, not {unknown}.",
                known=", ".join(INCLUDE),
                unknown=min(unknown),
                field="include",
            )
        return Wish(
            search_type, filters or FactFilter(), frozenset(include), recipe_of(actor, recipe), current_cycle,
            at, now=time_of(at),
        )  # fmt: skip

    def _named(self, actor: Actor, patterns: Sequence[str]) -> list[str]:
        """The live branches that the patterns name and the actor may use. Raises BranchNotFound."""
        if not patterns:
            raise Invalid("{field} needs at least one name or pattern.", field="branch_names")
        known = Branch.objects.live().filter(project=actor.project_id).values_list("name", flat=True)
        named: list[str] = []
        for pattern in patterns:
            if "*" not in pattern:
                actor.require("read", pattern)
            some = [name for name in known if fnmatchcase(name, pattern) and actor.may_use(name)]
            if not some and "*" not in pattern:
                raise BranchNotFound(name=pattern)
            named += some
        named = list(dict.fromkeys(named))
        if len(named) > MOST_BRANCHES:
            raise Invalid(
                "A search covers at most {most} branches.", most=MOST_BRANCHES, field="branch_names"
            )
        return named


def recipe_of(actor: Actor, name: str) -> ranking.Recipe:
    """The recipe asked for, else the project's, else the server's. Raises Invalid for one asked for."""
    if not name:
        ((stored,),) = picked(Project.objects.all(), ("recipe",), "id", [actor.project_id])
        stored = stored or conf().recipe
        if stored in ranking.RECIPES:
            return ranking.RECIPES[stored]
        logger.warning("There is no recipe %s; the default is used.", stored)
        return ranking.RECIPES["default"]
    if name not in ranking.RECIPES:
        known = ", ".join(sorted(ranking.RECIPES))
        raise Invalid("There is no recipe {name}; there are {known}.", name=name, known=known, field="recipe")
    return ranking.RECIPES[name]


def scope(rows: Any, wish: Wish, lineage: Any, archived: bool = False) -> tuple[Any, Any]:
    """The rows that a wish lets through, and those rows before time and verdicts leave some out.

    What the second leaves to the index alone is quick; the first is the truth.
    """
    statuses = {*Fact.SEARCHED, *(wish.include & {"superseded", "archived", "created"})}
    if not wish.filters.status:
        rows = rows.searchable() if statuses == Fact.SEARCHED else rows.narrowed(status=sorted(statuses))
    rows = loose = wish.filters.apply(rows, lineage, archived)
    left_out = searchable_now(wish.now, lineage).items()
    return rows.filter(*(condition for flag, condition in left_out if flag not in wish.include)), loose


def for_page(wish: Wish, limit: int) -> Wish:
    """With a pool that can fill a page."""
    return replace(wish, recipe=replace(wish.recipe, pool=max(wish.recipe.pool, limit)))


def crowded(facts: Sequence[FactRow], wish: Wish) -> bool:
    """Whether reflections, of which a page shows few, take the places of other candidates."""
    if set(wish.filters.kind) == {Fact.Kind.REFLECTION}:
        return False
    return sum(fact.kind == Fact.Kind.REFLECTION for fact in facts) > REFLECTIONS * wish.recipe.pool


def paged(hits: Sequence[Scored], limit: int, wish: Wish) -> list[Scored]:
    """The first page; reflections take only a part of it, unless nothing else was asked for."""
    share = 1.0 if set(wish.filters.kind) == {Fact.Kind.REFLECTION} else REFLECTIONS
    reflections = [hit.row.kind == Fact.Kind.REFLECTION for hit in hits]
    return [hits[i] for i in ranking.at_most(reflections, limit, share)]


def _packed(hits: list[Hit], max_tokens: int | None) -> tuple[str | None, int | None, list[Hit]]:
    """As many essences as fit into the budget, in order; a token is taken as four characters."""
    if max_tokens is None:
        return None, None, hits
    if max_tokens < 1:
        raise Invalid("max_tokens must be at least 1.", field="max_tokens")
    lines, kept, spent = [], [], 0
    for hit in hits:
        cost = ranking.cost(hit.fact.essence)
        if spent + cost <= max_tokens:
            lines.append(ranking.line(hit.fact.essence))
            kept.append(hit)
            spent += cost
    return "\n".join(lines), spent, kept

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
from memory.engines import cleaning as rules
from memory.engines.belief import attach_belief, attach_use, read_on, searchable_now
from memory.engines.branches import MAIN, find_branch, point_of
from memory.engines.candidates import Candidates, Question, candidates
from memory.engines.filters import FactFilter
from memory.engines.late import word_similarity
from memory.engines.pages import check_limit
from memory.engines.questions import ask
from memory.engines.recalls import log_recall
from memory.engines.replies import inherit, replies
from memory.exceptions import BranchNotFound, Invalid
from memory.models import Branch, Fact, Project

if TYPE_CHECKING:
    from memory.engines.explain import Explanation

logger = logging.getLogger(__name__)
TYPES = ("hybrid", "keyword", "vector")
INCLUDE = ("superseded", "archived", "created", "expired", "outdated", "invalidated")
REFLECTIONS = 0.3  # of a page, at most
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
    facts: dict[int, Fact] = field(default_factory=dict)
    branches: dict[int, list[str]] = field(default_factory=dict)
    answers: dict[int, int] = field(default_factory=dict)  # a fact's row id -> that of the question before it

    def add(self, name: str, found: Candidates, facts: Sequence[Fact]) -> None:
        self.raw.keyword |= found.keyword
        self.raw.vector |= found.vector
        self.raw.used |= found.used
        for fact in facts:
            self.facts.setdefault(fact.rid, fact)
            self.branches.setdefault(fact.rid, []).append(name)


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
            hits, used = self.ranked(names, question, wish, actor)
        hits = paged(hits, limit, wish)
        attach_use([hit.fact for hit in hits], actor.project_id)
        context, tokens, hits = _packed(hits, max_tokens)
        took = (time.perf_counter() - started) * 1000
        log_recall(actor, names, question.text, [hit.fact.uid for hit in hits])
        return Found(hits, used, wish.recipe.name, round(took, 3), tuple(names), context, tokens)

    def ranked(
        self, names: Sequence[str], question: Question, wish: Wish, actor: Actor, also: Sequence[int] = ()
    ) -> tuple[list[Hit], list[str]]:
        """Every candidate of the branches, the best first, and the signals that took part."""
        pool = Pool()
        for name in names:
            self._fill(pool, name, question, wish, actor, also)
        hits, used = score_all(pool, question, wish, actor)
        return collapse(hits) if len(names) > 1 else hits, used

    def _fill(
        self, pool: "Pool", name: str, question: Question, wish: Wish, actor: Actor, also: Sequence[int]
    ) -> None:
        branch = find_branch(actor, name)
        if branch.archived_at and "archived" not in {*wish.include, *wish.filters.status}:
            return
        lineage = branch.lineage(point_of(branch, wish.at))
        rows, loose = scope(Fact.objects.along(lineage), wish, lineage)
        ask = (question, wish.search_type, wish.recipe.pool, actor.project_id, also)
        found = candidates(rows, *ask, near=loose)
        # Read through the branch once more: what memory or the index say is checked by the database.
        facts = list(rows.rows().filter(pk__in=found.rids))
        if found.short_of(wish.recipe.pool, {fact.rid for fact in facts}):
            # Time or a verdict leaves out more than the margin holds: the database looks at each row.
            found = candidates(rows, *ask)
            facts = list(rows.rows().filter(pk__in=found.rids))
        if wish.recipe.replies:
            answers = replies(rows, facts)
            new = [rid for rid in answers if rid not in {*found.keyword, *found.vector}]
            if new and question.vector is not None and "vector" in found.used:
                found.vector |= dict(rows.cosines(new, question.vector, question.model, actor.project_id))
            facts += rows.rows().filter(pk__in=new)
            pool.answers |= answers
        pool.add(name, found, read_on(branch, attach_belief(facts, lineage)))

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
            # What had expired is judged by the time that is read.
            at, now=(isinstance(at, datetime) and rules.moment("at", at)) or timezone.now(),
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
        stored = Project.objects.values_list("recipe", flat=True).get(pk=actor.project_id) or conf().recipe
        if stored in ranking.RECIPES:
            return ranking.RECIPES[stored]
        logger.warning("There is no recipe %s; the default is used.", stored)
        return ranking.RECIPES["default"]
    if name not in ranking.RECIPES:
        known = ", ".join(sorted(ranking.RECIPES))
        raise Invalid("There is no recipe {name}; there are {known}.", name=name, known=known, field="recipe")
    return ranking.RECIPES[name]


def scope(rows: Any, wish: Wish, lineage: Any) -> tuple[Any, Any]:
    """The rows that a wish lets through, and those rows before time and verdicts leave some out.

    What the second leaves to the index alone is quick; the first is the truth.
    """
    statuses = {*Fact.SEARCHED, *(wish.include & {"superseded", "archived", "created"})}
    if not wish.filters.status:
        rows = rows.searchable() if statuses == Fact.SEARCHED else rows.narrowed(status=sorted(statuses))
    rows = loose = wish.filters.apply(rows, lineage)
    for flag, condition in searchable_now(wish.now, lineage).items():
        if flag not in wish.include and condition:
            rows = rows.filter(condition)
    return rows, loose


def score_all(pool: Pool, question: Question, wish: Wish, actor: Actor) -> tuple[list[Hit], list[str]]:
    """Fuse the raw scores of the candidates into hits, the best first; ties by id, which is by age."""
    raw, words = pool.raw, {}
    lengths = {rid: len(fact.fact_text.split()) for rid, fact in pool.facts.items()}
    keyword, vector = ranking.shares(ranking.relengthed(raw.keyword, lengths)), ranking.shares(raw.vector)
    if "vector" in raw.used and wish.recipe.words:
        hashes = {rid: fact.content_hash for rid, fact in pool.facts.items()}
        words = ranking.shares(word_similarity(hashes, question, actor.project_id))
    arms = {"keyword": bool(raw.keyword), "vector": bool(raw.vector), "words": bool(words)}
    used = ranking.weights(wish.recipe, arms)
    hits: dict[int, Hit] = {}
    for rid, fact in pool.facts.items():
        parts = {"keyword": keyword.get(rid, 0.0), "vector": vector.get(rid, 0.0)}
        if words:  # a text without codes: its whole vector stands in
            parts["words"] = words.get(rid, parts["vector"])
        scored = ranking.score(wish.recipe, used, parts, standing(fact, wish), wish.now)
        hits[rid] = Hit(fact, scored.value, scored.signals, tuple(pool.branches[rid]))
    inherit(hits, pool.answers)
    ranked = sorted(hits.values(), key=lambda hit: (-hit.score, hit.fact.uid))
    return ranked, sorted(raw.used | ({"words"} if words else set()))


def standing(fact: Any, wish: Wish) -> ranking.Standing:
    cycles = None if wish.current_cycle is None else wish.current_cycle - fact.updated_cycle
    verified = fact.verification_status == "verified"
    return ranking.Standing(
        fact.created_at, verified, fact.priority, fact.confidence, fact.confirmation_count, cycles
    )


def collapse(hits: Sequence[Hit]) -> list[Hit]:
    """One hit for each text, at its best place, with every branch that shows it."""
    best: dict[str, Hit] = {}
    for hit in hits:
        known = best.get(hit.fact.norm_hash)
        names = tuple(dict.fromkeys((*(known.branches if known else ()), *hit.branches)))
        best[hit.fact.norm_hash] = replace(known or hit, branches=names)
    return list(best.values())


def for_page(wish: Wish, limit: int) -> Wish:
    """With a pool that can fill a page."""
    return replace(wish, recipe=replace(wish.recipe, pool=max(wish.recipe.pool, limit)))


def paged(hits: Sequence[Hit], limit: int, wish: Wish) -> list[Hit]:
    """The first page; reflections take only a part of it, unless nothing else was asked for."""
    share = 1.0 if set(wish.filters.kind) == {Fact.Kind.REFLECTION} else REFLECTIONS
    reflections = [hit.fact.kind == Fact.Kind.REFLECTION for hit in hits]
    return [hits[i] for i in ranking.at_most(reflections, limit, share)]


def _packed(hits: list[Hit], max_tokens: int | None) -> tuple[str | None, int | None, list[Hit]]:
    """As many essences as fit into the budget, in order; a token is taken as four characters."""
    if max_tokens is None:
        return None, None, hits
    if max_tokens < 1:
        raise Invalid("max_tokens must be at least 1.", field="max_tokens")
    lines, kept, spent = [], [], 0
    for hit in hits:
        line = f"- {' '.join(hit.fact.essence.split())}"  # one line, whatever it holds
        cost = ranking.tokens(line + "\n")
        if spent + cost <= max_tokens:
            lines.append(line)
            kept.append(hit)
            spent += cost
    return "\n".join(lines), spent, kept

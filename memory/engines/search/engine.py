"""Search over facts: on a branch or several, for a prompt, and why a fact is found or not."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from memory import ranking
from memory.actors import Actor
from memory.db.backend import get_backend
from memory.engines.facts.assessment import annotate_usage
from memory.engines.facts.filters import FactFilter
from memory.engines.facts.recall_log import log_recall
from memory.engines.search.evidence import Judged, Rater, judge_evidence
from memory.engines.search.explain import ExplainEngine
from memory.engines.search.query import build_query
from memory.engines.search.ranked import Hit, SearchOptions, parse_options, rank_candidates
from memory.engines.support.pagination import check_limit
from memory.engines.versions.lookup import MAIN
from memory.engines.versions.session_activity import require_session
from memory.exceptions import BranchNotFound, Invalid
from memory.models import Branch

MAX_BRANCHES = 50


@dataclass(frozen=True, kw_only=True)
class SearchResult(Judged):
    """Search result. ``context`` has the hits' essences within ``max_tokens``, where requested; where nothing
    is known it says that instead.
    """

    hits: Sequence[Hit]
    signals_used: Sequence[str]
    recipe: str
    took_ms: float
    branches: tuple[str, ...]
    context: str | None = None
    tokens: int | None = None


class SearchEngine(ExplainEngine):
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
    ) -> SearchResult:
        """Search the facts of a branch. Any text of up to 8,000 characters is a valid query; without an
        embedder, or when it fails, the keywords alone decide.

        What is found is kept as given to the actor's session, if it names one.

        Raises Invalid, QueryTooLong, BranchNotFound, scope, branch and agent refusals.
        """
        actor.require_scope("read", branch_name)
        require_session(actor)
        options = parse_options(actor, search_type, filters, include, recipe, at, current_cycle)
        return self._build_result([branch_name], query, options, actor, limit, max_tokens, query_vector)

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
    ) -> SearchResult:
        """Search several branches, by name or pattern (``task/*``); facts with the same text are one hit."""
        actor.require_scope("read")
        require_session(actor)
        names = self._match_branches(actor, branch_names)
        options = parse_options(actor, search_type, filters, include, recipe, None, current_cycle)
        return self._build_result(names, query, options, actor, limit, max_tokens, query_vector)

    # ---- search steps ----------------------------------------------------------------------------

    def _build_result(
        self,
        names: Sequence[str],
        query: str,
        options: SearchOptions,
        actor: Actor,
        limit: int,
        max_tokens: int | None,
        query_vector: np.ndarray | None,
    ) -> SearchResult:
        started = time.perf_counter()
        check_limit(limit)
        question = build_query(query, query_vector, options.search_type)
        with get_backend().snapshot():
            found = rank_candidates(names, question, options, actor)
            rater = Rater.from_hits(found.hits, question)
            hits = found.top_hits(limit, options, rater)
        annotate_usage([hit.fact for hit in hits], actor.project_id)
        evidence, known = judge_evidence(found.hits, rater, question, actor.project_id)
        packed = hits if max_tokens is None else pack_hits(hits, max_tokens)
        took = (time.perf_counter() - started) * 1000
        log_recall(actor, names, question.text, [hit.fact.uid for hit in packed])
        result = SearchResult(
            hits=packed,
            signals_used=found.used,
            recipe=options.recipe.name,
            took_ms=round(took, 3),
            branches=tuple(names),
            evidence=evidence,
            known=known,
        )
        return result if max_tokens is None else add_context(result, max_tokens)

    def _match_branches(self, actor: Actor, patterns: Sequence[str]) -> list[str]:
        """Return the live branches that match the patterns and that the actor may use. Raises
        BranchNotFound.
        """
        if not patterns:
            raise Invalid("{field} needs at least one name or pattern.", field="branch_names")
        known = Branch.objects.live().filter(project=actor.project_id).values_list("name", flat=True)
        named: list[str] = []
        for pattern in patterns:
            if "*" not in pattern:
                actor.require_scope("read", pattern)
            batch = [name for name in known if fnmatchcase(name, pattern) and actor.may_use(name)]
            if not batch and "*" not in pattern:
                raise BranchNotFound(name=pattern)
            named += batch
        named = list(dict.fromkeys(named))
        if len(named) > MAX_BRANCHES:
            raise Invalid("A search covers at most {most} branches.", most=MAX_BRANCHES, field="branch_names")
        return named


def pack_hits(hits: list[Hit], max_tokens: int) -> list[Hit]:
    """Return the hits whose essences fit the token budget; a token is four characters."""
    if max_tokens < 1:
        raise Invalid("max_tokens must be at least 1.", field="max_tokens")
    kept, spent = [], 0
    for hit in hits:
        cost = ranking.token_cost(hit.text)
        if spent + cost <= max_tokens:
            kept.append(hit)
            spent += cost
    return kept


def add_context(found: SearchResult, max_tokens: int) -> SearchResult:
    """Return a result with its lines for a prompt: the essences of its hits, or that nothing is known."""
    texts = [hit.text for hit in found.hits] if found.known else [found.note]
    lines = [line for line in texts if ranking.token_cost(line) <= max_tokens]
    context = "\n".join(map(ranking.prompt_line, lines))
    return replace(found, context=context, tokens=sum(map(ranking.token_cost, lines)))

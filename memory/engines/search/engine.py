"""Search over facts: on a branch or several, for a prompt, and why a query finds a fact or does not."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any
from uuid import UUID

import numpy as np

from memory import ranking
from memory.actors import Actor
from memory.db.backend import get_backend
from memory.db.querysets import Lineage
from memory.engines.facts.assessment import annotate_facts, annotate_usage, default_exclusions, mask_archived
from memory.engines.facts.filters import FactFilter
from memory.engines.facts.recall_log import log_recall
from memory.engines.search.candidates import PreparedQuery, build_query
from memory.engines.search.evidence import Judged, Rater, judge_evidence
from memory.engines.search.ranked import (
    REFLECTIONS,
    Hit,
    SearchOptions,
    limit_reflections,
    parse_options,
    rank_candidates,
)
from memory.engines.search.result_pages import ResultPages
from memory.engines.search.scoring import Scored
from memory.engines.support.pagination import check_limit
from memory.engines.versions.lookup import MAIN, find_branch, resolve_point
from memory.engines.versions.session_activity import require_session
from memory.exceptions import BranchNotFound, Invalid
from memory.metrics import timed
from memory.models import Branch, Fact

MAX_NAMED_BRANCHES = 20
REASONS = {
    "found": "It is hit {position} of this search.",
    "out_ranked": "{text}; the search returns {limit}.",
    "no_signal": "It shares no word with the query and has no vector to compare.",
    "absent": "No fact with this id is known here.",
    "deleted": "It was deleted on this branch.",
    "not_yet": "It came to this branch later than the point that is read.",
    "other_branch": "It is not visible on this branch, but on: {branches}.",
    "filtered": "{text} it out.",
    "created": "It is a proposal that nobody has activated.",
    "archived": "It is archived.",
    "superseded": "Another fact has superseded it.",
    "expired": "It has expired.",
    "outdated": "It is no longer valid.",
    "invalidated": "It was judged to be wrong.",
}
MAX_BRANCHES = 50


@dataclass(frozen=True)
class Explanation:
    """Explanation; ``reason`` is a stable code (a key of REASONS), ``message`` a sentence."""

    found: bool
    reason: str
    message: str
    position: int | None = None
    score: float | None = None
    signals: dict[str, float] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    fact: Fact | None = None


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
    next: str | None = None


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
        cursor: str = "",
    ) -> SearchResult:
        """Search the facts of a branch. Any text of up to 8,000 characters is a valid query; without an
        embedder, or when it fails, the keywords alone decide. ``cursor`` is ``next`` of another page, which
        has its limit and its point; of one search there are up to 1,000 hits.

        What is found is kept as given to the actor's session, if it names one.

        Raises Invalid, QueryTooLong, BranchNotFound, scope, branch and agent refusals.
        """
        actor.require_scope("read", branch_name)
        require_session(actor)
        options = parse_options(actor, search_type, filters, include, recipe, at, current_cycle)
        pages = self._open_pages([branch_name], query, options, actor, limit, query_vector)
        return self._build_result(pages, cursor, max_tokens)

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
        cursor: str = "",
    ) -> SearchResult:
        """Search several branches, by name or pattern (``task/*``); facts with the same text are one hit."""
        actor.require_scope("read")
        require_session(actor)
        names = self._match_branches(actor, branch_names)
        options = parse_options(actor, search_type, filters, include, recipe, None, current_cycle)
        pages = self._open_pages(names, query, options, actor, limit, query_vector)
        return self._build_result(pages, cursor, max_tokens)

    def search_range(
        self,
        *,
        query: str,
        actor: Actor,
        offset: int,
        limit: int,
        branch_name: str = MAIN,
        search_type: str = "hybrid",
        filters: FactFilter | None = None,
    ) -> Sequence[Hit]:
        """Return hits by their place in the order of a search. Raises as ``search``."""
        actor.require_scope("read", branch_name)
        require_session(actor)
        options = parse_options(actor, search_type, filters, (), "", None, None)
        pages = self._open_pages([branch_name], query, options, actor, 1, None)
        with get_backend().snapshot():
            found, chosen = pages.read_range(offset, limit)
            rater = Rater.from_hits(found.hits, pages.question)
            hits = found.build_hits(chosen, rater, actor.project_id)
        log_recall(actor, [branch_name], pages.question.text, [hit.fact.uid for hit in hits])
        return hits

    def explain(
        self,
        *,
        query: str,
        fact_id: UUID,
        actor: Actor,
        branch_name: str = MAIN,
        limit: int = 10,
        search_type: str = "hybrid",
        filters: FactFilter | None = None,
        include: Sequence[str] = (),
        recipe: str = "",
        at: Any = None,
        current_cycle: int | None = None,
    ) -> Explanation:
        """Explain why a search finds a fact or not, for any id. Raises as a search does, never for the id."""
        actor.require_scope("read", branch_name)
        check_limit(limit)
        options = parse_options(actor, search_type, filters, include, recipe, at, current_cycle)
        question = build_query(query, actor.project_id, None, search_type)
        with get_backend().snapshot():
            branch = find_branch(actor, branch_name)
            lineage = branch.lineage(resolve_point(branch, at))
            shown = Fact.objects.in_lineage(lineage).filter(uid=fact_id).fetch_all()
            if not shown:
                return explain_invisible(fact_id, branch, lineage, actor)
            (fact,) = annotate_facts(shown, lineage, actor.project_id)
            answer = _left_out(fact, branch, options, lineage) or _explain_rank(
                fact, branch, question, options, actor, limit
            )
            mask_archived(branch, [fact])
            return answer

    # ---- search steps ----------------------------------------------------------------------------

    @staticmethod
    def _open_pages(
        names: Sequence[str],
        query: str,
        options: SearchOptions,
        actor: Actor,
        limit: int,
        query_vector: np.ndarray | None,
    ) -> ResultPages:
        question = build_query(query, actor.project_id, query_vector, options.search_type)
        return ResultPages(names, question, options, actor, check_limit(limit))

    @staticmethod
    @timed("day1_search_part_seconds", part="whole")
    def _build_result(pages: ResultPages, cursor: str, max_tokens: int | None) -> SearchResult:
        if cursor and max_tokens is not None:
            raise Invalid("A cursor and max_tokens cannot be given together.", field="cursor")
        started, actor, question = time.perf_counter(), pages.actor, pages.question
        with get_backend().snapshot():
            page = pages.read_page(cursor)
            rater = Rater.from_hits(page.best.hits, question)
            hits = page.ranking.build_hits(page.hits, rater, actor.project_id)
            judgement = judge_evidence(page.best.hits, rater, question, actor.project_id)
        annotate_usage([hit.fact for hit in hits], actor.project_id)
        packed = hits if max_tokens is None else pack_hits(hits, max_tokens)
        took = (time.perf_counter() - started) * 1000
        log_recall(actor, pages.names, question.text, [hit.fact.uid for hit in packed])
        result = SearchResult(
            hits=packed,
            signals_used=page.best.used,
            recipe=pages.options.recipe.name,
            took_ms=round(took, 3),
            branches=tuple(pages.names),
            **judgement,
            next=page.next if max_tokens is None else None,
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
            named += (batch := [name for name in known if fnmatchcase(name, pattern) and actor.may_use(name)])
            if not batch and "*" not in pattern:
                raise BranchNotFound(name=pattern)
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


# ---- explanations --------------------------------------------------------------------------------------


def explain_invisible(fact_id: UUID, branch: Branch, lineage: Lineage, actor: Actor) -> Explanation:
    """Explain a fact that the branch does not show: deleted, later, on other usable branches, or unknown."""
    if any(version.deleted for version in Fact.objects.history(lineage, fact_id)):
        return build_explanation("deleted")
    if Fact.objects.history(branch.lineage(), fact_id).exists():
        return build_explanation("not_yet")
    if names := find_showing(fact_id, branch, actor):
        return build_explanation("other_branch", branches=names)
    return build_explanation("absent")


def find_showing(fact_id: UUID, branch: Branch, actor: Actor) -> list[str]:
    """Return the usable live branches that show a fact: its writers, else those forked with it."""
    versions = Fact.objects.all_versions().filter(uid=fact_id, deleted=False)
    spans = list(versions.values_list("branch_id", "seq_from", "seq_to"))
    live = Branch.objects.live().filter(project=actor.project_id).exclude(pk=branch.pk)
    writing = live.filter(pk__in={holder for holder, _, _ in spans})
    return first_named(writing, fact_id, actor) or first_named(_begun_with(spans, live), fact_id, actor)


def _begun_with(spans: Sequence[tuple[int, int, int]], live: Iterable[Branch]) -> Iterator[Branch]:
    """Yield the branches with an ancestor on which one of these versions was open at the fork."""
    for other in live if spans else ():
        forked = dict(other.ancestors)
        if any(start <= forked.get(holder, -1) < end for holder, start, end in spans):
            yield other


def first_named(branches: Iterable[Branch], fact_id: UUID, actor: Actor) -> list[str]:
    """Return the first of these branches, by name, that the actor may use and that show the fact."""
    mine = (other for other in branches if actor.may_use(other.name))
    showing = (other.name for other in mine if Fact.objects.on(other).filter(uid=fact_id).fetch_all())
    return list(islice(showing, MAX_NAMED_BRANCHES))


def _left_out(fact: Fact, branch: Branch, options: SearchOptions, lineage: Lineage) -> Explanation | None:
    """Return the first exclusion of the fact from this search; None where there is none."""
    closed = branch.archived_at is not None
    of_branch = closed and (options.filters.status or Fact.Status.ARCHIVED not in options.include)
    status = Fact.Status.ARCHIVED if of_branch else fact.status
    if status not in Fact.SEARCHED and status not in (*options.include, *options.filters.status):
        return build_explanation(str(status), fact)
    one = Fact.objects.in_lineage(lineage)
    failing = [
        name
        for name, filters in options.filters.split_filters().items()
        if not filters.apply(one, lineage, closed).filter(uid=fact.uid).fetch_all()
    ]
    if failing:
        return build_explanation("filtered", fact, text=format_filters(failing), filters=failing)
    for flag, condition in default_exclusions(options.now, lineage).items():
        if flag not in options.include and not one.filter(condition, uid=fact.uid).fetch_all():
            return build_explanation(flag, fact)
    return None


def _explain_rank(
    fact: Fact, branch: Branch, question: PreparedQuery, options: SearchOptions, actor: Actor, limit: int
) -> Explanation:
    """Explain the fact's rank among the candidates, or why it is none."""
    hits = rank_candidates([branch.name], question, options, actor).hits
    if fact.uid in {hit.row.uid for hit in hits}:
        return explain_position(fact, hits, options, limit)
    hits = rank_candidates([branch.name], question, options, actor, also=[fact.rid]).hits
    return explain_excluded(fact, hits, options, limit)


def explain_position(fact: Fact, hits: Sequence[Scored], options: SearchOptions, limit: int) -> Explanation:
    """Explain a candidate: on the page, behind it, or displaced by the limit on reflections."""
    page = [hit.row.uid for hit in limit_reflections(hits, limit, options)]
    position, score = find_position(fact, hits)
    if fact.uid in page:
        return build_explanation("found", fact, found=True, position=page.index(fact.uid) + 1, **score)
    text = f"It is at position {position}"
    if position <= limit:
        text += f" of all, but reflections take at most {REFLECTIONS:.0%} of a page"
    return build_explanation("out_ranked", fact, position=position, text=text, limit=limit, **score)


def explain_excluded(fact: Fact, hits: Sequence[Scored], options: SearchOptions, limit: int) -> Explanation:
    """Explain a fact that is no candidate: it was added to see its signals, so its rank is unknown."""
    _, score = find_position(fact, hits)
    if not any(score.get("signals", {}).get(arm) for arm in ("keyword", "vector", "words")):
        return build_explanation("no_signal", fact, **score)
    text = f"At least {options.recipe.pool} facts rank before it by their words or their vector"
    return build_explanation("out_ranked", fact, text=text, limit=limit, **score)


def find_position(fact: Fact, hits: Sequence[Scored]) -> tuple[int, dict[str, Any]]:
    for position, hit in enumerate(hits, 1):
        if hit.row.uid == fact.uid:
            return position, {"score": hit.score, "signals": hit.signals}
    return 0, {}


def format_filters(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"The filter {names[0]} leaves"
    return f"The filters {', '.join(names[:-1])} and {names[-1]} leave"


def build_explanation(
    reason: str,
    fact: Fact | None = None,
    found: bool = False,
    text: str = "",
    position: int | None = None,
    score: float | None = None,
    signals: Mapping[str, float] | None = None,
    **details: Any,
) -> Explanation:
    """Build an explanation; ``text`` fills the reason's message, as position and details do."""
    words = {name: ", ".join(value) if isinstance(value, list) else value for name, value in details.items()}
    message = REASONS[reason].format(text=text, position=position, **words)
    return Explanation(found, reason, message, position, score, dict(signals or {}), details, fact)

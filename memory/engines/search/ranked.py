"""Ranking of facts: candidates from two arms, one order, and every part of a score."""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from memory import ranking
from memory.actors import Actor
from memory.conf import conf
from memory.db.raw_select import fetch_one
from memory.db.united import read_together
from memory.engines.embedding.engine import plan_waiting
from memory.engines.facts.assessment import (
    NOTHING,
    Assessment,
    apply_assessment,
    default_exclusions,
    load_assessments,
    mask_archived,
    parse_expiry_time,
    plan_usage,
)
from memory.engines.facts.filters import FactFilter
from memory.engines.search.answer_boost import find_answers, is_answered
from memory.engines.search.candidates import Candidates, PreparedQuery, find_candidates
from memory.engines.search.evidence import Rater
from memory.engines.search.fact_rows import Row, fact_rows, list_inputs, plan_facts, read_facts
from memory.engines.search.overlay import Overlay
from memory.engines.search.scoring import Scored, collapse_hits, in_order, score_all
from memory.engines.search.speakers import find_speaker, name_speaker
from memory.engines.search.windows import Windows, find_windows
from memory.engines.search.word_codes import plan_codes
from memory.engines.versions.lookup import find_branch, resolve_point
from memory.engines.versions.repositories import find_repositories, find_repository
from memory.exceptions import Invalid
from memory.metrics import timed
from memory.models import Branch, Fact, Project

logger = logging.getLogger(__name__)
TYPES = ("hybrid", "keyword", "vector")
INCLUDE = ("superseded", "archived", "created", "expired", "outdated", "invalidated")
REFLECTIONS = 0.3  # maximum share of a page
# Added to the score: enough between hits that say the same, of which the scores differ by hundredths.
OWN_REPOSITORY = 0.05
REFLECTION = Fact.Kind.REFLECTION.value
BUT_REFLECTIONS = [kind for kind in Fact.Kind.values if kind != REFLECTION]


@dataclass(frozen=True)
class Hit:
    """Fact found, with the parts of its score and the branches that show it."""

    fact: Fact
    score: float
    signals: dict[str, float]
    branches: tuple[str, ...] = ()
    evidence: float = 0.0

    @property
    def text(self) -> str:
        return self.fact.essence


@dataclass(frozen=True)
class SearchOptions:
    """Validated search options; the same for one branch, several, and an explanation."""

    search_type: str = "hybrid"
    filters: FactFilter = field(default_factory=FactFilter)
    include: frozenset[str] = frozenset()
    recipe: ranking.Recipe = ranking.RECIPES["default"]
    current_cycle: int | None = None
    at: Any = None
    now: datetime = field(default_factory=timezone.now)
    seqs: Mapping[str, int] | None = None  # the point of each branch, for pages behind the first
    overlay: Overlay | None = None  # facts that are exchanged, to search what a merge would give


@dataclass
class CandidatePool:
    """Candidates of all branches of a search, ranked against each other."""

    raw: Candidates = field(default_factory=Candidates)
    rows: dict[int, Row] = field(default_factory=dict)
    beliefs: dict[int, Assessment] = field(default_factory=dict)
    branches: dict[int, list[Branch]] = field(default_factory=dict)
    answers: dict[int, int] = field(default_factory=dict)  # row id of an answer -> that of its question
    sources: dict[int, Any] = field(default_factory=dict)  # the rows of each branch, by its key
    seqs: dict[str, int] = field(default_factory=dict)  # by the branch's name, the point that is read

    def find_windows(self, rids: Sequence[int]) -> Windows:
        """Return what stands around rows in the first branch that shows them."""
        shown: dict[int, dict[int, str]] = defaultdict(dict)
        for rid in rids:
            shown[self.branches[rid][0].pk][rid] = name_speaker(self.rows[rid])
        found = [find_windows(self.sources[pk], batch) for pk, batch in shown.items()]
        return {rid: batch for windows in found for rid, batch in windows.items()}

    def add_rows(self, branch: Branch, rows: Sequence[Row], known: Mapping[UUID, Assessment]) -> None:
        """Add rows of a branch; where several branches show one, the first one's assessment counts."""
        for row in rows:
            if row.rid in self.rows:
                self.branches[row.rid].append(branch)
            else:
                self.rows[row.rid], self.branches[row.rid] = row, [branch]
                # An id takes long to look up.
                self.beliefs[row.rid] = known.get(row.uid, NOTHING) if known else NOTHING

    def build_hit(self, scored: Scored, fact: Fact, evidence: float) -> Hit:
        """Return the hit with the complete fact, as the first of its branches shows it."""
        branches = self.branches[fact.rid]
        (shown,) = mask_archived(branches[0], [apply_assessment(fact, self.beliefs[fact.rid])])
        names = tuple(branch.name for branch in branches)
        return Hit(shown, scored.score, scored.signals, names, evidence)


@dataclass(frozen=True)
class Ranking:
    """Ranked candidates, best first, and the signals used."""

    hits: Sequence[Scored]
    used: Sequence[str]
    pool: CandidatePool
    is_deep: bool = False

    def extend(self, deep: "Ranking", by_text: bool) -> "Ranking":
        """Return this ranking, with the hits of a larger pool that it does not have behind its own."""
        known = {get_identity(hit, by_text) for hit in self.hits}
        others = [hit for hit in deep.hits if get_identity(hit, by_text) not in known]
        pool, more = self.pool, deep.pool
        both = {name: getattr(more, name) | getattr(pool, name) for name in ("rows", "beliefs", "branches")}
        return Ranking([*self.hits, *others], self.used, replace(pool, **both), is_deep=True)

    @timed("day1_search_part_seconds", part="rows")
    def build_hits(self, chosen: Sequence[Scored], rater: Rater, project_id: UUID) -> list[Hit]:
        """Return hits; their rows are read with what is annotated next."""
        rows = [scored.row for scored in chosen]
        rids, hashes = [row.rid for row in rows], {row.content_hash for row in rows}
        usage = plan_usage([row.uid for row in rows], hashes, project_id)
        waiting = [plan_waiting(project_id, rater.model)] if rater.model else []
        read_together([*plan_facts(rids), *usage, *waiting])
        facts = read_facts(rids)
        return [self.pool.build_hit(one, facts[one.row.rid], rater.rate(one)) for one in chosen]


def rank_candidates(
    names: Sequence[str],
    question: PreparedQuery,
    options: SearchOptions,
    actor: Actor,
    also: Sequence[int] = (),
) -> Ranking:
    """Rank the candidates of the branches against each other, with the rows ``also``."""
    pool = CandidatePool()
    for name in names:
        _collect_candidates(pool, name, question, options, actor, also)
    ask = (question, options.recipe, actor.project_id)
    inputs = list_inputs([*pool.rows.values()], pool.beliefs, options.now, options.current_cycle)
    scored, used = score_all(pool.rows, pool.raw, *ask, inputs, pool.answers, pool.find_windows)
    prefer_repository(scored, actor)
    hits = in_order(scored)
    return Ranking(collapse_hits(hits, pool.branches) if len(names) > 1 else hits, sorted(used), pool)


def get_identity(hit: Scored, by_text: bool) -> Any:
    """Return what makes a hit one: its row, or its text where several branches are searched."""
    return hit.row.same if by_text else hit.row.rid


def prefer_repository(hits: Mapping[int, Scored], actor: Actor) -> None:
    """Raise the scores of hits that were learned in the actor's repository, where it is known."""
    if not hits or not (own := find_repository(actor)):
        return
    known = find_repositories(actor.project_id, [hit.row for hit in hits.values()])
    for hit, repository in zip(hits.values(), known, strict=True):
        if repository == own:
            hit.score += OWN_REPOSITORY
            hit.added["repository"] = OWN_REPOSITORY


def _collect_candidates(
    pool: "CandidatePool",
    name: str,
    question: PreparedQuery,
    options: SearchOptions,
    actor: Actor,
    also: Sequence[int],
) -> None:
    branch = find_branch(actor, name)
    if branch.archived_at and "archived" not in {*options.include, *options.filters.status}:
        return
    pool.seqs[name] = resolve_point(branch, options.seqs[name] if options.seqs else options.at)
    lineage = branch.lineage(pool.seqs[name])
    rows, loose = visible_rows(
        Fact.objects.in_lineage(lineage), options, lineage, branch.archived_at is not None
    )
    if options.overlay:
        rows, loose = options.overlay.cover_rows(rows, loose, options.filters, options.now)
    ask = (question, options.search_type, options.recipe.pool, actor.project_id, also)
    found = find_candidates(rows, *ask, near=loose)
    # Read the rows through the branch: the database checks what memory or the index returned.
    facts = fact_rows(rows, found.rids)
    valid = {fact.rid for fact in facts}
    if found.needs_refill(options.recipe.pool, valid):
        # Expiry or verdicts exclude more than the margin allows for: the database filters each row.
        found = find_candidates(rows, *ask)
        facts = fact_rows(rows, found.rids)
    elif found.word_hits:
        found.trim_words(options.recipe.pool, valid, also)
        kept = set(found.rids)
        facts = [fact for fact in facts if fact.rid in kept]
    if reflections_dominate(facts, options):
        found.add(find_candidates(rows.filter_indexed(kind=BUT_REFLECTIONS), *ask))
        facts = fact_rows(rows, found.rids)
    if options.recipe.replies:
        facts += _find_answers(pool, rows, facts, found, question, actor, options.recipe)
    codes = plan_codes([fact.content_hash for fact in facts], question, actor.project_id)
    known = load_assessments([fact.uid for fact in facts], lineage, codes)
    if options.overlay:
        known = options.overlay.assess(known)
    pool.raw.add(found)
    pool.sources[branch.pk] = rows
    pool.add_rows(branch, facts, known)


def _find_answers(
    pool: "CandidatePool",
    rows: Any,
    facts: Sequence[Row],
    found: Candidates,
    question: PreparedQuery,
    actor: Actor,
    recipe: ranking.Recipe,
) -> list[Row]:
    """Return the answers that follow a question among the facts and are no candidates yet."""
    pairs, known = find_answers(rows, facts), {fact.rid for fact in facts}
    speakers = {fact.rid: find_speaker(fact.text) for pair in pairs for fact in pair}
    pairs = [pair for pair in pairs if is_answered(speakers, pair[1].rid, pair[0].rid, recipe)]
    new = {after.rid: after for _, after in pairs if after.rid not in known}
    if new and question.vector is not None and "vector" in found.used:
        cosines = rows.score_cosines([*new], question.vector, question.model, actor.project_id)
        found.vector |= dict(cosines)
    pool.answers |= {after.rid: before.rid for before, after in pairs}
    return [*new.values()]


def parse_options(
    actor: Actor,
    search_type: str,
    filters: FactFilter | None,
    include: Sequence[str],
    recipe: str,
    at: Any,
    current_cycle: int | None,
) -> SearchOptions:
    """Return the checked options of a search. Raises Invalid."""
    if search_type not in TYPES:
        raise Invalid("search_type must be one of {types}.", types=", ".join(TYPES), field="search_type")
    if unknown := set(include) - set(INCLUDE):
        raise Invalid(
            "include knows {known}, not {unknown}.",
            known=", ".join(INCLUDE),
            unknown=min(unknown),
            field="include",
        )
    return SearchOptions(
        search_type,
        filters or FactFilter(),
        frozenset(include),
        get_recipe(actor, recipe),
        current_cycle,
        at,
        now=parse_expiry_time(at),
    )


def get_recipe(actor: Actor, name: str) -> ranking.Recipe:
    """Return the named recipe, else the project's, else the server's. Raises Invalid for an unknown name."""
    if not name:
        return read_recipe(actor.project_id)
    if name not in ranking.RECIPES:
        known = ", ".join(sorted(ranking.RECIPES))
        raise Invalid("There is no recipe {name}; there are {known}.", name=name, known=known, field="recipe")
    return ranking.RECIPES[name]


def read_recipe(project_id: UUID) -> ranking.Recipe:
    """Return the project's recipe, else the server's."""
    project = fetch_one(Project, id=project_id)
    stored = (project and project.recipe) or conf().recipe
    if stored in ranking.RECIPES:
        return ranking.RECIPES[stored]
    logger.warning("There is no recipe %s; the default is used.", stored)
    return ranking.RECIPES["default"]


def visible_rows(rows: Any, options: SearchOptions, lineage: Any, archived: bool = False) -> tuple[Any, Any]:
    """Return the rows that the options allow, and those rows before expiry and verdicts are applied.

    The second set needs the index alone and is quick; the first is exact.
    """
    statuses = {*Fact.SEARCHED, *(options.include & {"superseded", "archived", "created"})}
    if not options.filters.status:
        rows = (
            rows.searchable() if statuses == Fact.SEARCHED else rows.filter_indexed(status=sorted(statuses))
        )
    rows = loose = options.filters.apply(rows, lineage, archived)
    left_out = default_exclusions(options.now, lineage).items()
    return rows.filter(*(condition for flag, condition in left_out if flag not in options.include)), loose


def reflections_dominate(facts: Sequence[Row], options: SearchOptions) -> bool:
    """Return whether reflections, of which a page shows few, displace other candidates."""
    if set(options.filters.kind) == {REFLECTION}:
        return False
    return sum(fact.kind == REFLECTION for fact in facts) > REFLECTIONS * options.recipe.pool


def limit_reflections(hits: Sequence[Scored], limit: int, options: SearchOptions) -> list[Scored]:
    """Return the first page; reflections take a limited share, unless only they are requested."""
    share = 1.0 if set(options.filters.kind) == {REFLECTION} else REFLECTIONS
    reflections = [hit.row.kind == REFLECTION for hit in hits]
    return [hits[i] for i in ranking.cap_share(reflections, limit, share)]

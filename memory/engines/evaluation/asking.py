"""Questions put to places: the ranks of what they expect, and why an expected fact has none."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory import ranking
from memory.actors import Actor
from memory.db.backend import get_backend
from memory.engines.evaluation.figures import Ranks, Result
from memory.engines.facts.assessment import parse_expiry_time
from memory.engines.facts.filters import FactFilter
from memory.engines.search.candidates import PreparedQuery, build_query
from memory.engines.search.overlay import Overlay
from memory.engines.search.ranked import SearchOptions, limit_reflections, rank_candidates
from memory.engines.search.scoring import Scored
from memory.engines.support.batches import batched
from memory.engines.versions.erased import erased_uids
from memory.engines.versions.lookup import find_branch, resolve_point
from memory.models import Fact
from memory.models.base import ERASED_MARK
from memory.models.questions import Question

BATCH_SIZE = 500
ERASED, ABSENT, ELSEWHERE, UNRANKED = "erased", "absent", "elsewhere", "unranked"


@dataclass(frozen=True)
class Place:
    """What questions are put to: a branch at a point, by a recipe; with an overlay, what a merge gives.

    Facts that expire are judged at ``expiry_time``, the time of a point that is one, as a search does; else
    now.
    """

    branch_name: str
    recipe: ranking.Recipe
    seq: int | None = None
    overlay: Overlay | None = None
    expiry_time: datetime | None = None


def ask_questions(
    questions: Sequence[Question], place: Place, before: Place | None, actor: Actor, k: int
) -> Iterator[Result]:
    """Yield the result of each question at a place, compared with another one if given.

    Both sides have the same vector of the question, or none. After an embedder did not answer it is asked no
    more: each question would wait for it.
    """
    known, is_silent = find_known(actor.project_id, questions), False
    for question in questions:
        expected = list_expected(question)
        found = [] if is_blanked(question) else [uid for uid in expected if uid not in known]
        is_keyword = is_silent or not found  # a question without facts is not put
        query = build_query(
            question.text, actor.project_id, search_type="keyword" if is_keyword else "hybrid"
        )
        is_silent = is_silent or (bool(found) and lacks_vector(query))
        missing = {uid: known[uid] for uid in expected if uid in known}
        ranks = rank_expected(question, query, found, place, actor, k) if found else {}
        earlier = rank_expected(question, query, found, before, actor, k) if found and before else None
        unranked = [uid for uid, rank in ranks.items() if rank is None]
        missing |= explain_unranked(unranked, place, actor)
        yield Result(
            question.pk,
            ranks,
            {} if before and earlier is None else earlier,
            missing,
            is_silent and bool(found),
        )


def lacks_vector(query: PreparedQuery) -> bool:
    """Return whether the embedder was to give a vector and did not."""
    return query.vector is None and bool(query.model)


def is_blanked(question: Question) -> bool:
    """Return whether an erasure took the text: what is left asks for nothing."""
    return question.text == ERASED_MARK


def list_expected(question: Question) -> list[UUID]:
    return [UUID(text) for text in question.expected]


def rank_expected(
    question: Question, query: PreparedQuery, uids: Sequence[UUID], place: Place, actor: Actor, k: int
) -> Ranks:
    """Return the rank of each fact, None for one that is no candidate."""
    category = [question.category] if question.category else []
    filters = FactFilter.from_values({"category": category, "repository": question.repository})
    order = rank_facts(place, query, filters, actor, k)
    places = {uid: rank for rank, uid in enumerate(order, 1)}
    return {uid: places.get(uid) for uid in uids}


def find_known(project_id: UUID, questions: Iterable[Question]) -> dict[UUID, str]:
    """Return the expected facts that no branch of the project has: they were erased, or never there."""
    expected = sorted({uid for question in questions for uid in list_expected(question)})
    erased, present = erased_uids(project_id, expected), set[UUID]()
    for batch in batched(expected, BATCH_SIZE):
        versions = Fact.objects.all_versions().filter(uid__in=batch, deleted=False)
        present |= set(versions.filter(branch__project=project_id).values_list("uid", flat=True))
    return {
        uid: ERASED if uid in erased else ABSENT for uid in expected if uid in erased or uid not in present
    }


def explain_unranked(uids: Sequence[UUID], place: Place, actor: Actor) -> dict[UUID, str]:
    """Say of facts that are no candidates whether the branch shows them at all."""
    if not uids:
        return {}
    branch = find_branch(actor, place.branch_name)
    rows = Fact.objects.in_lineage(branch.lineage(resolve_point(branch, place.seq)))
    shown = {uid for (uid,) in rows.select_by_key(("uid",), "uid", uids)}
    if place.overlay:
        shown = shown - place.overlay.hidden | {change.fact.uid for change in place.overlay.changes}
    return {uid: UNRANKED if uid in shown else ELSEWHERE for uid in uids}


# ---- ranks -------------------------------------------------------------------------------------------


def rank_facts(
    place: Place, question: PreparedQuery, filters: FactFilter, actor: Actor, k: int
) -> list[UUID]:
    """Return the facts that a search for k finds, best first, and behind them its other candidates."""
    page, hits = rank_hits(place, question, filters, actor, k)
    shown = {hit.row.uid for hit in page}
    return [hit.row.uid for hit in page] + [hit.row.uid for hit in hits if hit.row.uid not in shown]


def rank_hits(
    place: Place, question: PreparedQuery, filters: FactFilter, actor: Actor, k: int
) -> tuple[Sequence[Scored], Sequence[Scored]]:
    """Return the page of a search for k, and all of its candidates."""
    options = SearchOptions(
        filters=filters,
        recipe=place.recipe,
        at=place.seq,
        now=parse_expiry_time(place.expiry_time),
        overlay=place.overlay,
    )
    with get_backend().snapshot():
        hits = rank_candidates([place.branch_name], question, options, actor).hits
    return limit_reflections(hits, k, options), hits

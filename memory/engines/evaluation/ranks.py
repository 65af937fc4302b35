"""The order of a search in full, to find the rank of an expected fact: no page is read, nothing is logged."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory import ranking
from memory.actors import Actor
from memory.db.backend import get_backend
from memory.engines.facts.assessment import parse_expiry_time
from memory.engines.facts.filters import FactFilter
from memory.engines.search.candidates import PreparedQuery
from memory.engines.search.overlay import Overlay
from memory.engines.search.ranked import SearchOptions, limit_reflections, rank_candidates
from memory.engines.search.scoring import Scored


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

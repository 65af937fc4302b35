"""Facts as a search reads them: a few columns of each candidate, full facts only for the page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from memory import ranking
from memory.db.querysets import VersionedQuerySet
from memory.db.raw_select import Statement, plan_cut, read_cut
from memory.engines.facts.assessment import Assessment
from memory.models import Fact
from memory.ranking import RankingInputs

MAX_FOUND_CHARACTERS = 8000  # of a text in search results; reading by id returns it whole


@dataclass(slots=True)
class Row:
    """Columns of a candidate for ranking, for any kind of memory."""

    rid: int
    uid: UUID
    text: str
    content_hash: str  # of the text: the key of its vector
    standing: ranking.RankingInputs
    same: str = ""  # equal for rows with the same text
    session_id: str = ""
    kind: str = ""
    repository: str = ""
    role: str = ""  # of a message


class FactRow(NamedTuple):
    """Columns that ranking needs. A fact has four times as many."""

    rid: int
    uid: UUID
    fact_text: str
    content_hash: str
    norm_hash: str
    judged_hash: str
    session_id: str
    kind: str
    created_at: datetime
    priority: str
    confidence: float
    updated_cycle: int
    repository: str


def fact_rows(rows: VersionedQuerySet, rids: Iterable[int]) -> list[FactRow]:
    """Return the columns of those row ids that the rows include; this checks hits of memory or an index."""
    return [FactRow(*values) for values in rows.select_by_key(FactRow._fields, "rid", rids)]


def ranked_row(fact: FactRow, belief: Assessment, current_cycle: int | None) -> Row:
    verdict = belief.get_current_verdict(fact.judged_hash)
    cycles = None if current_cycle is None else current_cycle - fact.updated_cycle
    standing = RankingInputs(
        fact.created_at,
        bool(verdict and verdict.status == "verified"),
        fact.priority,
        fact.confidence,
        belief.confirmations,
        cycles,
    )
    return Row(
        fact.rid,
        fact.uid,
        fact.fact_text,
        fact.content_hash,
        standing,
        fact.norm_hash,
        fact.session_id,
        fact.kind,
        fact.repository,
    )


def read_facts(rids: Sequence[int]) -> Mapping[int, Fact]:
    """Return the facts of a page of results by row id, with long texts cut.

    Reads in the snapshot of the search, which is still open.
    """
    return {fact.rid: fact for fact in read_cut(Fact, "rid", rids, MAX_FOUND_CHARACTERS)}


def plan_facts(rids: Sequence[int]) -> list[Statement]:
    """Return the statements of ``read_facts``, for ``read_together``."""
    return plan_cut(Fact, "rid", rids, MAX_FOUND_CHARACTERS)

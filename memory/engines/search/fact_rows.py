"""Facts as a search reads them: a few columns of each candidate, full facts only for the page."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import numpy as np

from memory.db.querysets import VersionedQuerySet
from memory.db.raw_select import Statement, plan_cut, read_cut
from memory.engines.facts.assessment import NOTHING, Assessment
from memory.models import Fact
from memory.ranking import RankingInputs

SECONDS_A_DAY = 86_400
MAX_FOUND_CHARACTERS = 8000  # of a text in search results; reading by id returns it whole


class Row(NamedTuple):
    """Columns of a candidate for ranking, for any kind of memory. A fact has four times as many."""

    rid: int
    uid: UUID
    text: str
    content_hash: str  # of the text: the key of its vector
    created_at: datetime
    session_id: str = ""
    same: str = ""  # equal for rows with the same text
    judged_hash: str = ""
    kind: str = ""
    priority: str = ""
    confidence: float = 1.0
    updated_cycle: int = 0
    repository: str = ""
    role: str = ""  # of a message


FACT_COLUMNS = (
    "rid",
    "uid",
    "fact_text",
    "content_hash",
    "created_at",
    "session_id",
    "norm_hash",
    "judged_hash",
    "kind",
    "priority",
    "confidence",
    "updated_cycle",
    "repository",
)


def fact_rows(rows: VersionedQuerySet, rids: Iterable[int]) -> list[Row]:
    """Return the columns of those row ids that the rows include; this checks hits of memory or an index."""
    return [Row(*values) for values in rows.select_by_key(FACT_COLUMNS, "rid", rids)]


def list_inputs(
    rows: Sequence[Row], beliefs: Mapping[int, Assessment], now: datetime, cycle: int | None
) -> RankingInputs:
    """Return what a recipe reads of the rows; their age is in days where no cycle counts."""
    verified, confirmations = np.zeros(len(rows), dtype=bool), np.zeros(len(rows))
    for at, row in enumerate(rows):
        belief = beliefs.get(row.rid, NOTHING)
        if belief is not NOTHING:
            verdict = belief.get_current_verdict(row.judged_hash)
            verified[at] = verdict is not None and verdict.status == "verified"
            confirmations[at] = belief.confirmations
    begun = np.array([row.created_at.timestamp() for row in rows])
    cycles = None if cycle is None else np.array([cycle - row.updated_cycle for row in rows], dtype=float)
    return RankingInputs(
        (now.timestamp() - begun) / SECONDS_A_DAY if cycles is None else cycles,
        verified,
        [row.priority for row in rows],
        np.array([row.confidence for row in rows], dtype=float),
        confirmations,
    )


def read_facts(rids: Sequence[int]) -> Mapping[int, Fact]:
    """Return the facts of a page of results by row id, with long texts cut.

    Reads in the snapshot of the search, which is still open.
    """
    return {fact.rid: fact for fact in read_cut(Fact, "rid", rids, MAX_FOUND_CHARACTERS)}


def plan_facts(rids: Sequence[int]) -> list[Statement]:
    """Return the statements of ``read_facts``, for ``read_together``."""
    return plan_cut(Fact, "rid", rids, MAX_FOUND_CHARACTERS)

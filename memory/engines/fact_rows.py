"""Facts as a search looks at them: a few columns of each candidate, whole facts for the page alone."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from memory.db.querysets import VersionedQuerySet
from memory.db.reading import whole
from memory.engines.belief import Belief
from memory.engines.scoring import Row
from memory.models import Fact
from memory.ranking import Standing


class FactRow(NamedTuple):
    """The columns that ranking needs. A fact has four times as many."""

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


def fact_rows(rows: VersionedQuerySet, rids: Iterable[int]) -> list[FactRow]:
    """Those of these facts that the rows hold: what memory or an index offered is checked here."""
    return [FactRow(*values) for values in rows.picked(FactRow._fields, "rid", rids)]


def ranked_row(fact: FactRow, belief: Belief, current_cycle: int | None) -> Row:
    verdict = belief.counting(fact.judged_hash)
    cycles = None if current_cycle is None else current_cycle - fact.updated_cycle
    standing = Standing(
        fact.created_at, bool(verdict and verdict.status == "verified"), fact.priority, fact.confidence,
        belief.confirmations, cycles,
    )  # fmt: skip
    return Row(
        fact.rid, fact.uid, fact.fact_text, fact.content_hash, standing, fact.norm_hash, fact.session_id,
        fact.kind,
    )  # fmt: skip


def whole_facts(rids: Sequence[int]) -> Mapping[int, Fact]:
    """The facts of a page, by row id; the snapshot in which they were found is still open."""
    return {fact.rid: fact for fact in whole(Fact._base_manager.all(), "rid", rids)}

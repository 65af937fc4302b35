"""Stored tallies: a task keeps those of branches without a parent, and reads derive what they need.

Versions never change, so that a tally of one commit is that of another one but for the memories written
between them. Only two things change what a commit shows: an erasure, which drops the tallies of its project,
and a quarantine, during which none is used. See analytics/engines/checkpoints.py for how many are kept.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Q

from analytics.engines import tallies as t
from analytics.models import StoredTally
from memory.db.lineage import MaskedLineage
from memory.db.querysets import FEW, Lineage
from memory.models import Erasure

MAX_CHANGES = 60_000  # versions between two commits, up to which deriving is cheaper than counting anew
MEASURES = {
    "facts": t.FACTS,
    "fact_days": t.FACT_DAYS,
    "settled_days": t.SETTLED_DAYS,
    "verdicts": t.VERDICTS,
    "messages": t.MESSAGES,
    "message_tokens": t.MESSAGE_TOKENS,
    "conversations": t.CONVERSATIONS,
    "conversation_days": t.CONVERSATION_DAYS,
    "observations": t.OBSERVATIONS,
    "observation_days": t.OBSERVATION_DAYS,
    "relations": t.RELATIONS,
}
NAMES = {measure: name for name, measure in MEASURES.items()}


def read_tally(measure: t.Measure, lineage: Lineage, stored: Mapping[str, StoredTally]) -> t.Tally:
    """Return a tally of what a lineage shows, from a stored one where there is one of its first branch."""
    known = stored.get(NAMES.get(measure, "")) if not isinstance(lineage, MaskedLineage) else None
    if known is None:
        return t.tally_rows(measure, lineage)
    if len(lineage) == 1:
        return derive_tally(measure, lineage, known)
    return t.extend_tally(measure, read_tally(measure, lineage[1:], stored), lineage)


class Place(NamedTuple):
    """Where a stored tally is: its commit, and the versions that were written up to it."""

    measure: str
    seq: int
    versions: int
    pk: int
    made_at: datetime


def load_stored(lineage: Lineage) -> dict[str, StoredTally]:
    """Return of each measure the stored tally of a lineage's first branch that is nearest to its point."""
    branch, limit = lineage[-1]
    far_first = sorted(list_places(branch), key=lambda place: -abs(place.seq - limit))
    nearest = {place.measure: place.pk for place in far_first}
    return {row.measure: row for row in StoredTally.objects.filter(pk__in=nearest.values())}


def list_places(branch: int) -> list[Place]:
    """Return the stored tallies of a branch, but for those whose rows were read before an erasure ended."""
    rows = StoredTally.objects.filter(branch=branch).values_list(*Place._fields)
    places = [Place(*row) for row in rows]
    read_at = min((place.made_at for place in places), default=None)
    if read_at is None:
        return []
    erased = Erasure.objects.filter(project__branches=branch).order_by()
    erased = erased.filter(Q(blanked_at=None) | Q(blanked_at__gte=read_at))
    ends = list(erased.values_list("blanked_at", flat=True))
    return [place for place in places if all(at and at < place.made_at for at in ends)]


def derive_tally(measure: t.Measure, lineage: Lineage, stored: StoredTally) -> t.Tally:
    """Return the tally of one commit of a branch from that of another one, earlier or later."""
    branch, limit = lineage[0]
    low, high = sorted((stored.seq, limit))
    tally: t.Tally = Counter({tuple(key): count for key, count in stored.counts})
    if low == high:
        return tally
    changes = count_changes(measure, branch, low, high, MAX_CHANGES)
    if changes > MAX_CHANGES or (limit == low and is_early(measure, branch, limit, changes)):
        return t.tally_rows(measure, lineage)
    if measure.is_additive:
        return t.move_tally(measure, tally, branch, stored.seq, limit)
    before = [(stored.branch_id, stored.seq)]
    return t.correct_tally(measure, tally, before, lineage, measure.list_changed(branch, low, high))


def is_early(measure: t.Measure, branch: int, seq: int, changes: int) -> bool:
    """Return whether so little was written up to a point that it is counted faster than later changes."""
    most = min(changes, FEW)
    return count_changes(measure, branch, 0, seq, most) < most


def count_changes(measure: t.Measure, branch: int, after: int, until: int, maximum: int) -> int:
    """Count the versions between two commits, up to more than matter."""
    span: dict[str, Any] = {"branch": branch, "seq_from__gt": after, "seq_from__lte": until}
    found = 0
    for model in (measure.model, *measure.sources):
        found += model._base_manager.filter(**span).order_by()[: maximum + 1].count()
    return found


class TallyTraces:
    """The stored tallies of a project, which name categories and tools: an erasure drops them."""

    def erase_traces(self, traces: Any) -> int:
        """Drop the tallies of the project; the next run of the task makes them anew."""
        StoredTally.objects.filter(branch__project=traces.project_id).delete()
        return 0  # none of them has a text

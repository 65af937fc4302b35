"""Stored tallies: a task keeps those of branches without a parent, and reads derive what they need.

Versions never change, so that a tally of one commit is that of another one but for the memories written
between them. Only two things change what a commit shows: an erasure, which drops the tallies of its project,
and a quarantine, during which none is used.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.db.models import Q
from django.utils import timezone

from analytics.engines import tallies as t
from analytics.models import StoredTally
from memory.db.lineage import MaskedLineage
from memory.db.querysets import Lineage
from memory.models import Branch, Erasure

MAX_GROUPS = 20_000  # of a stored tally
MAX_CHANGES = 20_000  # versions between two commits, up to which deriving is cheaper than counting anew
MEASURES = {
    "facts": t.FACTS,
    "fact_states": t.FACT_STATES,
    "fact_days": t.FACT_DAYS,
    "verdicts": t.VERDICTS,
    "verdict_days": t.VERDICT_DAYS,
    "messages": t.MESSAGES,
    "message_tokens": t.MESSAGE_TOKENS,
    "message_days": t.MESSAGE_DAYS,
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


def load_stored(lineage: Lineage) -> dict[str, StoredTally]:
    """Return the stored tallies of the first branch of a lineage, by measure.

    Those are left out whose rows were read before the end of an erasure.
    """
    rows = list(StoredTally.objects.filter(branch=lineage[-1][0]))
    if not rows:
        return {}
    erased = Erasure.objects.filter(project__branches=lineage[-1][0])
    ends = list(erased.filter(Q(blanked_at=None) | Q(blanked_at__gte=min(row.made_at for row in rows))))
    if None in (times := [one.blanked_at for one in ends]):
        return {}
    return {row.measure: row for row in rows if all(at and at < row.made_at for at in times)}


def derive_tally(measure: t.Measure, lineage: Lineage, stored: StoredTally) -> t.Tally:
    """Return the tally of one commit of a branch from that of another one, earlier or later."""
    (branch, limit), before = lineage[0], [(stored.branch_id, stored.seq)]
    low, high = sorted((stored.seq, limit))
    tally: t.Tally = Counter({tuple(key): count for key, count in stored.counts})
    if low == high:
        return tally
    if count_changes(measure, branch, low, high) > MAX_CHANGES:
        return t.tally_rows(measure, lineage)
    return t.correct_tally(measure, tally, before, lineage, measure.list_changed(branch, low, high))


def count_changes(measure: t.Measure, branch: int, after: int, until: int) -> int:
    """Count the versions between two commits, up to more than matter."""
    span = {"branch": branch, "seq_from__gt": after, "seq_from__lte": until}
    found = 0
    for model in (measure.model, *measure.sources):
        found += model._base_manager.filter(**span).order_by()[: MAX_CHANGES + 1].count()
    return found


def update_tallies() -> int:
    """Bring the stored tallies of branches without a parent up to the heads; return how many changed."""
    branches = Branch.objects.live().filter(parent=None, masked=False).order_by("pk")
    return sum(update_branch(branch) for branch in branches)


def update_branch(branch: Branch) -> int:
    """Store the tallies of a branch at its head; return how many were not there yet."""
    made_at, lineage = timezone.now(), branch.lineage()
    stored = load_stored(lineage)
    due = [name for name in MEASURES if name not in stored or stored[name].seq != branch.head]
    for name in due:
        tally = read_tally(MEASURES[name], lineage, stored)
        if len(tally) <= MAX_GROUPS:
            values: dict[str, Any] = {"seq": branch.head, "counts": list(tally.items()), "made_at": made_at}
            StoredTally.objects.update_or_create(branch=branch, measure=name, defaults=values)
    return len(due)


class TallyTraces:
    """The stored tallies of a project, which name categories and tools: an erasure drops them."""

    def erase_traces(self, traces: Any) -> int:
        """Drop the tallies of the project; the next run of the task makes them anew."""
        StoredTally.objects.filter(branch__project=traces.project_id).delete()
        return 0  # none of them has a text

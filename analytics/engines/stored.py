"""Stored tallies: a task keeps those of branches without a parent, and reads derive what they need.

Versions never change, so that a tally of one commit is that of another one but for the memories written
between them. Only two things change what a commit shows: an erasure, which drops the tallies of its project,
and a quarantine, during which none is used. Kept are that of the head, and one for every so many versions
before it: a point of the past is never far from a stored one. Each knows how many versions were written up to
it, so that no run counts what earlier ones counted.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

from django.db.models import Q
from django.utils import timezone

from analytics.engines import tallies as t
from analytics.engines.tallies import Measure, Tally
from analytics.models import StoredTally
from memory.db.lineage import MaskedLineage
from memory.db.querysets import FEW, Lineage
from memory.models import Branch, Erasure

MAX_CHANGES = 60_000  # versions between two commits, up to which deriving is cheaper than counting anew
MEASURES = {
    "facts": t.FACTS,
    "fact_days": t.FACT_DAYS,
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


MAX_GROUPS = 20_000  # of a stored tally
STEP = 10_000  # versions between two stored tallies
MAX_FILLED = 10  # tallies of the past that one run makes for a measure: an old store gets them in time
MAX_COUNTED = 2**31


class Point(NamedTuple):
    """A commit, and how many versions were written up to it."""

    seq: int
    versions: int


START = Point(0, 0)


def update_tallies() -> int:
    """Bring the stored tallies of branches without a parent up to the heads; return how many are new."""
    branches = Branch.objects.live().filter(parent=None, masked=False).order_by("pk")
    return sum(update_branch(branch) for branch in branches)


def update_branch(branch: Branch) -> int:
    """Store the tallies of a branch at its head, and some of those that its past lacks; return how many."""
    made_at, places = timezone.now(), list_places(branch.pk)
    StoredTally.objects.filter(branch=branch).exclude(pk__in=[place.pk for place in places]).delete()
    at_head = {place.measure for place in places if place.seq == branch.head}
    # Each is a list of up to 20,000 groups: those of a branch where nothing was written stay unread.
    stored, made = load_stored(branch.lineage()) if MEASURES.keys() - at_head else {}, 0
    for name in MEASURES:
        points = sorted(Point(place.seq, place.versions) for place in places if place.measure == name)
        if name not in at_head:
            tally = read_tally(MEASURES[name], branch.lineage(), stored)
            points = store_head(branch, name, tally, points, made_at) if len(tally) <= MAX_GROUPS else []
            made += bool(points)
        made += fill_past(branch, name, points, made_at)
    return made


def store_head(
    branch: Branch, name: str, tally: Tally, points: Sequence[Point], made_at: datetime
) -> list[Point]:
    """Store the tally of the head; the newest one before it stays only where a step was written before it."""
    before, newest = [START, START, *points][-2:]
    written = count_changes(MEASURES[name], branch.pk, newest.seq, branch.head, MAX_COUNTED)
    head = Point(branch.head, newest.versions + written)
    store_tally(branch, name, head, tally, made_at)
    if not points or newest.versions - before.versions >= STEP:
        return [*points, head]
    StoredTally.objects.filter(branch=branch, measure=name, seq=newest.seq).delete()
    return [*points[:-1], head]


def store_tally(branch: Branch, name: str, point: Point, tally: Tally, made_at: datetime) -> None:
    values = {"counts": list(tally.items()), "versions": point.versions, "made_at": made_at}
    StoredTally.objects.update_or_create(branch=branch, measure=name, seq=point.seq, defaults=values)


def fill_past(branch: Branch, name: str, points: Sequence[Point], made_at: datetime) -> int:
    """Store tallies where more than two steps were written between two of them; return how many."""
    known = [START, *points]
    for made in range(MAX_FILLED):
        if (gap := find_gap(known)) is None:
            return made
        later = StoredTally.objects.filter(branch=branch, measure=name, seq=gap[1].seq).first()
        if later is None:  # another worker has just moved it
            return made
        point = find_step(MEASURES[name], branch.pk, *gap)
        tally = derive_tally(MEASURES[name], branch.lineage(point.seq), later)
        store_tally(branch, name, point, tally, made_at)
        known = sorted([*known, point])
    return MAX_FILLED


def find_gap(points: Sequence[Point]) -> tuple[Point, Point] | None:
    """Return the newest two neighbours that are too far apart; those of one commit cannot be nearer."""
    for one, other in reversed(list(pairwise(points))):
        if other.versions - one.versions > 2 * STEP and other.seq - one.seq > 1:
            return one, other
    return None


def find_step(measure: Measure, branch: int, low: Point, high: Point) -> Point:
    """Return a point between two others, a step before the later one by the kind that was written most.

    Where less was written before the later one, its own commit is the large one.
    """
    seqs: list[int] = []
    for model in (measure.model, *measure.sources):
        rows = model._base_manager.filter(branch=branch, seq_from__gt=low.seq, seq_from__lt=high.seq)
        seqs += rows.order_by("-seq_from").values_list("seq_from", flat=True)[STEP : STEP + 1]
    found = max(seqs, default=high.seq - 1)
    return Point(found, low.versions + count_changes(measure, branch, low.seq, found, MAX_COUNTED))

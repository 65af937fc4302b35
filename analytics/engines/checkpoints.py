"""Which tallies are stored: that of the head, and one for every so many versions before it.

A point of the past is then never far from a stored tally. Each knows how many versions were written up to
it, so that no run counts what earlier ones counted.
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from django.utils import timezone

from analytics.engines.stored import (
    MEASURES,
    count_changes,
    derive_tally,
    list_places,
    load_stored,
    read_tally,
)
from analytics.engines.tallies import Measure, Tally
from analytics.models import StoredTally
from memory.models import Branch

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

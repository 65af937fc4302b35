"""Closed versions that are still shown: those that a branch forked away from while they were open.

The one rule of what an index and an embedder must keep beside open versions. docs/decisions/0001.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.apps import apps
from django.db import connection, transaction
from django.db.models import QuerySet

from memory.models import OPEN, Branch, BranchedModel
from memory.queue import enqueue

CHUNK = 500
Points = Mapping[int, Sequence[int]]  # branch -> the seqs at which others read it, in order


def text_models() -> list[type[BranchedModel]]:
    """The models that are searched by words and meaning, of all apps."""
    return [model for model in apps.get_models() if issubclass(model, BranchedModel) and model.TEXT]


def points_read(branches: QuerySet[Branch] | None = None) -> Points:
    """At which seqs these branches (all, when not given) read the ones that they grew from."""
    points: dict[int, set[int]] = defaultdict(set)
    for ancestors in (Branch.objects.all() if branches is None else branches).values_list(
        "ancestors", flat=True
    ):
        for branch, limit in ancestors:
            points[branch].add(limit)
    return {branch: sorted(seqs) for branch, seqs in points.items()}


def is_held(points: Sequence[int], seq_from: int, seq_to: int) -> bool:
    """Whether a version was open at one of these points."""
    place = bisect_left(points, seq_from)
    return place < len(points) and points[place] < seq_to


def in_use(points: Points, branch: int, seq_from: int, seq_to: int) -> bool:
    """Whether a version is open, or held by one of the points."""
    return seq_to == OPEN or is_held(points.get(branch, ()), seq_from, seq_to)


# ---- the index -------------------------------------------------------------------------------------


def hold_past(branch: Branch) -> int:
    """Index the versions that a branch from a past point shows; returns how many. May run twice."""
    count = 0
    with transaction.atomic(savepoint=False):
        for some in _closed_for(branch):
            connection.index.hold(some)  # type: ignore[attr-defined]
            count += len(some)
        Branch.objects.filter(pk=branch.pk).update(indexed=True)
    return count


def hold_later(branches: Iterable[Any]) -> None:
    """For branches that are about to come from another store: what they hold is not in this one's index."""
    for branch in branches:
        branch.indexed = branch.parent_id is None
        if not branch.indexed:
            enqueue("memory.hold_past", branch.pk)


def release(branch: Branch) -> int:
    """Take out of the index what only an archived branch holds; returns how many.

    A search on it looks at the rows themselves from then on; ``hold_past`` indexes them again.
    """
    count = 0
    with transaction.atomic(savepoint=False):
        if (
            not Branch.objects.filter(pk=branch.pk, indexed=True)
            .exclude(archived_at=None)
            .update(indexed=False)
        ):
            return 0
        points = points_read(Branch.objects.live())
        for some in _closed_for(branch):
            gone = [
                row for row in some if not is_held(points.get(row.branch_id, ()), row.seq_from, row.seq_to)
            ]
            connection.index.release(gone)  # type: ignore[attr-defined]
            count += len(gone)
    return count


def _closed_for(branch: Branch) -> Iterator[list[Any]]:
    """The closed versions of other branches that this one shows, in chunks of one model."""
    for model in text_models():
        for parent, limit in branch.lineage()[1:]:
            shown = model._base_manager.filter(branch=parent, seq_from__lte=limit, seq_to__gt=limit)
            closed = shown.filter(deleted=False, seq_to__lt=OPEN).order_by("rid")
            last = -1
            while some := list(closed.filter(rid__gt=last)[:CHUNK]):
                last = some[-1].rid
                yield some

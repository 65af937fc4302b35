"""Pinned versions: closed, but still visible on branches forked while they were open.

The single rule for what an index and an embedder must keep besides open versions. docs/decisions/0001.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.apps import apps
from django.db.models import QuerySet

from memory.db.backend import get_index
from memory.db.transactions import write_transaction
from memory.models import OPEN, Branch, BranchedModel
from memory.queue.producer import enqueue

BATCH_SIZE = 500
Points = Mapping[int, Sequence[int]]  # branch -> the seqs at which others read it, in order


def text_models() -> list[type[BranchedModel]]:
    """Return the models that are searched by words and meaning, of all apps."""
    return [model for model in apps.get_models() if issubclass(model, BranchedModel) and model.TEXT]


def fork_points(branches: QuerySet[Branch] | None = None) -> Points:
    """Return the seqs at which these branches (by default all) read their ancestors, by ancestor."""
    points: dict[int, set[int]] = defaultdict(set)
    for ancestors in (Branch.objects.all() if branches is None else branches).values_list(
        "ancestors", flat=True
    ):
        for branch, limit in ancestors:
            points[branch].add(limit)
    return {branch: sorted(seqs) for branch, seqs in points.items()}


def is_pinned(points: Sequence[int], seq_from: int, seq_to: int) -> bool:
    """Return whether a version was open at one of these points."""
    index = bisect_left(points, seq_from)
    return index < len(points) and points[index] < seq_to


def in_use(points: Points, branch: int, seq_from: int, seq_to: int) -> bool:
    """Return whether a version is open, or pinned by one of the points."""
    return seq_to == OPEN or is_pinned(points.get(branch, ()), seq_from, seq_to)


# ---- the index -------------------------------------------------------------------------------------


def pin_versions(branch: Branch) -> int:
    """Index the versions that a branch from a past point shows; return how many. May be repeated."""
    count = 0
    with write_transaction():
        for batch in _closed_for(branch):
            get_index().pin_rows(batch)
            count += len(batch)
        Branch.objects.filter(pk=branch.pk).update(indexed=True)
    return count


def schedule_pin(branches: Iterable[Any]) -> None:
    """Schedule the pinning for branches copied from another store, whose index this one lacks."""
    for branch in branches:
        branch.indexed = branch.parent_id is None
        if not branch.indexed:
            enqueue("memory.hold_past", branch.pk)


def unpin(branch: Branch) -> int:
    """Remove from the index what only an archived branch pins; return how many versions.

    A search on the branch then scans the rows themselves; the task ``memory.hold_past`` indexes them again.
    """
    count = 0
    with write_transaction():
        if (
            not Branch.objects.filter(pk=branch.pk, indexed=True)
            .exclude(archived_at=None)
            .update(indexed=False)
        ):
            return 0
        points = fork_points(Branch.objects.live())
        for batch in _closed_for(branch):
            gone = [
                row for row in batch if not is_pinned(points.get(row.branch_id, ()), row.seq_from, row.seq_to)
            ]
            get_index().unpin_rows(gone)
            count += len(gone)
    return count


def _closed_for(branch: Branch) -> Iterator[list[Any]]:
    """Yield the closed versions of other branches that this one shows, in chunks of one model."""
    for model in text_models():
        for parent, limit in branch.lineage()[1:]:
            shown = model._base_manager.filter(branch=parent, seq_from__lte=limit, seq_to__gt=limit)
            closed = shown.filter(deleted=False, seq_to__lt=OPEN).order_by("rid")
            last = -1
            while batch := list(closed.filter(rid__gt=last)[:BATCH_SIZE]):
                last = batch[-1].rid
                yield batch

"""Recovery of rows that a snapshot has and the store has lost, alongside newer rows.

Day1 never deletes versions, so a missing row was lost: to a damaged disk, or to a statement on the database
itself. Present rows are left alone, whatever their content.
"""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import F, Min, Q

from memory.db.backend import get_store_copies
from memory.db.bulk_sql import insert_all
from memory.engines.store.maintenance import reindex_rows
from memory.engines.support.batches import batched
from memory.engines.versions.blanking import replay_erasures
from memory.engines.versions.kinds import versioned_models
from memory.engines.versions.pinned_versions import schedule_pin
from memory.models import OPEN, Branch, BranchedModel, Commit, Confirmation, Session, VectorClock

BATCH_SIZE = 500
Lost = list[tuple[type[models.Model], list[models.Model]]]


def lost_rows(copy: str, project_id: UUID) -> Lost:
    """Return the project's rows of a store snapshot that the store lacks, parents first."""
    copies = get_store_copies()
    kinds: list[Any] = [Branch, Commit, Session, Confirmation, *versioned_models()]
    missing = {kind: sorted(copies.diff_snapshot(copy, kind).only_there) for kind in kinds}
    if not any(missing.values()):
        return []
    with copies.open_snapshot(copy) as alias:
        own = Branch.objects.using(alias).filter(project=project_id)
        branches = list(own.values_list("pk", flat=True))
        found = [(kind, list(read_lost(kind, alias, missing[kind], project_id, branches))) for kind in kinds]
    return [(kind, rows) for kind, rows in found if rows]


def read_lost(
    kind: Any, alias: str, keys: Sequence[Any], project_id: UUID, branches: Sequence[int]
) -> Iterator[models.Model]:
    own = Q(project=project_id) if kind in (Branch, Session) else Q(branch_id__in=branches)
    for batch in batched(keys, BATCH_SIZE):
        yield from kind._base_manager.using(alias).filter(own, pk__in=batch).order_by("pk")


def restore_lost_rows(lost: Lost, project_id: UUID) -> dict[str, int]:
    """Restore lost rows in the running transaction; return how many of each kind."""
    if lost:  # invalidates copies in memory that were read without them
        VectorClock.objects.filter(project=project_id).update(epoch=F("epoch") + 1)
    for kind, rows in lost:
        for row in rows:
            row._state.db = None
            if isinstance(row, BranchedModel):
                close_if_superseded(row)
        if kind is Branch:
            schedule_pin(rows)
        insert_all(rows, ignore_conflicts=True)
        if issubclass(kind, BranchedModel):
            reindex_rows(rows)
    if lost:
        replay_erasures(project_id)
    return count_lost(lost)


def count_lost(lost: Lost) -> dict[str, int]:
    return {str(kind._meta.model_name): len(rows) for kind, rows in lost}


def close_if_superseded(row: Any) -> None:
    """Close a version that was open then where the store has a later one of the same memory."""
    if row.seq_to != OPEN:
        return
    versions = type(row)._base_manager.filter(branch=row.branch_id)
    ends = versions.filter(uid=row.uid, seq_from__gt=row.seq_from).aggregate(at=Min("seq_from"))["at"]
    # Another memory may have taken its slot: a link that was made again.
    if ends is None and row.slot:
        ends = versions.filter(slot=row.slot).values_list("seq_from", flat=True).first()
    if ends is not None:
        row.seq_to, row.slot = max(ends, row.seq_from), None

"""Rows that a snapshot has and the store has lost: put back as they were, beside what came since.

Versions are never deleted by Day1, so a row that is missing was lost: to a damaged disk, to a statement
on the database itself. Rows that are there are left alone, whatever they say.
"""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from django.db import connection, models
from django.db.models import F, Min, Q

from memory.db.bulk import insert_all
from memory.engines.embedding_run import chunks
from memory.engines.going_back import versioned_models
from memory.engines.held import hold_later
from memory.engines.upkeep import index_anew
from memory.models import OPEN, Branch, BranchedModel, Commit, Confirmation, Session, VectorClock

CHUNK = 500
Lost = list[tuple[type[models.Model], list[models.Model]]]


def lost_rows(copy: str, project_id: UUID) -> Lost:
    """The project's rows of a frozen copy that are not here, parents first."""
    copies: Any = connection.copies  # type: ignore[attr-defined]
    kinds: list[Any] = [Branch, Commit, Session, Confirmation, *versioned_models()]
    missing = {kind: sorted(copies.changed(copy, kind).only_there) for kind in kinds}
    if not any(missing.values()):
        return []
    with copies.opened(copy) as alias:
        own = Branch.objects.using(alias).filter(project=project_id)
        branches = list(own.values_list("pk", flat=True))
        found = [(kind, list(_read(kind, alias, missing[kind], project_id, branches))) for kind in kinds]
    return [(kind, rows) for kind, rows in found if rows]


def _read(
    kind: Any, alias: str, keys: Sequence[Any], project_id: UUID, branches: Sequence[int]
) -> Iterator[models.Model]:
    own = Q(project=project_id) if kind in (Branch, Session) else Q(branch_id__in=branches)
    for some in chunks(keys, CHUNK):
        yield from kind._base_manager.using(alias).filter(own, pk__in=some).order_by("pk")


def mend(lost: Lost, project_id: UUID) -> dict[str, int]:
    """Put them back, in the running transaction; returns how many of each kind."""
    if lost:  # what is in memory was read without them
        VectorClock.objects.filter(project=project_id).update(epoch=F("epoch") + 1)
    for kind, rows in lost:
        for row in rows:
            row._state.db = None
            if isinstance(row, BranchedModel):
                _fit(row)
        if kind is Branch:
            hold_later(rows)
        insert_all(rows, ignore_conflicts=True)
        if issubclass(kind, BranchedModel):
            index_anew(rows)
    return counted(lost)


def counted(lost: Lost) -> dict[str, int]:
    return {str(kind._meta.model_name): len(rows) for kind, rows in lost}


def _fit(row: Any) -> None:
    """A version that was open then ends where the store has a later one of the same memory."""
    if row.seq_to != OPEN:
        return
    here = type(row)._base_manager.filter(branch=row.branch_id)
    ends = here.filter(uid=row.uid, seq_from__gt=row.seq_from).aggregate(at=Min("seq_from"))["at"]
    # Another memory may have taken its place: a link that was drawn anew.
    if ends is None and row.slot:
        ends = here.filter(slot=row.slot).values_list("seq_from", flat=True).first()
    if ends is not None:
        row.seq_to, row.slot = max(ends, row.seq_from), None

"""Copies of the store that still hold what is erased: snapshots, workspaces, the window, backups."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from memory.actors import Actor
from memory.db.backend import get_features, get_online_copy
from memory.engines.store.snapshots import SnapshotManager, with_copies
from memory.engines.store.workspaces import WorkspaceEngine
from memory.exceptions import Conflict, NotFound
from memory.models import Snapshot, Workspace

SNAPSHOT, WORKSPACE, WINDOW, BACKUP = "snapshot", "workspace", "window", "backup"
SHOWN = 5


@dataclass(frozen=True)
class StoreCopy:
    """A copy of the whole store. ``own`` is False for one that another project made; it has no name here."""

    kind: str
    name: str
    own: bool
    pk: UUID | None = None
    at: datetime | None = None


def list_copies(project_id: UUID, until: datetime | None = None) -> list[StoreCopy]:
    """Return the copies, made up to a time, that an erasure has to drop."""
    made = Q(created_at__lte=until) if until else Q()
    frozen = Snapshot.objects.filter(made).exclude(copy="").order_by("created_at")
    forks = Workspace.objects.open().filter(made).order_by("created_at")
    found = [describe_copy(SNAPSHOT, row, project_id) for row in frozen]
    found += [describe_copy(WORKSPACE, row, project_id) for row in forks]
    if get_features().has_time_window and with_copies(lambda copies: copies.window_days()):
        found.append(StoreCopy(WINDOW, "", True))
    return found


def list_backups() -> list[StoreCopy]:
    """Return the other database files beside the store; nobody but their owner can delete them."""
    if not get_features().has_online_backup:
        return []
    return [StoreCopy(BACKUP, path.name, True) for path in sorted(get_online_copy().list_copies())]


def describe_copy(kind: str, row: Snapshot | Workspace, project_id: UUID) -> StoreCopy:
    own = row.project_id == project_id
    return StoreCopy(kind, row.name if own else "", own, row.pk, row.created_at)


def refuse_copies(actor: Actor, copies: Sequence[StoreCopy], drop: bool) -> None:
    """Refuse an erasure that would leave copies. Raises Conflict with what there is."""
    if not copies:
        return
    if not drop:
        names = ", ".join(f"{copy.kind} {copy.name}".strip() for copy in copies[:SHOWN])
        raise Conflict(
            "{count} copies of the store hold it too ({names}): drop them with drop_copies, or leave it.",
            count=len(copies),
            names=names,
        )
    if actor.kind != "local" and not all(copy.own for copy in copies):
        raise Conflict(
            "Copies that other projects made hold it too: whoever runs the server erases it there, with"
            " `day1 erase`."
        )


def describe_agreed(copies: Sequence[StoreCopy]) -> list[dict[str, str]]:
    """Return the copies as an erasure records them until they are dropped."""
    return [{"kind": one.kind, "name": one.name, "id": str(one.pk) if one.pk else ""} for one in copies]


def drop_copy(actor: Actor, entry: Mapping[str, str]) -> None:
    """Drop a recorded copy; one that is gone is no error. Raises Conflict where it cannot be removed."""
    if entry["kind"] == SNAPSHOT:
        # The files go first: without its row nobody would know that a copy is there.
        for row in Snapshot.objects.filter(pk=entry["id"]):
            with suppress(NotFound):  # another process resumes the same erasure
                drop_row(replace(actor, project_id=row.project_id), row)
    elif entry["kind"] == WORKSPACE:
        for fork in Workspace.objects.filter(pk=entry["id"]):
            owner = replace(actor, project_id=fork.project_id)
            WorkspaceEngine().drop_workspace(workspace_id=fork.pk, actor=owner)
    else:
        with_copies(lambda store: store.set_retention(0))


def drop_row(actor: Actor, row: Snapshot) -> None:
    with_copies(lambda store: store.drop_snapshot(row.copy))
    SnapshotManager().drop_snapshot(snapshot_id=row.pk, actor=actor)

"""Maintenance of a whole store: rebuilding the full-text index, online backup, orphaned copies."""

import logging
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.db import transaction
from django.utils import timezone

from memory.db import atomic_files
from memory.db.backend import get_backend, get_features, get_index, get_online_copy, get_store_copies
from memory.db.damage import permit_writes
from memory.db.indexes import full_text_index
from memory.db.store_copies import CopyFailed, begun_at
from memory.engines.support.batches import Progress, ignore_progress
from memory.engines.support.readable_rows import read_rows
from memory.engines.versions.pinned_versions import Points, fork_points, is_pinned, text_models
from memory.exceptions import Conflict, Exists, StoreDamaged
from memory.models import OPEN, BranchedModel, Snapshot, Workspace

BATCH_SIZE = 1000
NEEDED_SHARE = 1.1  # free space for a copy, as a multiple of the store's size
CARRIED = (
    "This database is copied to a file by `day1 migrate-store --to {url}`, with its servers"
    " stopped; `up` starts from that file, and migrate-store carries it back. Its own tools make backups too."
)
NOT_COPIED = (
    "The store is damaged, so no backup is made of it: go back to an older one. `day1 check` says what is"
    " damaged and what to do."
)
DAMAGED_COPY = (
    "The copy is damaged, so nothing was kept, and no older copy was removed: {answer}. The store may be"
    " damaged too: `day1 check` tells."
)
log = logging.getLogger(__name__)
TTL = timedelta(days=1)  # longer than it takes to make a copy, or to read one


@dataclass(frozen=True)
class Backup:
    """Verified copy of the store: path, size in bytes, and SHA-256."""

    path: Path
    size: int
    sha256: str


class MaintenanceEngine:
    def rebuild_index(self, progress: Progress | None = None) -> int:
        """Rebuild the full-text rows of every version; return how many.

        One transaction per model: readers see the old index until the new one is complete, and a crash leaves
        the old one. Writers wait for it. A store whose index is damaged is written to as well.
        """
        with permit_writes():
            return sum(
                reindex_model(model, progress or ignore_progress)
                for model in text_models()
                if full_text_index(model)
            )

    def copy_store(self, path: Path, *, force: bool = False, progress: Progress | None = None) -> Backup:
        """Copy the store to a file, as of one moment, while others read and write.

        The file appears complete and verified, or not at all. Raises Exists without ``force``, Conflict for
        an unusable path or too full a disk, StoreDamaged.
        """
        path = path.absolute()
        if not get_features().has_online_backup:
            raise Conflict(CARRIED, url=f"sqlite:///{quote(str(path))}")
        if get_backend().find_damage():
            raise StoreDamaged(NOT_COPIED)
        _check_place(path, force)
        draft = create_draft(path)
        try:
            write_copy(draft, progress or ignore_progress)
            made = Backup(path, draft.stat().st_size, atomic_files.file_sha256(draft))
            publish_draft(draft, path, force)
        except OSError as error:
            raise Conflict("{path} cannot be written: {why}.", path=path, why=error.strerror) from None
        finally:
            draft.unlink(missing_ok=True)
        return made


# ---- the index -------------------------------------------------------------------------------------


def reindex_model(model: type[BranchedModel], tell: Progress) -> int:
    """Make the rows of a model's index anew. A version that cannot be read has none; the check names it."""
    rows, last, seen, count = model._base_manager.order_by("rid"), -1, 0, 0
    with transaction.atomic(savepoint=False):
        total, points = rows.count(), fork_points()
        get_index().clear_model(model)
        tell(0, total)
        while keys := list(rows.filter(rid__gt=last).values_list("rid", flat=True)[:BATCH_SIZE]):
            last, seen = keys[-1], seen + len(keys)
            count += index_rows(read_rows(rows, keys)[0], points)
            tell(seen, total)
    return count


def index_rows(rows: Sequence[Any], points: Points) -> int:
    kept = [row for row in rows if not row.deleted]
    fresh = [row for row in kept if row.seq_to == OPEN]
    closed = [row for row in kept if row.seq_to != OPEN]
    pinned = [row for row in closed if is_pinned(points.get(row.branch_id, ()), row.seq_from, row.seq_to)]
    get_index().index_rows(fresh)
    get_index().index_closed(closed)
    get_index().pin_rows(pinned)
    return len(kept)


def reindex_rows(rows: Sequence[Any]) -> None:
    """Reindex versions of one model that were written outside of commits."""
    shown = [row for row in rows if not row.deleted]
    get_index().remove_rows(rows)
    index_rows(shown, fork_points())


# ---- the copy --------------------------------------------------------------------------------------


def _check_place(path: Path, force: bool) -> None:
    if path.resolve() in get_online_copy().list_files():
        raise Conflict("This is the store itself: name another file.")
    if path.is_dir():
        raise Conflict("{path} is a folder: name a file in it.", path=path)
    if path.exists() and not force:
        raise Exists("{path} exists already; --force replaces it.", path=path)
    size = sum(file.stat().st_size for file in get_online_copy().list_files() if file.exists())
    if path.parent.is_dir() and (free := shutil.disk_usage(path.parent).free) < size * NEEDED_SHARE:
        raise Conflict(
            "The copy needs {needed:.0f} MB, and {free:.0f} MB of the disk are free.",
            needed=size * NEEDED_SHARE / 1e6,
            free=free / 1e6,
        )


def create_draft(path: Path) -> Path:
    try:
        return atomic_files.create_draft(path)
    except OSError as error:
        raise Conflict("{path} cannot be written: {why}.", path=path, why=error.strerror) from None


def write_copy(draft: Path, tell: Progress) -> None:
    try:
        trouble = get_online_copy().copy_to(draft, tell)
    except CopyFailed as error:
        raise Conflict(str(error)) from None
    if trouble:
        raise StoreDamaged(DAMAGED_COPY, answer=trouble)


def publish_draft(draft: Path, path: Path, force: bool) -> None:
    """Move the file to its name. Without ``force`` a file created in the meantime stays. Raises Exists."""
    try:
        atomic_files.publish_file(draft, path, replace=force)
    except FileExistsError:
        raise Exists("{path} exists already; --force replaces it.", path=path) from None


# ---- orphaned copies ---------------------------------------------------------------------------------


def delete_orphans() -> int:
    """Delete the copies that belong to no snapshot and no open workspace; return how many.

    Not to be called inside a transaction.
    """
    copies = get_store_copies()
    try:
        # List the copies first: a copy whose row is stored meanwhile is then known.
        frozen, forks = copies.list_snapshots(), copies.list_workspaces()
    except CopyFailed as error:
        log.info("Orphaned copies are left: %s", error)
        return 0
    unknown = find_orphans(frozen, Snapshot.objects.values_list("copy", flat=True))
    closed = find_orphans(forks, Workspace.objects.open().values_list("copy", flat=True))
    return delete_copies(unknown, copies.drop_snapshot) + delete_copies(closed, copies.drop_workspace)


def delete_copies(names: Iterable[str], drop: Callable[[str], None]) -> int:
    """Delete the named copies; one that cannot be deleted does not stop the others."""
    count = 0
    for name in names:
        try:
            drop(name)
            count += 1
        except CopyFailed as error:
            log.warning("The copy %s is left: %s", name, error)
    return count


def find_orphans(names: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    before = timezone.now() - TTL
    for name in sorted(set(names) - set(known)):
        if (begun := begun_at(name)) and begun < before:
            log.warning("The copy %s belongs to nothing any more and is removed", name)
            yield name

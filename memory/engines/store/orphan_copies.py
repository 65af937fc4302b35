"""Orphaned store copies, left by a process that was killed between a copy and its row."""

import logging
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta

from django.utils import timezone

from memory.db.backend import get_store_copies
from memory.db.store_copies import CopyFailed, begun_at
from memory.models import Snapshot, Workspace

log = logging.getLogger(__name__)

TTL = timedelta(days=1)  # longer than it takes to make a copy, or to read one


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

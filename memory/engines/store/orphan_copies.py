"""Copies that nobody knows: left by a process that was killed between a copy and its row."""

import logging
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta

from django.db import connection
from django.utils import timezone

from memory.db.copies import CopyFailed, begun_at
from memory.models import Snapshot, Workspace

log = logging.getLogger(__name__)

KEPT = timedelta(days=1)  # longer than it takes to make a copy, or to read one


def drop_strays() -> int:
    """Remove the copies of this store that no snapshot and no open workspace names; returns how many.

    Not to be called inside a transaction.
    """
    copies = connection.copies  # type: ignore[attr-defined]
    try:
        # What is there is asked first: a copy whose row is stored meanwhile is known.
        frozen, forks = copies.frozen(), copies.forks()
    except CopyFailed as error:
        log.info("Copies that nobody knows are left: %s", error)
        return 0
    unknown = _strays(frozen, Snapshot.objects.values_list("copy", flat=True))
    closed = _strays(forks, Workspace.objects.open().values_list("copy", flat=True))
    return _dropped(unknown, copies.drop) + _dropped(closed, copies.drop_fork)


def _dropped(names: Iterable[str], drop: Callable[[str], None]) -> int:
    """One that cannot be removed keeps none of the others."""
    count = 0
    for name in names:
        try:
            drop(name)
            count += 1
        except CopyFailed as error:
            log.warning("The copy %s is left: %s", name, error)
    return count


def _strays(names: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    before = timezone.now() - KEPT
    for name in sorted(set(names) - set(known)):
        if (begun := begun_at(name)) and begun < before:
            log.warning("The copy %s belongs to nothing any more and is removed", name)
            yield name

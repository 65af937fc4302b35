"""Commits that were reverted, and whether that still holds: a revert may be reverted too."""

from collections.abc import Sequence
from uuid import UUID

from memory.engines.support.batches import batched
from memory.models import Commit

BATCH_SIZE = 500


def find_reverted(commit_ids: Sequence[UUID]) -> set[UUID]:
    """Return which of some commits were reverted, by reverts that stand."""
    found: dict[UUID, UUID] = {}
    for batch in batched(commit_ids, BATCH_SIZE):
        rows = Commit.objects.filter(reverts__in=batch).order_by()
        found |= {pk: target for pk, target in rows.values_list("id", "reverts") if target}
    brought_back = find_reverted(list(found)) if found else set()
    return {target for revert, target in found.items() if revert not in brought_back}

"""Copies of memories whose ids derive from those of others: an import, a cherry-pick of messages."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from memory.engines.support.batches import batched
from memory.engines.versions.commits import CommitWriter
from memory.engines.versions.lookup import nearest_versions

BATCH_SIZE = 500


def add_copies(commit: CommitWriter, rows: Sequence[Any]) -> None:
    """Add rows whose ids derive from those of others: one that was removed here follows its tombstone."""
    if not rows:
        return
    former: dict[UUID, Any] = {}
    for batch in batched([row.uid for row in rows], BATCH_SIZE):
        former |= nearest_versions(commit.lineage, type(rows[0]), batch)
    for row in rows:
        old = former.get(row.uid)
        row.prev_vid, row.version = (old.vid, old.version + 1) if old else (None, 1)
        row.vid = None  # it is a version of its own
    commit.merge_versions([(former.get(row.uid), row) for row in rows])

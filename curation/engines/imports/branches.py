"""Branches on which imports stand until somebody takes them over."""

from curation.models import MemoryImport
from memory.db.querysets import Lineage


def holds_import(lineage: Lineage) -> bool:
    """Return whether a branch, or one that it was made of, holds what an import brought."""
    return MemoryImport.objects.filter(branch__in=[branch for branch, _ in lineage]).exists()

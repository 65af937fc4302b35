"""What is in quarantine: asked by reads that no lineage masks, and by writers.

Which versions a quarantine hides is decided elsewhere: DAY1["commit_maskers"] names the classes.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Protocol
from uuid import UUID

from django.utils.module_loading import import_string

from memory.conf import conf
from memory.db.expressions import NotHiddenConfirmation
from memory.engines.support.batches import batched
from memory.models import Branch, BranchedModel, HiddenVersion

BATCH_SIZE = 500
CONFIRMATION = NotHiddenConfirmation.KIND


class CommitMasker(Protocol):
    """Interface of what hides fresh versions; called within the commit, where something is in quarantine."""

    def mask_commit(self, commit: Any, rows: Sequence[BranchedModel]) -> None:
        """Hide those of a commit's rows that are a quarantined source's, or derived from what is hidden."""


def mask_commit(commit: Any, rows: Sequence[BranchedModel]) -> None:
    """Hide what of a commit has to be; nothing is asked where nothing is in quarantine."""
    if commit.branch.masked:
        for masker in load_maskers(tuple(conf().commit_maskers)):
            masker.mask_commit(commit, rows)


@cache
def load_maskers(paths: tuple[str, ...]) -> tuple[CommitMasker, ...]:
    return tuple(import_string(path)() for path in paths)


def find_hidden(vids: Iterable[int]) -> set[int]:
    """Return those of the versions that a quarantine hides."""
    found: set[int] = set()
    for batch in batched(list(vids), BATCH_SIZE):
        found |= set(HiddenVersion.objects.filter(vid__in=batch).values_list("vid", flat=True))
    return found


def is_masked(project_id: UUID) -> bool:
    """Return whether anything of the project is in quarantine."""
    return Branch.objects.filter(project=project_id, masked=True).exists()

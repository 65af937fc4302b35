"""The state of a branch: live, expired, merged or archived."""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from operator import attrgetter
from uuid import UUID

from django.db.models import TextChoices
from django.utils import timezone

from memory.engines.branches.distance import Merges, load_project_merges
from memory.engines.branches.placement import PlacedBranch, read_placed
from memory.engines.support.batches import batched
from memory.models import Branch

BATCH_SIZE = 500


class BranchState(TextChoices):
    LIVE = "live"
    EXPIRED = "expired"
    MERGED = "merged"
    ARCHIVED = "archived"


@dataclass(frozen=True)
class KnownBranches:
    """All branches of a project, by id, with the merges between them; of each what places it in the tree."""

    by_id: dict[int, PlacedBranch]
    merges: Merges
    now: datetime

    @cached_property
    def states(self) -> dict[int, tuple[BranchState, datetime | None]]:
        """Return what ``find_state`` says of each branch."""
        return {pk: self.find_state(branch) for pk, branch in self.by_id.items()}

    def measure_distances(self, branches: Iterable[Branch]) -> None:
        """Set ``ahead`` and ``behind`` of some of the branches."""
        for branch in branches:
            self.merges.annotate(branch, self.by_id[branch.parent_id] if branch.parent_id else None)

    def find_state(self, branch: PlacedBranch) -> tuple[BranchState, datetime | None]:
        """Return the state of a branch, and since when it holds; nobody knows when a live one began to be."""
        if branch.archived_at:
            return BranchState.ARCHIVED, branch.archived_at
        if merge := self.merges.find_complete(branch):
            return BranchState.MERGED, merge.at
        ends = find_expiry(branch)
        return (BranchState.EXPIRED, ends) if ends and ends <= self.now else (BranchState.LIVE, None)

    @cached_property
    def children(self) -> dict[int, list[PlacedBranch]]:
        """Return the branches that were made from each, by name."""
        found: dict[int, list[PlacedBranch]] = {}
        for branch in sorted(self.by_id.values(), key=attrgetter("name")):
            if branch.parent_id is not None:
                found.setdefault(branch.parent_id, []).append(branch)
        return found

    def count_live_children(self, branch: Branch, gone: Container[int] = ()) -> int:
        """Count the branches that were made from one and are in use, without those that are ``gone``."""
        children = self.children.get(branch.pk, [])
        return sum(1 for one in children if not one.archived_at and one.pk not in gone)

    def list_in_order(self) -> Iterator[tuple[PlacedBranch, int]]:
        """Yield every branch after its parent, siblings by name, with its level from 0."""
        roots = sorted(
            (one for one in self.by_id.values() if one.parent_id is None), key=lambda one: one.name
        )
        waiting = [(one, 0) for one in reversed(roots)]
        while waiting:
            branch, level = waiting.pop()
            yield branch, level
            waiting += [(one, level + 1) for one in reversed(self.children.get(branch.pk, []))]


def load_branches(project_id: UUID) -> KnownBranches:
    """Return all branches of a project."""
    return KnownBranches(read_placed(project_id), load_project_merges(project_id), timezone.now())


def load_whole(branches: Iterable[PlacedBranch]) -> dict[int, Branch]:
    """Return some branches with all that is shown of one, by id."""
    found: dict[int, Branch] = {}
    for batch in batched([branch.pk for branch in branches], BATCH_SIZE):
        found |= Branch.objects.defer("ancestors").in_bulk(batch)
    return found


def find_expiry(branch: Branch | PlacedBranch) -> datetime | None:
    """Return when a branch expires: so many days after its last change; main never does."""
    if branch.ttl_days is None or branch.parent_id is None or branch.head_at is None:
        return None
    return branch.head_at + timedelta(days=branch.ttl_days)

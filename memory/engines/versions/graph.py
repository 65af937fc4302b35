"""The version graph of memories: which version was made from which, on all branches."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from memory.engines.support.batches import batched
from memory.models import BranchedModel

BATCH_SIZE = 500


class VersionGraph:
    """The parents of versions, by vid. A version is an ancestor of itself."""

    def __init__(self) -> None:
        self._parents: dict[int, set[int]] = {}

    @classmethod
    def load(cls, model: type[BranchedModel], uids: Sequence[UUID]) -> "VersionGraph":
        """Load the versions of these memories, on every branch."""
        graph = cls()
        for batch in batched(uids, BATCH_SIZE):
            rows = model._base_manager.filter(uid__in=batch).values_list("vid", "prev_vid", "merged_vid")
            for vid, *parents in rows:
                graph.add_version(vid, parents)
        return graph

    def add_version(self, vid: int, parents: Iterable[int | None]) -> None:
        self._parents.setdefault(vid, set()).update(one for one in parents if one is not None)

    def is_ancestor(self, vid: int, other: int) -> bool:
        """Return whether ``other`` was made from ``vid``, directly or over others."""
        return vid in self.list_ancestors(other)

    def find_base(self, one: int, other: int) -> int | None:
        """Return the nearest version that both were made from; None where they have nothing in common."""
        # A version is newer than those it was made from.
        return max(self.list_ancestors(one) & self.list_ancestors(other), default=None)

    def list_ancestors(self, vid: int) -> set[int]:
        found, left = {vid}, [vid]
        while left:
            new = self._parents.get(left.pop(), set()) - found
            found |= new
            left += new
        return found

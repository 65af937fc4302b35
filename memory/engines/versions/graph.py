"""The version graph of memories: which version was made from which, on all branches."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from uuid import UUID

from memory.db.raw_select import select_by_key
from memory.models import BranchedModel

COLUMNS = ("rid", "branch", "seq_from", "vid", "prev_vid", "merged_vid")
Point = tuple[int, int]  # a branch and a seq


class VersionGraph:
    """The parents of versions, by vid. A version is an ancestor of itself."""

    def __init__(self) -> None:
        self._parents: dict[int, tuple[int, ...]] = {}
        self._points: dict[int, Point] = {}

    @classmethod
    def load(cls, model: type[BranchedModel], uids: Sequence[UUID]) -> "VersionGraph":
        """Load the versions of these memories, on every branch; a parent that is no row any more is none."""
        graph = cls()
        for rid, *point, vid, prev, merged in select_by_key(model._base_manager.all(), COLUMNS, "uid", uids):
            graph.add_version(vid, (prev, merged))
            if rid == vid:  # a copy has the vid of the row that was written first
                graph._points[vid] = (point[0], point[1])
        known = graph._parents
        graph._parents = {
            vid: tuple(one for one in parents if one in known) for vid, parents in known.items()
        }
        return graph

    def add_version(self, vid: int, parents: Iterable[int | None]) -> None:
        found = tuple(one for one in parents if one is not None)
        known = self._parents.setdefault(vid, found)
        if known != found:
            self._parents[vid] = tuple(dict.fromkeys((*known, *found)))

    def get_parents(self, vid: int) -> tuple[int, ...]:
        """Return the versions that one was made from: the one before it, then the one merged into it."""
        return self._parents.get(vid, ())

    def get_point(self, vid: int) -> Point | None:
        """Return the branch and seq at which a version was written first, if that row is stored."""
        return self._points.get(vid)

    def is_ancestor(self, vid: int, other: int) -> bool:
        """Return whether ``other`` was made from ``vid``, directly or over others."""
        return vid in self.list_ancestors(other)

    def list_ancestors(self, vid: int) -> set[int]:
        found, left = {vid}, [vid]
        while left:
            new = set(self.get_parents(left.pop())) - found
            found |= new
            left += new
        return found


class Pasts:
    """The pasts of one memory's versions as sets of bits; each version has a bit above those of its past."""

    def __init__(self, graph: VersionGraph) -> None:
        self.graph = graph
        self._places: dict[int, int] = {}
        self._vids: list[int] = []
        self._pasts: list[int] = []
        self._made: dict[int, tuple[int, ...]] = {}  # versions that no row has, and their parents
        self.merges = 0  # those with two parents

    def get_parents(self, vid: int) -> tuple[int, ...]:
        return self._made.get(vid) or self.graph.get_parents(vid)

    def find_base(self, one: int, other: int) -> int | None:
        """Return a nearest version that both were made from; None where they have nothing in common."""
        common = self.get_past(one) & self.get_past(other)
        return self._vids[common.bit_length() - 1] if common else None

    def find_fork(self, one: int, other: int) -> int | None:
        """Return the version after which both were made without a merge; None where that is not so."""
        parted = self.get_past(one) ^ self.get_past(other)
        return None if parted & self.merges else self.find_base(one, other)

    def get_past(self, vid: int) -> int:
        if vid not in self._places:
            self._place(vid)
        return self._pasts[self._places[vid]]

    def knows(self, vid: int, other: int) -> bool:
        """Return whether ``other`` is in the past of a version, or that version."""
        past = self.get_past(vid)
        return other in self._places and bool(past >> self._places[other] & 1)

    def list_vids(self, bits: int) -> Iterator[int]:
        """Yield the versions of some bits, those before others first."""
        while bits:
            lowest = bits & -bits
            yield self._vids[lowest.bit_length() - 1]
            bits ^= lowest

    def find_region(self, pairs: Iterable[tuple[int, int]]) -> int:
        """Return what only one version of a pair has in its past, and so for the parents of merges there."""
        region, waiting = 0, list(pairs)
        while waiting:
            one, other = waiting.pop()
            new = (self.get_past(one) ^ self.get_past(other)) & ~region
            region |= new
            for ours, theirs, *_others in map(self.get_parents, self.list_vids(new & self.merges)):
                waiting.append((ours, theirs))
        return region

    def list_turns(self, region: int) -> set[int]:
        """Return where a way back through a region ends or parts: merges, their parents, versions of which
        several were made, and what comes before the region.
        """
        found, children = set[int](), Counter[int]()
        for vid in self.list_vids(region):
            parents = self.get_parents(vid)
            children.update(parents)
            if len(parents) > 1:
                found |= {vid, *parents}
            found |= {one for one in parents if not region >> self._places[one] & 1}
        return found | {vid for vid, number in children.items() if number > 1}

    def list_nearest(self, vids: Iterable[int]) -> list[int]:
        """Return those of some versions that are in the past of no other one."""
        found = list(vids)
        if len(found) == 1:
            return found
        found.sort(key=lambda vid: self._places[vid])
        return [vid for n, vid in enumerate(found) if not any(self.knows(one, vid) for one in found[n + 1 :])]

    def add_merged(self, one: int, other: int) -> int:
        """Return a version that was made from two and that no row has."""
        vid = -1 - len(self._vids)
        self._made[vid] = (one, other)
        self._place(vid)
        return vid

    def _place(self, vid: int) -> None:
        waiting = [vid]
        while waiting:
            one = waiting[-1]
            left = [parent for parent in self.get_parents(one) if parent not in self._places]
            if left:
                waiting += left
                continue
            waiting.pop()
            if one not in self._places:
                self._append(one)

    def _append(self, vid: int) -> None:
        place, parents = len(self._vids), self.get_parents(vid)
        self._places[vid] = place
        self._vids.append(vid)
        past = 1 << place
        for parent in parents:
            past |= self._pasts[self._places[parent]]
        self._pasts.append(past)
        self.merges |= (len(parents) > 1) << place

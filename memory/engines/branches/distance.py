"""How far branches are ahead of and behind their parents; merges bring commits over."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Case, F, TextField, When
from django.db.models.functions import Cast

from memory.db.querysets import Lineage
from memory.db.raw_select import select_equal
from memory.engines.branches.diff import count_commits, find_common_ancestor
from memory.engines.support.batches import batched
from memory.engines.versions.lookup import find_reverted
from memory.models import Branch, Commit

BATCH_SIZE = 500
# Times and JSON are read where they matter alone: to convert them would cost more than all the rest.
HEAD_AT = Case(When(ttl_days__isnull=False, then=F("head_at")))
TAGS = Cast("tags", TextField())
MERGE = ("id", "source_branch", "branch", "source_seq", "seq", "at")  # columns of a merge's commit
CACHED_TAGS = 1024  # lists of tags: most branches share a few


class PlacedBranch(NamedTuple):
    """What the place, the state and the filters of a branch need; ``head_at`` of one that can expire."""

    pk: int
    name: str
    parent_id: int | None
    fork_seq: int
    head: int
    ttl_days: int | None
    owner: str
    archived_at: datetime | None
    head_at: datetime | None
    tags_text: str

    @property
    def tags(self) -> list[str]:
        return read_tags(self.tags_text)


@dataclass(frozen=True)
class Merge:
    """A merge that was not reverted: it brought ``source`` up to ``seq`` to ``target``."""

    source: int
    target: int
    seq: int
    target_seq: int  # of the merge commit
    at: datetime


@dataclass(frozen=True)
class CommonPoint:
    """The point at which two branches had the same history last, and the commits of each since then."""

    lineage: Lineage
    ahead: int
    behind: int
    is_merge: bool = False


class Merges:
    """The merges from and to some branches, read in a fixed number of queries."""

    def __init__(self, merges: Iterable[Merge]) -> None:
        self.by_source: dict[int, list[Merge]] = {}
        self.reached: dict[tuple[int, int], int] = {}
        for one in merges:
            self.by_source.setdefault(one.source, []).append(one)
            pair = (one.source, one.target)
            self.reached[pair] = max(one.seq, self.reached.get(pair, 0))

    def find_complete(self, branch: PlacedBranch) -> Merge | None:
        """Return the first merge that took all commits of a branch; None where some were never merged."""
        merges = self.by_source.get(branch.pk)
        if not merges:
            return None
        complete = [one for one in merges if branch.head and one.seq >= branch.head]
        return min(complete, key=lambda one: one.at, default=None)

    def list_between(self, source: int, target: int, seq: int, target_seq: int) -> list[Merge]:
        """Return the merges from one branch to another that both of these points include."""
        found = (one for one in self.by_source.get(source, []) if one.target == target)
        return [one for one in found if one.seq <= seq and one.target_seq <= target_seq]

    def annotate(self, branch: Branch, parent: Branch | PlacedBranch | None) -> None:
        """Set ``ahead`` and ``behind`` of a branch."""
        if parent is None:
            branch.ahead, branch.behind = branch.head, 0
            return
        taken = self.reached.get((branch.pk, parent.pk), 0)
        updated = self.reached.get((parent.pk, branch.pk), 0)
        branch.ahead = max(0, branch.head - taken)
        branch.behind = max(0, parent.head - max(branch.fork_seq, updated))


def load_merges(branches: Sequence[Branch]) -> Merges:
    """Return the merges of the branches, and those of their parents into them."""
    children = [branch.pk for branch in branches if branch.parent_id]
    parents = {branch.parent_id for branch in branches if branch.parent_id}
    found = _find_merges([branch.pk for branch in branches])
    return _without_reverted(found | _find_merges(parents, branch=children))


def load_project_merges(project_id: UUID) -> Merges:
    """Return the merges between all branches of a project."""
    branches = Branch.objects.filter(project=project_id).values("pk")
    rows = Commit.objects.filter(source_branch__in=branches, source_seq__isnull=False).order_by()
    return _without_reverted(_name_merges(rows.values_list(*MERGE)))


def annotate_distances(branches: Sequence[Branch]) -> Sequence[Branch]:
    """Set ``ahead``, ``behind`` and the parent of the branches, and return them."""
    parents = {branch.parent_id for branch in branches if branch.parent_id}
    loaded = {branch.pk: branch for branch in branches}
    loaded |= Branch.objects.in_bulk(list(parents - loaded.keys())) if parents - loaded.keys() else {}
    merges = load_merges(branches)
    for branch in branches:
        branch.parent = loaded[branch.parent_id] if branch.parent_id else None
        merges.annotate(branch, branch.parent)
    return branches


def find_common_point(branch: Branch, after: Lineage, other: Branch, newest: Lineage) -> CommonPoint:
    """Return where the histories of two branches met last: by the fork, or by a later merge between them."""
    ancestor = find_common_ancestor(after, newest)
    ahead, behind = count_commits(after, ancestor), count_commits(newest, ancestor)
    own, others = dict(after).get(branch.pk, 0), dict(newest).get(other.pk, 0)
    merges = load_merges([branch, other]) if branch.pk != other.pk else Merges([])
    taken = merges.list_between(branch.pk, other.pk, own, others)
    updates = merges.list_between(other.pk, branch.pk, others, own)
    if taken:
        ahead = own - max(one.seq for one in taken)
    if updates:
        behind = others - max(one.seq for one in updates)
    if last := max([*taken, *updates], key=lambda one: one.at, default=None):
        source = branch if last.source == branch.pk else other
        return CommonPoint(source.lineage(last.seq), ahead, behind, is_merge=True)
    return CommonPoint(ancestor, ahead, behind)


def _find_merges(sources: Collection[int], **more: Any) -> dict[UUID, Merge]:
    found: dict[UUID, Merge] = {}
    for batch in batched(list(sources), BATCH_SIZE):
        found |= _name_merges(select_equal(Commit, MERGE, source_branch=batch, **more))
    return found


def _name_merges(rows: Iterable[Sequence[Any]]) -> dict[UUID, Merge]:
    """Return the merges that took all of their source up to a seq, by the id of their commit."""
    merges = {pk: Merge(*row) for pk, *row in rows}
    return {pk: one for pk, one in merges.items() if one.seq is not None}


def _without_reverted(found: Mapping[UUID, Merge]) -> Merges:
    reverted = find_reverted(list(found))
    return Merges(merge for pk, merge in found.items() if pk not in reverted)


@lru_cache(CACHED_TAGS)
def read_tags(text: str) -> list[str]:
    tags: list[str] = json.loads(text or "[]")
    return tags


def read_placed(project_id: UUID) -> dict[int, PlacedBranch]:
    """Return all branches of a project, by id."""
    rows = Branch.objects.filter(project=project_id).order_by()
    columns: list[Any] = [*PlacedBranch._fields[:-2], HEAD_AT, TAGS]
    return {row[0]: PlacedBranch(*row) for row in rows.values_list(*columns)}

"""What differs between two points of the memory: added, removed, and changed field by field.

Only memories that were touched since the two points parted are looked at: the cost follows the number of
changes, not the size of the branches.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.db.querysets import Lineage
from memory.engines.belief import attach
from memory.engines.fact_rules import same
from memory.engines.pages import Page, as_page, check_limit, read_cursor, uid_of
from memory.models import Branch, BranchedModel, Commit, Fact, FactAssessment, FactLink

CHANGES = ("added", "changed", "removed")
CHUNK = 500
Range = tuple[int, int, int]  # branch, after this seq, up to this seq
Counts = dict[str, dict[str, int]]


@dataclass(frozen=True)
class Kind:
    """A kind of memory, the rows that say something about it, and the fields that people compare."""

    model: type[BranchedModel]
    spoken: tuple[type[BranchedModel], ...]
    fields: tuple[str, ...]


# What follows from other fields, or is only for the way back from the archive.
UNSEEN = frozenset({"content_hash", "norm_hash", "judged_hash", "held_status"})


def _fields(model: type[BranchedModel]) -> tuple[str, ...]:
    return tuple(name for name in model.content_fields() if name not in UNSEEN)


KINDS = {
    "fact": Kind(Fact, (Fact, FactAssessment), (*_fields(Fact), "verification_status")),
    "link": Kind(FactLink, (FactLink,), _fields(FactLink)),
}


@dataclass(frozen=True)
class Difference:
    """One memory that the two points show differently; ``fields`` has [before, after] of each change."""

    uid: UUID
    change: str
    before: Any
    after: Any
    fields: dict[str, list[Any]] = field(default_factory=dict)
    commit: Commit | None = None  # the newest that touched it


@dataclass(frozen=True)
class BranchDiff:
    """``branch`` at ``seq`` against ``against`` at ``against_seq``; ``counts`` come with the first page."""

    branch: Branch
    seq: int
    against: Branch
    against_seq: int
    counts: Counts | None
    page: Page[Difference]


@dataclass(frozen=True)
class Points:
    """Two points, the earlier first, in one project."""

    before: Lineage
    after: Lineage
    project_id: UUID

    def page(
        self, kind: Kind, changes: Collection[str], limit: int, cursor: str, pin: dict[str, Any]
    ) -> Page[Difference]:
        """Differences of one kind, those of the newest memories first; ``pin`` goes into the cursors."""
        check_limit(limit)
        place = read_cursor(cursor)
        back, start = bool(place.get("back")), uid_of(place["key"]) if place else None
        some: list[Difference] = []
        for uids in self._chunks(kind, start, back):
            some += [one for one in self.compare(kind, uids) if one.change in changes]
            if len(some) > limit:
                break
        page = as_page(some[: limit + 1], limit, back, bool(cursor), lambda one: {"key": one.uid.hex, **pin})
        return replace(page, results=self._dated(kind, page.results))

    def counts(self) -> Counts:
        """How many of each kind were added, changed and removed."""
        found: Counts = {}
        for name, kind in KINDS.items():
            tally = found[name] = dict.fromkeys(CHANGES, 0)
            for uids in self._chunks(kind, None, back=False):
                before, after = (self._ids(kind, point, uids) for point in (self.before, self.after))
                tally["added"] += len(after - before)
                tally["removed"] += len(before - after)
                # Only what both show has to be read.
                tally["changed"] += len(self.compare(kind, sorted(before & after)))
        return found

    def compare(self, kind: Kind, uids: Sequence[UUID]) -> list[Difference]:
        """The differences among some memories, in their order."""
        if not uids:
            return []
        before, after = self._shown(kind, self.before, uids), self._shown(kind, self.after, uids)
        found = (_difference(kind, uid, before.get(uid), after.get(uid)) for uid in uids)
        return [one for one in found if one is not None]

    # ---- pieces --------------------------------------------------------------------------------

    def _ranges(self) -> list[Range]:
        """The commits that only one of the points knows. What none of them touched is equal on both."""
        one, other = dict(self.before), dict(self.after)
        limits = {branch: sorted((one.get(branch, 0), other.get(branch, 0))) for branch in {**one, **other}}
        return [(branch, low, high) for branch, (low, high) in limits.items() if low < high]

    def _chunks(self, kind: Kind, start: UUID | None, back: bool) -> Iterator[Sequence[UUID]]:
        """The memories that were touched, the newest first; from a place on, or back from it."""
        touched: set[UUID] = set()
        for rows in self._touched(kind):
            if start is not None:
                rows = rows.filter(**{"uid__gt" if back else "uid__lt": start})
            touched.update(rows.values_list("uid", flat=True).distinct())
        ordered = sorted(touched, reverse=not back)
        for place in range(0, len(ordered), CHUNK):
            yield ordered[place : place + CHUNK]

    def _touched(self, kind: Kind) -> Iterator[Any]:
        for model in kind.spoken:
            for branch, low, high in self._ranges():
                versions = model.objects.all_versions()
                yield versions.filter(branch=branch, seq_from__gt=low, seq_from__lte=high)

    def _shown(self, kind: Kind, lineage: Lineage, uids: Sequence[UUID]) -> dict[UUID, Any]:
        rows: Sequence[Any] = kind.model.objects.along(lineage).filter(uid__in=uids).gather()
        if kind.model is Fact:
            rows = attach(rows, lineage, self.project_id)
        return {row.uid: row for row in rows}

    def _ids(self, kind: Kind, lineage: Lineage, uids: Sequence[UUID]) -> set[UUID]:
        shown = kind.model.objects.along(lineage).filter(uid__in=uids)
        return set(shown.values_list("uid", flat=True))

    def _dated(self, kind: Kind, some: Sequence[Difference]) -> list[Difference]:
        """With the newest commit that touched each."""
        newest: dict[UUID, tuple[datetime, int, int]] = {}
        for rows in self._touched(kind):
            made = rows.filter(uid__in=[one.uid for one in some])
            for uid, *when in made.values_list("uid", "updated_at", "branch_id", "seq_from"):
                newest[uid] = max(newest.get(uid, tuple(when)), tuple(when))
        commits = Commit.objects.that_made({(branch, seq) for _, branch, seq in newest.values()})
        return [replace(one, commit=commits.get(newest[one.uid][1:])) for one in some]


def _difference(kind: Kind, uid: UUID, before: Any, after: Any) -> Difference | None:
    if before is None and after is None:  # came and went in between
        return None
    if before is None or after is None:
        return Difference(uid, "added" if before is None else "removed", before, after)
    pairs = {name: [getattr(before, name), getattr(after, name)] for name in kind.fields}
    changed = {name: pair for name, pair in pairs.items() if not same(*pair)}
    return Difference(uid, "changed", before, after, changed) if changed else None

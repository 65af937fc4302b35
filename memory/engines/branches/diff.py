"""What differs between two points of the memory: added, removed, and changed field by field.

Only memories that were touched since the two points parted are looked at: the cost follows the number of
changes, not the size of the branches.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from memory.db.querysets import Lineage
from memory.engines.belief import attach
from memory.engines.fact_rules import same
from memory.engines.pages import Page, as_page, check_limit, read_cursor, uid_of
from memory.models import Branch, BranchedModel, Commit, Fact, FactAssessment, FactLink

CHANGES = ("added", "changed", "removed")
VERDICT = "verification_status"  # the one field that stands beside the facts
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
    "fact": Kind(Fact, (Fact, FactAssessment), (*_fields(Fact), VERDICT)),
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
    _told: dict[str, dict[UUID, str]] = field(default_factory=dict, compare=False)

    def page(
        self, kind: Kind, changes: Collection[str], limit: int, cursor: str, pin: dict[str, Any]
    ) -> Page[Difference]:
        """Differences of one kind, those of the newest memories first; ``pin`` goes into the cursors."""
        check_limit(limit)
        place = read_cursor(cursor)
        back, start = bool(place.get("back")), uid_of(place["key"]) if place else None
        some = self._next(kind, changes, limit + 1, start, back)
        page = as_page(some, limit, back, bool(cursor), lambda one: {"key": one.uid.hex, **pin})
        return replace(page, results=self._dated(kind, page.results))

    def counts(self) -> Counts:
        """How many of each kind were added, changed and removed."""
        tallies = {name: Counter(self.changes(kind).values()) for name, kind in KINDS.items()}
        return {name: {change: tally[change] for change in CHANGES} for name, tally in tallies.items()}

    def changes(self, kind: Kind) -> dict[UUID, str]:
        """What became of each memory that the two points show differently. Worked out once."""
        name = kind.model.__name__
        if name not in self._told:
            self._told[name] = self._changes(kind)
        return self._told[name]

    def compare(self, kind: Kind, uids: Sequence[UUID]) -> list[Difference]:
        """The differences among some memories, in their order."""
        if not uids:
            return []
        before, after = self._shown(kind, self.before, uids), self._shown(kind, self.after, uids)
        found = (_difference(kind, uid, before.get(uid), after.get(uid)) for uid in uids)
        return [one for one in found if one is not None]

    # ---- pieces --------------------------------------------------------------------------------

    def _next(
        self, kind: Kind, changes: Collection[str], k: int, start: UUID | None, back: bool
    ) -> list[Difference]:
        """The first k below a memory, or the first above it, beginning next to it."""
        uids = [uid for uid, change in self.changes(kind).items() if change in changes]
        if start is not None:
            uids = [uid for uid in uids if (uid > start if back else uid < start)]
        return self.compare(kind, sorted(uids, reverse=not back)[:k])

    def _changes(self, kind: Kind) -> dict[UUID, str]:
        before, after = self._says(kind, self.before), self._says(kind, self.after)
        both = before.keys() & after.keys()
        changed = (uid for uid in both if not all(map(same, before[uid], after[uid])))
        found = dict.fromkeys(after.keys() - both, "added") | dict.fromkeys(before.keys() - both, "removed")
        return found | dict.fromkeys(changed, "changed")

    def _says(self, kind: Kind, lineage: Lineage) -> dict[UUID, list[Any]]:
        """What a point shows of each memory that was touched since the two parted: its fields' values."""
        touched = self._touched_uids(kind)
        columns = [name for name in kind.fields if name != VERDICT]
        shown = kind.model.objects.along(lineage).filter(touched)
        if VERDICT not in kind.fields:
            return {uid: said for uid, *said in shown.gather_values("uid", *columns)}
        verdicts = FactAssessment.objects.along(lineage).filter(touched)
        on = {uid: pair for uid, *pair in verdicts.gather_values("uid", "judged_hash", "status")}
        rows = shown.gather_values("uid", "judged_hash", *columns)
        return {uid: [*said, _counting(on.get(uid), judged)] for uid, judged, *said in rows}

    def _ranges(self) -> list[Range]:
        """The commits that only one of the points knows. What none of them touched is equal on both."""
        one, other = dict(self.before), dict(self.after)
        limits = {branch: sorted((one.get(branch, 0), other.get(branch, 0))) for branch in {**one, **other}}
        return [(branch, low, high) for branch, (low, high) in limits.items() if low < high]

    def _touched(self, kind: Kind) -> Iterator[Any]:
        for model in kind.spoken:
            for branch, low, high in self._ranges():
                versions = model.objects.all_versions()
                yield versions.filter(branch=branch, seq_from__gt=low, seq_from__lte=high)

    def _touched_uids(self, kind: Kind) -> Q:
        """A condition: the memories that were touched."""
        some = [rows.values("uid") for rows in self._touched(kind)]
        return Q(uid__in=some[0].union(*some[1:], all=True) if some else [])

    def _shown(self, kind: Kind, lineage: Lineage, uids: Sequence[UUID]) -> dict[UUID, Any]:
        rows: Sequence[Any] = kind.model.objects.along(lineage).filter(uid__in=uids).gather()
        if kind.model is Fact:
            rows = attach(rows, lineage, self.project_id)
        return {row.uid: row for row in rows}

    def _dated(self, kind: Kind, some: Sequence[Difference]) -> list[Difference]:
        """With the newest commit that touched each."""
        newest: dict[UUID, tuple[datetime, int, int]] = {}
        for rows in self._touched(kind):
            made = rows.filter(uid__in=[one.uid for one in some])
            for uid, *when in made.values_list("uid", "updated_at", "branch_id", "seq_from"):
                newest[uid] = max(newest.get(uid, tuple(when)), tuple(when))
        commits = Commit.objects.that_made({(branch, seq) for _, branch, seq in newest.values()})
        return [replace(one, commit=commits.get(newest[one.uid][1:])) for one in some]


class Everything(Points):
    """All that a point shows, when the other shows nothing: a page is read without a look at the rest."""

    def counts(self) -> Counts:
        shown = {name: kind.model.objects.along(self.after).early().count() for name, kind in KINDS.items()}
        return {name: dict.fromkeys(CHANGES, 0) | {"added": count} for name, count in shown.items()}

    def _next(
        self, kind: Kind, changes: Collection[str], k: int, start: UUID | None, back: bool
    ) -> list[Difference]:
        if "added" not in changes:
            return []
        rows = kind.model.objects.along(self.after).newest(k, **{"after" if back else "before": start})
        some = self.compare(kind, [row.uid for row in rows])
        return some[::-1] if back else some


def between(before: Lineage, after: Lineage, project_id: UUID) -> Points:
    """Two points, the earlier first, in one project."""
    kind = Points if any(limit for _branch, limit in before) else Everything
    return kind(before, after, project_id)


def _difference(kind: Kind, uid: UUID, before: Any, after: Any) -> Difference | None:
    if before is None and after is None:  # came and went in between
        return None
    if before is None or after is None:
        return Difference(uid, "added" if before is None else "removed", before, after)
    pairs = {name: [getattr(before, name), getattr(after, name)] for name in kind.fields}
    changed = {name: pair for name, pair in pairs.items() if not same(*pair)}
    return Difference(uid, "changed", before, after, changed) if changed else None


def _counting(verdict: Sequence[str] | None, judged_hash: str) -> str:
    """The status of a fact by its verdict, which may be on what the fact said before."""
    return verdict[1] if verdict and verdict[0] == judged_hash else FactAssessment.Status.UNVERIFIED.value

"""Differences between two points of the memory: added, removed, and changed field by field.

Only memories touched since the two points diverged are read: the cost follows the number of changes, not the
size of the branches.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from memory.db.budget import count_row_bytes, take_within
from memory.db.querysets import Lineage
from memory.engines.facts.assessment import annotate_facts
from memory.engines.facts.rules import is_same
from memory.engines.fields.base import Field, Option
from memory.engines.fields.types import Choice, ListOf, Point, Reference
from memory.engines.support import pagination
from memory.engines.support.batches import batched
from memory.engines.support.pagination import Page
from memory.engines.versions.erased import erased_uids
from memory.engines.versions.kinds import compared_fields, models_by_kind
from memory.models import Branch, BranchedModel, Commit, Fact, FactAssessment

COMPARED_ROWS = (
    pagination.MAX_PAGE_SIZE + 1
)  # per batch, a page and the row beyond it: each may be as large as a fact, twice
BATCH_SIZE = 500
CHANGES = ("added", "changed", "removed")
# Base of a comparison: the last common ancestor, or the other point itself.
ANCESTOR, POINT = "ancestor", "point"
BASES = (ANCESTOR, POINT)
VERDICT = "verification_status"  # the one field that is stored outside of the facts
Range = tuple[int, int, int]  # branch, after this seq, up to this seq
Counts = dict[str, dict[str, int]]


@dataclass(frozen=True)
class Kind:
    """Kind of memory: its model, the models whose rows change it, and the fields that are compared."""

    model: type[BranchedModel]
    spoken: tuple[type[BranchedModel], ...]
    fields: tuple[str, ...]


def build_kinds() -> dict[str, Kind]:
    """Return the kinds that a comparison lists; statements on a memory are fields of it."""
    models = {name: model for name, model in models_by_kind().items() if not model.KIND.states}
    kinds = {name: Kind(model, (model,), compared_fields(model)) for name, model in models.items()}
    kinds["fact"] = Kind(Fact, (Fact, FactAssessment), (*compared_fields(Fact), VERDICT))
    return kinds


KINDS = build_kinds()
AGAINST = Field(
    "against",
    Reference(200),
    "The branch to compare with; the parent when not given.",
    tool_help="Compare with this branch; default: the parent.",
    option=Option("compare with this branch instead of the parent", metavar="NAME"),
)
AGAINST_AT = Field(
    "against_at",
    Point(),
    "A point of that branch, of the parent when none is named.",
    option=Option("or with this point of it (of the parent)"),
)
BASE = Field(
    "base",
    Choice([(name, name) for name in BASES]),
    "ancestor: what the branch changed since the two had the same history last. point: all that it shows "
    "otherwise than the other, what came later there included; the default with against_at.",
    tool_help="ancestor: what the branch itself changed; point: all that differs, what came later on the "
    "other included (default with against_at).",
    option=Option(
        "ancestor: what it changed itself; point: all that differs (default with --against-at)", checked=True
    ),
)
KIND = Field(
    "type",
    Choice([(name, name) for name in KINDS]),
    "What to list.",
    tool_help="The kind of memory; default fact.",
    option=Option("default fact", checked=True),
)
CHANGE = Field(
    "change",
    ListOf(Choice([(name, name) for name in CHANGES])),
    "Only these.",
    option=Option("only such ones", checked=True),
)


@dataclass(frozen=True)
class Difference:
    """Memory that differs between the two points; ``fields`` has [before, after] of each change."""

    uid: UUID
    change: str
    before: Any
    after: Any
    fields: dict[str, list[Any]] = field(default_factory=dict)
    commit: Commit | None = None  # the newest commit that touched it

    @property
    def row(self) -> Any:
        """Return the row after the change; for a removal, the row before it."""
        return self.after or self.before


@dataclass(frozen=True)
class BranchDiff:
    """``branch`` at ``seq`` compared with ``against`` at ``against_seq``; only the first page has ``counts``.

    ``ahead`` and ``behind``: the commits of each side since their last common ancestor.
    """

    branch: Branch
    seq: int
    against: Branch
    against_seq: int
    base: str
    ahead: int
    behind: int
    counts: Counts | None
    page: Page[Difference]
    since_merge: bool = False  # whether the two had the same history last by a merge, not by the fork


@dataclass(frozen=True)
class DiffRange:
    """Two points, the earlier first, in one project."""

    before: Lineage
    after: Lineage
    project_id: UUID
    _changes_by_kind: dict[str, dict[UUID, str]] = field(default_factory=dict, compare=False)

    def list_differences(
        self, kind: Kind, changes: Collection[str], limit: int, cursor: str, pin: dict[str, Any]
    ) -> Page[Difference]:
        """Return a page of differences of one kind, newest memories first; ``pin`` goes into the cursors."""
        pagination.check_limit(limit)
        position = pagination.read_cursor(cursor)
        back, start = (
            bool(position.get("back")),
            pagination.parse_cursor_id(position["key"]) if position else None,
        )
        batch = self._next_changed(kind, changes, limit + 1, start, back)
        page = pagination.build_page(
            batch, limit, back, bool(cursor), lambda one: {"key": one.uid.hex, **pin}, count_bytes
        )
        return replace(page, results=self._with_latest_commit(kind, page.results))

    def counts(self) -> Counts:
        """Count the added, changed and removed memories of each kind."""
        tallies = {name: Counter(self.changes_by_id(kind).values()) for name, kind in KINDS.items()}
        return {name: {change: tally[change] for change in CHANGES} for name, tally in tallies.items()}

    def changes_by_id(self, kind: Kind) -> dict[UUID, str]:
        """Return the kind of change of each differing memory, by id. Computed once per kind."""
        name = kind.model.__name__
        if name not in self._changes_by_kind:
            self._changes_by_kind[name] = self._compute_changes(kind)
        return self._changes_by_kind[name]

    def compare_memories(self, kind: Kind, uids: Sequence[UUID]) -> list[Difference]:
        """Return the differences among the given memories, in their order."""
        if not uids:
            return []
        before, after = self._load_shown(kind, self.before, uids), self._load_shown(kind, self.after, uids)
        found = (build_difference(kind, uid, before.get(uid), after.get(uid)) for uid in uids)
        return [one for one in found if one is not None]

    # ---- pieces --------------------------------------------------------------------------------

    def _next_changed(
        self, kind: Kind, changes: Collection[str], k: int, start: UUID | None, back: bool
    ) -> list[Difference]:
        """Return the next k differences below ``start``, or above it when going back."""
        uids = [uid for uid, change in self.changes_by_id(kind).items() if change in changes]
        if start is not None:
            uids = [uid for uid in uids if (uid > start if back else uid < start)]
        return self._compare_within(kind, sorted(uids, reverse=not back)[:k])

    def _compare_within(self, kind: Kind, uids: Sequence[UUID]) -> list[Difference]:
        """Compare memories until their size exceeds a page."""
        found: list[Difference] = []
        for start in range(0, len(uids), COMPARED_ROWS):
            found += self.compare_memories(kind, uids[start : start + COMPARED_ROWS])
            if sum(map(count_bytes, found)) > pagination.PAGE_BYTES:
                break
        return found

    def _compute_changes(self, kind: Kind) -> dict[UUID, str]:
        if not any(rows.exists() for rows in self._list_touched(kind)):
            return {}
        before, after = self._load_vids(kind, self.before), self._load_vids(kind, self.after)
        both = before.keys() & after.keys()
        new_texts = {uid for uid in both if before[uid][1:] != after[uid][1:]}
        new_texts -= set(erased_uids(self.project_id, new_texts))  # both texts are blank
        rest = {uid for uid in both if before[uid] != after[uid]} | (both & self._list_judged(kind))
        found = dict.fromkeys(after.keys() - both, "added") | dict.fromkeys(before.keys() - both, "removed")
        changed = new_texts | set(self._filter_changed(kind, sorted(rest - new_texts)))
        return found | dict.fromkeys(changed, "changed")

    def _load_vids(self, kind: Kind, lineage: Lineage) -> dict[UUID, list[Any]]:
        """Return the version of each touched memory that a point shows, with the hash of its text."""
        columns = ("uid", "vid", "content_hash") if kind.model.TEXT else ("uid", "vid")
        shown = kind.model.objects.in_lineage(lineage).filter(self._touched_uids(kind))
        return {uid: rest for uid, *rest in shown.gather_values(*columns)}

    def _list_judged(self, kind: Kind) -> set[UUID]:
        """Return the facts whose verdict was touched."""
        if VERDICT not in kind.fields:
            return set()
        verdicts = Kind(FactAssessment, (FactAssessment,), ())
        return {uid for rows in self._list_touched(verdicts) for uid in rows.values_list("uid", flat=True)}

    def _filter_changed(self, kind: Kind, uids: Sequence[UUID]) -> Iterator[UUID]:
        """Yield the memories, of equal texts, of which any compared field differs."""
        for batch in batched(uids, BATCH_SIZE):
            before, after = (self._load_values(kind, side, batch) for side in (self.before, self.after))
            yield from (uid for uid in batch if not all(map(is_same, before[uid], after[uid])))

    @staticmethod
    def _load_values(kind: Kind, lineage: Lineage, uids: Sequence[UUID]) -> dict[UUID, list[Any]]:
        """Return the compared field values of each memory at a point."""
        columns = [name for name in kind.fields if name != VERDICT]
        shown = kind.model.objects.in_lineage(lineage)
        if VERDICT not in kind.fields:
            return {uid: values for uid, *values in shown.select_by_key(("uid", *columns), "uid", uids)}
        verdicts = FactAssessment.objects.in_lineage(lineage)
        found = verdicts.select_by_key(("uid", "judged_hash", "status", "method"), "uid", uids)
        on = {uid: (judged, FactAssessment.read_status(*verdict)) for uid, judged, *verdict in found}
        rows = shown.select_by_key(("uid", "judged_hash", *columns), "uid", uids)
        return {uid: [*values, effective_status(on.get(uid), judged)] for uid, judged, *values in rows}

    def _commit_ranges(self) -> list[Range]:
        """Return the commit ranges that only one of the points includes. All else is equal on both."""
        one, other = dict(self.before), dict(self.after)
        limits = {branch: sorted((one.get(branch, 0), other.get(branch, 0))) for branch in {**one, **other}}
        return [(branch, low, high) for branch, (low, high) in limits.items() if low < high]

    def _list_touched(self, kind: Kind) -> Iterator[Any]:
        for model in kind.spoken:
            for branch, low, high in self._commit_ranges():
                versions = model.objects.all_versions()
                yield versions.filter(branch=branch, seq_from__gt=low, seq_from__lte=high)

    def _touched_uids(self, kind: Kind) -> Q:
        """Return a condition on the touched memories."""
        batch = [rows.values("uid") for rows in self._list_touched(kind)]
        return Q(uid__in=batch[0].union(*batch[1:], all=True) if batch else [])

    def _load_shown(self, kind: Kind, lineage: Lineage, uids: Sequence[UUID]) -> dict[UUID, Any]:
        rows: Sequence[Any] = kind.model.objects.in_lineage(lineage).filter(uid__in=uids).fetch_all()
        if kind.model is Fact:
            rows = annotate_facts(rows, lineage, self.project_id)
        return {row.uid: row for row in rows}

    def _with_latest_commit(self, kind: Kind, batch: Sequence[Difference]) -> list[Difference]:
        """Add the newest commit that touched each difference."""
        newest: dict[UUID, tuple[datetime, int, int]] = {}
        for rows in self._list_touched(kind):
            made = rows.filter(uid__in=[one.uid for one in batch])
            for uid, *when in made.values_list("uid", "updated_at", "branch_id", "seq_from"):
                newest[uid] = max(newest.get(uid, tuple(when)), tuple(when))
        commits = Commit.objects.that_made({(branch, seq) for _, branch, seq in newest.values()})
        return [replace(one, commit=commits.get(newest[one.uid][1:])) for one in batch]


class FullDiff(DiffRange):
    """Differences against an empty point: a page is read without scanning the rest."""

    def counts(self) -> Counts:
        shown = {
            name: kind.model.objects.in_lineage(self.after).prefer_start_index().count()
            for name, kind in KINDS.items()
        }
        return {name: dict.fromkeys(CHANGES, 0) | {"added": count} for name, count in shown.items()}

    def _next_changed(
        self, kind: Kind, changes: Collection[str], k: int, start: UUID | None, back: bool
    ) -> list[Difference]:
        if "added" not in changes:
            return []
        rows = kind.model.objects.in_lineage(self.after).stream(k, "uid", down=not back, beyond=start)
        return self.compare_memories(kind, [row.uid for row in take_within(rows, k, pagination.PAGE_BYTES)])


def find_common_ancestor(one: Lineage, other: Lineage) -> Lineage:
    """Return the newest point that two lineages share; the empty start where they share nothing."""
    limits = dict(other)
    for index, (branch, limit) in enumerate(one):
        if branch in limits:
            return [(branch, min(limit, limits[branch])), *one[index + 1 :]]
    return [(one[-1][0], 0)]


def count_commits(lineage: Lineage, since: Lineage) -> int:
    """Count the commits of a lineage since an earlier point of it."""
    return sum(limit for _branch, limit in lineage) - sum(limit for _branch, limit in since)


def order_points(before: Lineage, after: Lineage, project_id: UUID) -> DiffRange:
    """Return the comparison of two points, the earlier first, in one project."""
    kind = DiffRange if any(limit for _branch, limit in before) else FullDiff
    return kind(before, after, project_id)


def count_bytes(one: Difference) -> int:
    """Return how many bytes a difference takes on a page."""
    return sum(count_row_bytes(row) for row in (one.before, one.after) if row is not None)


def build_difference(kind: Kind, uid: UUID, before: Any, after: Any) -> Difference | None:
    if before is None and after is None:  # added and removed in between
        return None
    if before is None or after is None:
        return Difference(uid, "added" if before is None else "removed", before, after)
    pairs = {name: [getattr(before, name), getattr(after, name)] for name in kind.fields}
    changed = {name: pair for name, pair in pairs.items() if not is_same(*pair)}
    return Difference(uid, "changed", before, after, changed) if changed else None


def effective_status(verdict: Sequence[str] | None, judged_hash: str) -> str:
    """Return a fact's verification status; a verdict on an earlier text does not count."""
    return verdict[1] if verdict and verdict[0] == judged_hash else FactAssessment.Status.UNVERIFIED.value

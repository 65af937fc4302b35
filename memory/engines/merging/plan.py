"""What a merge would do: each changed memory in exactly one class."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from uuid import UUID

from memory.db.querysets import Lineage
from memory.engines.branches.diff import find_common_ancestor
from memory.engines.facts.rules import is_same
from memory.engines.fields.base import Field, Option
from memory.engines.fields.types import Choice, ListOf
from memory.engines.versions.kinds import compared_fields
from memory.models import Branch, BranchedModel, Confirmation, Fact

APPLIED, IDENTICAL, CONFLICT, REJECTED = "applied", "identical", "conflict", "rejected"
CLASSES = (CONFLICT, APPLIED, IDENTICAL, REJECTED)
CLASS = Field(
    "class",
    ListOf(Choice([(name, name) for name in CLASSES])),
    "Only these.",
    option=Option("only these", checked=True),
)

# Reasons of each class.
NEW, CHANGED, REMOVED, COMBINED, SQUASHED = "new", "changed", "removed", "combined", "squashed"
SAME, SAME_TEXT, SAME_EDGE = "same", "same_text", "same_edge"
EDITED, DELETED, REVERTED = "edited", "deleted", "reverted"
SAME_KEY = "same_key"  # of two items that two branches have put under one key
NEAR_DUPLICATE, CONTESTED = "near_duplicate", "contested"
NOT_PICKED, OWNER_MISSING, ERASED = "not_picked", "owner_missing", "erased"
OWNER_REMOVED = "owner_removed"  # on the target; what belongs to it has nowhere to go
CONFLICT_FIRST = "conflict_first"  # an edge whose place an edge in conflict has
SIMILAR = (NEAR_DUPLICATE, CONTESTED)  # conflicts of two memories, not of two versions
CONFLICT_REASONS = (EDITED, SAME_KEY, DELETED, REVERTED, *SIMILAR)

SOURCE, TARGET, BOTH, EDIT, SKIP = "source", "target", "both", "edited", "skip"
CHOICES = (SOURCE, TARGET, BOTH, EDIT, SKIP)
TOKEN_LENGTH = 16


@dataclass(frozen=True)
class Decision:
    """What someone decided on a conflict. A ``token`` binds it to the two versions of the conflict."""

    uid: UUID
    choice: str
    token: str = ""
    text: str = ""
    kind: str = "fact"


@dataclass
class PlanItem:
    """One changed memory. ``ours`` and ``theirs`` are the versions of target and source, tombstones included.

    ``merged`` is the content that the target gets, where it is not the source's version as it stands, and
    ``removes`` whether the target then has a tombstone. ``other`` is the target's memory under another id,
    and ``other_content`` what changes of it.
    """

    model: type[BranchedModel]
    uid: UUID
    outcome: str
    reason: str
    ours: Any = None
    theirs: Any = None
    base: Any = None
    merged: dict[str, Any] | None = None
    removes: bool = False
    conflicting: tuple[str, ...] = ()
    for_source: dict[str, Any] | None = None  # the merged content with these as the source has them
    agreed: dict[str, tuple[Any, Any]] = field(
        default_factory=dict
    )  # what each side had last, if not ``base``
    agreed_vids: frozenset[int] = frozenset()
    other: Any = None
    other_content: dict[str, Any] = field(default_factory=dict)
    score: float | None = None
    decision: Decision | None = None
    joined: "PlanItem | None" = None  # the edge that arrives in the place of this one
    left_half: tuple[UUID, str] | None = None  # of a replacement whose other fact was not picked: id, essence
    undecided: tuple[dict[str, Any] | None, bool] = (None, False)  # content and removal before the decision

    @property
    def kind(self) -> str:
        return self.model.KIND.name

    @cached_property
    def key(self) -> tuple[str, UUID]:
        return self.kind, self.uid

    @property
    def removed(self) -> bool:
        """Return whether one of both versions is a deletion."""
        return any(row is not None and row.deleted for row in (self.ours, self.theirs))

    def reject(self, reason: str) -> None:
        """Leave a memory out: nothing of it is written, and nothing was decided about it."""
        self.outcome, self.reason, self.decision = REJECTED, reason, None
        self.merged, self.removes, self.conflicting = None, False, ()
        self.other, self.other_content, self.joined, self.left_half = None, {}, None, None

    def decide(self, decision: "Decision") -> None:
        """Note a decision on a conflict; what it writes is worked out by the strategies."""
        self.undecided, self.decision = (self.merged, self.removes), decision

    def undecide(self) -> None:
        """Take a decision back, with what it would have written."""
        (self.merged, self.removes), self.decision = self.undecided, None

    @property
    def token(self) -> str:
        """Return the mark of a conflict: another one as soon as one of its versions is another."""
        rows = [getattr(row, "vid", 0) for row in (self.ours, self.theirs, self.other)]
        text = f"{self.kind}:{self.uid.hex}:{self.reason}:{rows}"
        return hashlib.sha256(text.encode()).hexdigest()[:TOKEN_LENGTH]

    @property
    def arrives(self) -> bool:
        """Return whether the target shows the memory after the merge because of it."""
        if self.outcome == APPLIED:
            return not (self.removes or (self.merged is None and self.theirs.deleted))
        return self.outcome == CONFLICT and not self.is_open and not self.removes

    @property
    def is_written(self) -> bool:
        """Return whether the merge writes a version of it."""
        if self.outcome == CONFLICT:
            return not self.is_open
        return self.outcome in (APPLIED, IDENTICAL)

    @property
    def is_open(self) -> bool:
        """Return whether it is a conflict that nothing settles."""
        return self.outcome == CONFLICT and (self.decision is None or self.decision.choice == SKIP)

    def build_base(self) -> Any:
        """Return the nearest common version, in each field with what the source last agreed to."""
        if self.base is None or not self.agreed:
            return self.base
        row = copy(self.base)
        for name, (_ours, theirs) in self.agreed.items():
            setattr(row, name, theirs)
        return row

    @property
    def disagreed(self) -> dict[str, tuple[Any, Any]]:
        """Return what target and source last agreed to, of the fields in which that differs."""
        names = compared_fields(self.model)
        return {name: self.agreed[name] for name in names if not is_same(*self.agreed.get(name, (0, 0)))}

    @property
    def fields(self) -> dict[str, list[Any]]:
        """Return [base, ours, theirs, merged] of each field in which these differ."""
        merged = self.merged or {}
        rows = (self.build_base(), self.ours, self.theirs)
        found = {}
        for name in compared_fields(self.model):
            values = [None if row is None else getattr(row, name) for row in rows]
            values.append(merged.get(name, values[2]))
            if any(not is_same(values[0], value) for value in values[1:]):
                found[name] = values
        return found


@dataclass(frozen=True)
class MergePoints:
    """Source and target of a merge, each at one seq, and what only the source has."""

    project_id: UUID
    source: Branch
    source_seq: int
    target: Branch
    target_seq: int

    @property
    def key(self) -> tuple[int, int, int, int]:
        """Return what tells these points from others of any project."""
        return self.source.pk, self.source_seq, self.target.pk, self.target_seq

    @property
    def source_lineage(self) -> Lineage:
        return self.source.full_lineage(self.source_seq)

    @property
    def target_lineage(self) -> Lineage:
        return self.target.full_lineage(self.target_seq)

    @property
    def ancestor(self) -> Lineage:
        return find_common_ancestor(self.source_lineage, self.target_lineage)

    def reversed(self) -> "MergePoints":
        """Return the points of the merge the other way round."""
        return MergePoints(self.project_id, self.target, self.target_seq, self.source, self.source_seq)

    def list_ranges(self) -> list[tuple[int, int, int]]:
        """Return the source's commits since the common ancestor: (branch, after this seq, up to this)."""
        limits = dict(self.ancestor)
        return [
            (branch, limits.get(branch, 0), limit)
            for branch, limit in self.source_lineage
            if limit > limits.get(branch, 0)
        ]


@dataclass
class FullPlan:
    """All that a merge would do. ``unchecked`` facts have no vector yet, or there is no embedder."""

    points: MergePoints
    strategy: str
    items: list[PlanItem] = field(default_factory=list)
    confirmations: list[Confirmation] = field(default_factory=list)
    offered: list[Confirmation] | None = None  # the source's since the common ancestor, once they were read
    picked: frozenset[UUID] | None = None  # of a cherry-pick; None for all
    compared: Any = None  # new facts with those of the target: see Compared
    own_commits: int = 0  # of the target, which is to be fast-forwarded
    erased: frozenset[UUID] = frozenset()  # those of the items that were erased when they were read
    arrivals: Any = None  # what arrives of it, once a gate asked: see Arrival
    stand_ins: dict[UUID, Fact] = field(default_factory=dict)  # by fact that the target has under another id
    unchecked: list[UUID] = field(default_factory=list)
    unchecked_reason: str = ""
    written: list[BranchedModel] = field(default_factory=list)  # new rows beside those of the source
    moved_verdicts: list[tuple[Any, Any]] = field(default_factory=list)  # the target's fact, and a verdict

    def list_uids(self) -> set[UUID]:
        """Return the ids of the memories whose content the plan has."""
        others = {item.other.uid for item in self.items if item.other is not None}
        others |= {row.uid for row in self.stand_ins.values()}
        return others | {item.uid for item in self.items}

    def of_model(self, model: type[BranchedModel]) -> Iterator[PlanItem]:
        return (item for item in self.items if item.model is model)

    def with_outcome(self, *outcomes: str) -> list[PlanItem]:
        return [item for item in self.items if item.outcome in outcomes]

    @property
    def is_empty(self) -> bool:
        """Return whether the merge has nothing to write."""
        others = self.written or self.confirmations or self.moved_verdicts
        return not others and not any(item.is_written for item in self.items)

    @property
    def open_conflicts(self) -> list[PlanItem]:
        return [item for item in self.items if item.is_open]

    @property
    def takes_all(self) -> bool:
        """Return whether nothing of the source is left for a later merge.

        What was erased never comes, nor what belongs to a memory that the target removed.
        """
        left = [one for one in self.with_outcome(REJECTED) if one.reason not in (ERASED, OWNER_REMOVED)]
        return self.picked is None and not left and not self.open_conflicts

    def count_items(self) -> dict[str, dict[str, int]]:
        """Count the items: kind -> class -> number, without zeros."""
        tally = Counter((item.kind, item.outcome) for item in self.items)
        if self.confirmations:
            tally["confirmation", APPLIED] = len(self.confirmations)
        counts: dict[str, dict[str, int]] = {}
        for (kind, outcome), number in tally.items():
            counts.setdefault(kind, {})[outcome] = number
        return counts

    def select_items(self, kind: str = "", classes: Sequence[str] = ()) -> list[PlanItem]:
        """Return the items of a kind and of classes, conflicts first."""
        found = [item for item in self.items if not kind or item.kind == kind]
        found = [item for item in found if not classes or item.outcome in classes]
        return sorted(found, key=_item_order)

    def index_items(self) -> dict[tuple[str, UUID], PlanItem]:
        return {item.key: item for item in self.items}


def _item_order(item: PlanItem) -> tuple[int, int, UUID]:
    return CLASSES.index(item.outcome), item.model.KIND.rank, item.uid


def find_items(items: Iterable[PlanItem], outcome: str, reason: str) -> list[PlanItem]:
    return [item for item in items if item.outcome == outcome and item.reason == reason]

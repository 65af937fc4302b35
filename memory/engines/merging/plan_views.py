"""What is shown of a plan: its counts, and its memories in pages.

Of a large plan a view keeps no rows: which versions each memory has, and how its merged content differs from
one of them. The rows of a page are read again.
"""

import pickle
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from memory.engines.facts.rules import is_same
from memory.engines.merging.gates import list_undecided
from memory.engines.merging.plan import FullPlan, MergePoints, PlanItem
from memory.engines.versions.erased import find_hidden
from memory.engines.versions.kinds import models_by_kind
from memory.models.base import ERASED_MARK

LARGE = 1000  # memories; the rows of fewer are kept with them
BLOCK_SIZE = 500
UID_BYTES = 16
QUARANTINE_MARK = "[in quarantine]"
SIDES = ("base", "ours", "theirs", "other")
ITEM_FIELDS = (
    "uid",
    "outcome",
    "reason",
    "removes",
    "conflicting",
    "agreed",
    "agreed_vids",
    "other_content",
    "score",
    "decision",
    "left_half",
)
Positions = Sequence[int]


class Items(Protocol):
    """The memories of a plan in their order, read by position."""

    def get_uid(self, position: int) -> UUID: ...

    def load(self, positions: Positions) -> list[PlanItem]: ...


@dataclass(frozen=True)
class LiveItems:
    items: Sequence[PlanItem]

    def get_uid(self, position: int) -> UUID:
        return self.items[position].uid

    def load(self, positions: Positions) -> list[PlanItem]:
        return [self.items[position] for position in positions]


@dataclass(frozen=True)
class FrozenItems:
    """Items without their rows, in blocks that are unpacked when one of their items is shown."""

    uids: bytes
    blocks: Sequence[bytes]

    @classmethod
    def freeze(cls, items: Sequence[PlanItem]) -> "FrozenItems":
        blocks = [items[start : start + BLOCK_SIZE] for start in range(0, len(items), BLOCK_SIZE)]
        packed = [pickle.dumps([_freeze_item(item) for item in block], -1) for block in blocks]
        return cls(b"".join(item.uid.bytes for item in items), packed)

    def get_uid(self, position: int) -> UUID:
        return UUID(bytes=self.uids[position * UID_BYTES : (position + 1) * UID_BYTES])

    def load(self, positions: Positions) -> list[PlanItem]:
        numbers = dict.fromkeys(position // BLOCK_SIZE for position in positions)
        blocks = {number: pickle.loads(self.blocks[number]) for number in numbers}
        return _thaw_items([blocks[one // BLOCK_SIZE][one % BLOCK_SIZE] for one in positions])


@dataclass(frozen=True)
class PlanView:
    """``undecided`` counts the conflicts without a decision by reason; ``runs`` has the positions of the
    memories of each class and kind.
    """

    points: MergePoints
    strategy: str
    counts: dict[str, dict[str, int]]
    open_conflicts: int
    undecided: Mapping[str, int]
    unchecked: int
    unchecked_reason: str
    runs: Mapping[tuple[str, str], range]
    items: Items
    is_masked: bool = False  # whether something of the project is in quarantine

    @classmethod
    def from_plan(cls, plan: FullPlan) -> "PlanView":
        items = plan.select_items()
        return cls(
            points=plan.points,
            strategy=plan.strategy,
            counts=plan.count_items(),
            open_conflicts=len(plan.open_conflicts),
            undecided=Counter(item.reason for item in list_undecided(plan)),
            unchecked=len(plan.unchecked),
            unchecked_reason=plan.unchecked_reason,
            runs=dict(_list_runs(items)),
            items=FrozenItems.freeze(items) if len(items) >= LARGE else LiveItems(items),
            is_masked=plan.points.source.masked,
        )

    def list_positions(self, kind: str = "", classes: Sequence[str] = ()) -> list[int]:
        """Return the positions of the memories of a kind and of classes, conflicts first."""
        runs = [
            run
            for (outcome, name), run in self.runs.items()
            if kind in ("", name) and (not classes or outcome in classes)
        ]
        return [position for run in runs for position in run]

    def find_item(self, kind: str, uid: UUID) -> PlanItem | None:
        """Return the memory of this kind and id, if the plan has it."""
        for (_outcome, name), run in self.runs.items():
            if name == kind and (position := self._find_position(run, uid)) is not None:
                return self.load([position])[0]
        return None

    def find_items(self, uids: Sequence[UUID]) -> list[PlanItem]:
        """Return the memories of any kind with these ids."""
        found = [self._find_position(run, uid) for run in self.runs.values() for uid in uids]
        return self.load(sorted(position for position in found if position is not None))

    def load(self, positions: Positions) -> list[PlanItem]:
        """Return memories to be shown: a merge carries over what is in quarantine, and nobody reads it."""
        items = self.items.load(positions)
        return mask_items(items) if self.is_masked else items

    def get_neutral_order(self, position: int) -> tuple[int, UUID]:
        """Return the place of a memory in an order that does not tell its class."""
        (kind,) = (kind for (_outcome, kind), run in self.runs.items() if position in run)
        return models_by_kind()[kind].KIND.rank, self.items.get_uid(position)

    def _find_position(self, run: range, uid: UUID) -> int | None:
        """Look for an id in a run, which is ordered by ids."""
        first, last = run.start, run.stop
        while first < last:
            middle = (first + last) // 2
            if self.items.get_uid(middle) < uid:
                first = middle + 1
            else:
                last = middle
        return first if first < run.stop and self.items.get_uid(first) == uid else None


def mask_items(items: Sequence[PlanItem]) -> list[PlanItem]:
    """Return copies of a plan's memories without the texts that are in quarantine."""
    vids = {row.vid for item in items for side in SIDES if (row := getattr(item, side)) is not None}
    vids = vids.union(*(item.agreed_vids for item in items))
    hidden, masked = find_hidden(vids), [copy(item) for item in items]
    for item in masked:
        if hidden & item.agreed_vids:
            item.agreed = {name: pair for name, pair in item.agreed.items() if name not in item.model.ERASED}
        for side in SIDES:
            row = getattr(item, side)
            if row is not None and row.vid in hidden:
                setattr(item, side, _mask_row(row))
                if item.merged is not None:
                    item.merged = {**item.merged, **_list_masked(row)}
    return masked


def _mask_row(row: Any) -> Any:
    masked = copy(row)
    for name, value in _list_masked(row).items():
        setattr(masked, name, value)
    return masked


def _list_masked(row: Any) -> dict[str, str]:
    return {name: QUARANTINE_MARK for name, value in row.ERASED.items() if value == ERASED_MARK}


def _list_runs(items: Sequence[PlanItem]) -> Iterator[tuple[tuple[str, str], range]]:
    """Yield the positions of each class and kind, of items in the order of a plan."""
    start = 0
    for (outcome, kind), count in Counter((item.outcome, item.kind) for item in items).items():
        yield (outcome, kind), range(start, start + count)
        start += count


# ---- items without their rows --------------------------------------------------------------------------


def _freeze_item(item: PlanItem) -> tuple:
    rows = [getattr(item, side) for side in SIDES]
    keys = [None if row is None else (row.rid, getattr(row, "repository", None)) for row in rows]
    return item.kind, keys, _freeze_content(item), {name: getattr(item, name) for name in ITEM_FIELDS}


def _freeze_content(item: PlanItem) -> tuple[str, dict[str, Any]] | None:
    """Return the merged content as the side that it differs least from, and how it differs."""
    if item.merged is None:
        return None
    found: list[tuple[str, dict[str, Any]]] = []
    for side in (side for side in ("ours", "theirs") if getattr(item, side) is not None):
        found.append((side, _list_changed(item.merged, getattr(item, side))))
        if len(found[-1][1]) <= 1:
            break
    return min(found, key=lambda one: len(one[1]))


def _list_changed(content: Mapping[str, Any], row: Any) -> dict[str, Any]:
    return {name: value for name, value in content.items() if not is_same(value, getattr(row, name))}


def _thaw_items(frozen: Sequence[tuple]) -> list[PlanItem]:
    rids: dict[str, set[int]] = {}
    for kind, keys, _content, _values in frozen:
        rids.setdefault(kind, set()).update(key[0] for key in keys if key is not None)
    rows = {kind: models_by_kind()[kind]._base_manager.in_bulk(sorted(found)) for kind, found in rids.items()}
    return [_thaw_item(rows[one[0]], *one) for one in frozen]


def _thaw_item(
    rows: Mapping[int, Any], kind: str, keys: Sequence, content: Any, values: dict[str, Any]
) -> PlanItem:
    sides = {side: _thaw_row(rows, key) for side, key in zip(SIDES, keys, strict=True)}
    item = PlanItem(models_by_kind()[kind], **values, **sides)
    if content is not None:
        side, changed = content
        item.merged = {**sides[side].content_values(), **changed}
    return item


def _thaw_row(rows: Mapping[int, Any], key: tuple[int, Any] | None) -> Any:
    """Return a row of its own, with the repository that was found for it."""
    if key is None:
        return None
    row = copy(rows[key[0]])
    if key[1] is not None:
        row.repository = key[1]
    return row

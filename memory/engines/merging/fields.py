"""The three-way merge of one memory's fields."""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

from memory.engines.facts.rules import is_same
from memory.models import BranchedModel
from memory.models.kinds import MemoryKind

MISSING: Any = object()  # the value of a field without a common version, or without a merged value
_ABSENT: Any = object()  # the value of a key that a mapping does not have


@dataclass(frozen=True)
class MergedFields:
    """Content of a merged version; in ``conflicts`` are the fields whose values the target keeps for now."""

    content: dict[str, Any]
    conflicts: tuple[str, ...] = ()


@dataclass
class _Sides:
    """One field of the nearest common version, the target's and the source's."""

    base: Any
    ours: Any
    theirs: Any

    @property
    def ours_changed(self) -> bool:
        return self.base is MISSING or not _is_equal(self.base, self.ours)

    @property
    def theirs_changed(self) -> bool:
        return self.base is MISSING or not _is_equal(self.base, self.theirs)

    @property
    def differ(self) -> bool:
        return not _is_equal(self.ours, self.theirs)


def merge_fields(base: BranchedModel | None, ours: BranchedModel, theirs: BranchedModel) -> MergedFields:
    """Merge the content of two versions that were made from ``base``, by the rules of their kind."""
    model = type(ours)
    names = [name for name in model.content_fields() if name not in model.KIND.derived]
    # Most fields are the same on all sides, and stay so by every rule.
    changed = names if base is None else [name for name in names if _is_changed(name, base, ours, theirs)]
    sides = {name: _read_sides(name, base, ours, theirs) for name in changed}
    conflicts = _find_claim_conflicts(model.KIND, sides)
    content = {}
    for name, side in sides.items():
        value = side.ours if name in conflicts else _merge_field(model.KIND, name, side)
        if value is MISSING:
            conflicts.add(name)
        content[name] = side.ours if value is MISSING else value
    return MergedFields(complete_content(ours, content), tuple(name for name in names if name in conflicts))


def take_theirs(
    merged: Mapping[str, Any], conflicts: tuple[str, ...], theirs: BranchedModel
) -> dict[str, Any]:
    """Return merged content in which the conflicts are settled for the source."""
    return complete_content(theirs, {**merged, **{name: getattr(theirs, name) for name in conflicts}})


def complete_content(row: BranchedModel, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a version with some fields changed, and its derived fields."""
    draft = copy(row)
    for name, value in content.items():
        setattr(draft, name, value)
    if compute := getattr(draft, "compute_hashes", None):
        compute()
    return draft.content_values()


def _is_changed(name: str, base: BranchedModel, ours: BranchedModel, theirs: BranchedModel) -> bool:
    """Return whether a field is not the same on all three sides."""
    base_value, our_value, their_value = (getattr(row, name) for row in (base, ours, theirs))
    return not (is_same(our_value, their_value) and is_same(base_value, our_value))


def _read_sides(name: str, base: BranchedModel | None, ours: Any, theirs: Any) -> _Sides:
    before = MISSING if base is None else getattr(base, name)
    return _Sides(before, getattr(ours, name), getattr(theirs, name))


def _find_claim_conflicts(kind: MemoryKind, sides: Mapping[str, _Sides]) -> set[str]:
    """Return the differing fields of the claim where both sides changed it, each in its way."""
    differing = {name: side for name, side in sides.items() if name in kind.claim and side.differ}
    ours = any(side.ours_changed for side in differing.values())
    theirs = any(side.theirs_changed for side in differing.values())
    return set(differing) if ours and theirs else set()


def _merge_field(kind: MemoryKind, name: str, side: _Sides) -> Any:
    if name in kind.counters:
        return _add_up(side)
    if not side.differ or (side.base is not MISSING and not side.theirs_changed):
        return side.ours
    if side.base is not MISSING and not side.ours_changed:
        return side.theirs
    if name in kind.origin:
        return side.ours
    if name in kind.ordered:
        return max(side.ours, side.theirs, key=kind.ordered[name].index)
    for names, combine in _RULES:
        if name in names(kind):
            return combine(side)
    return MISSING


def _add_up(side: _Sides) -> Any:
    """Add what each side counted, which may be the same number."""
    return side.ours + side.theirs - (0 if side.base is MISSING else side.base)


def _choose_greater(side: _Sides) -> Any:
    return max((value for value in (side.ours, side.theirs) if value is not None), default=None)


def _choose_smaller(side: _Sides) -> Any:
    return min((value for value in (side.ours, side.theirs) if value is not None), default=None)


def _merge_set(side: _Sides) -> Any:
    base = [] if side.base is MISSING else side.base
    removed = [item for item in base if item not in side.ours or item not in side.theirs]
    every = [*side.ours, *(item for item in side.theirs if item not in side.ours)]
    return [item for item in every if item not in removed]


def _merge_mapping(side: _Sides) -> Any:
    """Merge the keys of a mapping; MISSING where both sides changed one differently."""
    base = {} if side.base is MISSING else side.base
    found: dict[str, Any] = {}
    for key in {**side.ours, **side.theirs}:
        one = _Sides(*(mapping.get(key, _ABSENT) for mapping in (base, side.ours, side.theirs)))
        if one.differ and one.ours_changed and one.theirs_changed:
            return MISSING
        value = one.theirs if one.theirs_changed else one.ours
        if value is not _ABSENT:
            found[key] = value
    return found


def _is_equal(one: Any, other: Any) -> bool:
    if one is _ABSENT or other is _ABSENT:
        return one is other
    return is_same(one, other)


_RULES: tuple[tuple[Callable[[MemoryKind], frozenset[str]], Callable[[_Sides], Any]], ...] = (
    (lambda kind: kind.maxima, _choose_greater),
    (lambda kind: kind.minima, _choose_smaller),
    (lambda kind: kind.sets, _merge_set),
    (lambda kind: kind.mappings, _merge_mapping),
)

"""The content of a version that is merged of two."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from memory.engines.merging.agreed import Agreed, History
from memory.engines.merging.fields import CONFLICT, GONE, Field, FieldRules, get_rules
from memory.models import BranchedModel


@dataclass(frozen=True)
class MergedContent:
    """Content with the fields in ``conflicts`` as the target has them; in ``for_source`` as the source has.

    ``is_reverted`` is whether a revert is among the reasons. In ``agreed`` is what each side last agreed to,
    in the fields in which they differ, and in ``agreed_vids`` the versions that say it.
    """

    content: dict[str, Any]
    for_source: dict[str, Any]
    conflicts: tuple[str, ...] = ()
    is_reverted: bool = False
    agreed: dict[Field, Agreed] = field(default_factory=dict)
    agreed_vids: frozenset[int] = frozenset()


def merge_versions(history: History, ours: int, theirs: int) -> MergedContent:
    """Merge two versions, neither of which is a deletion nor in the past of the other."""
    rules, rows = history.rules, (history.rows[ours], history.rows[theirs])
    differing = rules.list_differing(*rows)
    reverted = history.list_reverted(ours, theirs).intersection(differing)
    fields = [one for one in differing if one not in reverted]
    fields += [Field(name) for name in sorted(rules.kind.counters) if Field(name) not in differing]
    values = {one: history.merge_field(ours, theirs, one).value for one in fields}
    conflicts = reverted | {one for one, value in values.items() if value is CONFLICT}
    merged = {one: value for one, value in values.items() if value is not CONFLICT}
    return MergedContent(
        rules.write(rows[0], merged),
        rules.write(rows[1], merged),
        rules.list_columns(conflicts),
        bool(reverted),
        {one: history.find_agreed(ours, theirs, one) for one in differing},
        frozenset().union(*(history.list_known(ours, theirs, one) for one in differing)),
    )


def merge_unrelated(ours: BranchedModel, theirs: BranchedModel) -> MergedContent:
    """Merge two versions that have nothing in common."""
    rules = get_rules(type(ours))
    values = dict(_combine_unrelated(rules, ours, theirs))
    conflicts = [one for one, value in values.items() if value is CONFLICT]
    merged = {one: value for one, value in values.items() if value is not CONFLICT}
    return MergedContent(
        rules.write(ours, merged), rules.write(theirs, merged), rules.list_columns(conflicts)
    )


def _combine_unrelated(
    rules: FieldRules, ours: BranchedModel, theirs: BranchedModel
) -> Iterator[tuple[Field, Any]]:
    for one in rules.list_differing(ours, theirs):
        values = rules.read(ours, one), rules.read(theirs, one)
        stated = [value for value in values if not rules.is_nothing(one, value)]
        yield one, stated[0] if len(stated) == 1 else rules.combine(one, *values)
    for name in rules.kind.counters:
        yield Field(name), getattr(ours, name) + getattr(theirs, name)


def describe_agreed(
    row: BranchedModel, agreed: dict[Field, Agreed], rules: FieldRules
) -> dict[str, tuple[Any, Any]]:
    """Return what each side last agreed to, by column, where that is not what their common version says."""
    sides = []
    for side in zip(*agreed.values(), strict=True):
        values = {one: value for one, value in zip(agreed, side, strict=True) if _is_stated(value)}
        sides.append(rules.write(row, values))
    names = rules.list_columns(agreed) if sides else ()
    found = {name: (sides[0][name], sides[1][name]) for name in names}
    before = {name: getattr(row, name) for name in names}
    return {name: pair for name, pair in found.items() if pair != (before[name], before[name])}


def _is_stated(value: Any) -> bool:
    return value is not CONFLICT and value is not GONE

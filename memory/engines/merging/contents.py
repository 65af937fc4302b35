"""The content of a version that is merged of two."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from memory.engines.facts.rules import is_same
from memory.engines.merging.agreed import Agreed, History
from memory.engines.merging.fields import CONFLICT, GONE, Field, FieldRules, Values, get_rules
from memory.models import BranchedModel


@dataclass(frozen=True)
class MergedContent:
    """Content with the columns in ``conflicts`` as the target has them; in ``for_source`` as the source has.
    ``conflicting`` names the fields of these, with the keys of mappings.

    ``is_reverted`` is whether a revert is among the reasons. Where the sides agreed to more than their
    base, these versions are in ``agreed_vids``, and ``agreed`` has what each agreed to by field.
    """

    content: dict[str, Any]
    for_source: dict[str, Any]
    conflicts: tuple[str, ...] = ()
    conflicting: tuple[str, ...] = ()
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
    agreed, known = _find_agreed(history, ours, theirs, differing)
    return replace(_write_content(rules, *rows, values, reverted), agreed=agreed, agreed_vids=known)


def _find_agreed(
    history: History, ours: int, theirs: int, differing: Sequence[Field]
) -> tuple[dict[Field, Agreed], frozenset[int]]:
    """Return what each side agreed to in the fields that are shown, if it is not their base alone, and the
    versions that say so.
    """
    base = history.pasts.find_base(ours, theirs)
    if base is None or history.pasts.find_fork(ours, theirs) is not None:
        return {}, frozenset()
    row, rules = history.rows[base], history.rules
    moved = [] if row.deleted else rules.list_differing(row, history.rows[ours])
    fields = dict.fromkeys([*differing, *moved])
    known = frozenset[int]().union(*(history.list_known(ours, theirs, one) for one in fields))
    if known == {base}:
        return {}, known
    return {one: history.find_agreed(ours, theirs, one) for one in fields}, known


def _write_content(
    rules: FieldRules,
    ours: BranchedModel,
    theirs: BranchedModel,
    values: Values,
    reverted: Set[Field] = frozenset(),
) -> MergedContent:
    conflicts = {*reverted, *(one for one, value in values.items() if value is CONFLICT)}
    merged = {one: value for one, value in values.items() if value is not CONFLICT}
    content = rules.write(ours, merged)
    if not conflicts:
        return MergedContent(content, content)
    columns = rules.list_columns(conflicts, ours, theirs)
    names = rules.list_names(conflicts, columns)
    return MergedContent(content, rules.write(theirs, merged), columns, names, bool(reverted))


def merge_unrelated(ours: BranchedModel, theirs: BranchedModel) -> MergedContent:
    """Merge two versions that have nothing in common."""
    rules = get_rules(type(ours))
    return _write_content(rules, ours, theirs, dict(_combine_unrelated(rules, ours, theirs)))


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
    found: dict[str, tuple[Any, Any]] = {}
    ours, theirs = (
        rules.write_columns(row, {one: pair[n] for one, pair in agreed.items() if _is_stated(pair[n])})
        for n in range(2)
    )
    for name in ours | theirs:
        before = getattr(row, name)
        pair = ours.get(name, before), theirs.get(name, before)
        if not all(is_same(value, before) for value in pair):
            found[name] = pair
    return found


def _is_stated(value: Any) -> bool:
    return value is not CONFLICT and value is not GONE

"""What a merge does with one memory, field by field: the sentences of docs/merging.md in plain Python.

It shares no code with the engine, and looks at every version each time.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.memory.merging.oracle import Fields, Version

MISSING = object()  # what a mapping says of a key that it does not have
GONE = object()  # what a deletion says of each field
PRESENT = ("present",)
CLAIM = ("claim",)
Path = tuple[str, ...]  # a field, or a tag or key within one
ORIGIN = frozenset("session_id task_id agent_id created_at".split())


@dataclass(frozen=True)
class Rules:
    """How two changes of one field are merged; a field that no rule names conflicts by itself."""

    claim: frozenset[str] = frozenset()
    counters: frozenset[str] = frozenset()
    greater: frozenset[str] = frozenset()
    smaller: frozenset[str] = frozenset()
    sets: frozenset[str] = frozenset()
    mappings: frozenset[str] = frozenset()
    ordered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ignored: frozenset[str] = ORIGIN  # provenance, and what derives from other fields
    moving: frozenset[str] = frozenset()  # the cycle, which every edit moves


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


RULES = {
    "fact": Rules(
        claim=names("fact_text essence status held_status valid_from valid_until"),
        greater=names("confidence updated_cycle"),
        sets=names("tags"),
        mappings=names("metadata"),
        ignored=ORIGIN | names("source_type origin created_cycle content_hash norm_hash judged_hash"),
        moving=names("updated_cycle"),
    ),
    "relation": Rules(
        counters=names("strength"),
        greater=names("confidence"),
        smaller=names("valid_from"),
        mappings=names("properties"),
        ignored=ORIGIN | names("source_key target_key type_key"),
    ),
    "link": Rules(greater=names("weight")),
    "observation": Rules(mappings=names("metadata"), ignored=ORIGIN | names("content_hash input_hash")),
    "conversation": Rules(ordered={"status": ("active", "completed", "archived")}),
    "message": Rules(mappings=names("metadata"), ignored=ORIGIN | names("said_at content_hash")),
}


class Disagreement(Exception):
    """Both sides changed one field, each to something else, and no rule says which stays."""


def plain(value: Any) -> Any:
    """Return a value that compares as its field does: the order of a list of tags means nothing."""
    return sorted(value) if isinstance(value, list) and all(isinstance(one, str) for one in value) else value


def is_same_content(kind: str, one: Fields, two: Fields) -> bool:
    compared = one.keys() - RULES[kind].ignored
    return all(plain(one[name]) == plain(two[name]) for name in compared)


def list_known(version: Version) -> set[int]:
    """Return the past of a version: itself, its parents, their parents, and so on."""
    return {id(one) for one in version.ancestors()}


def list_paths(kind: str, *versions: Version) -> list[Path]:
    """Return the fields of some versions; tags and keys are fields of their own, a claim is one field."""
    rules, found = RULES[kind], dict[Path, None]()
    for fields in (one.fields for one in versions if one.fields is not None):
        for name in sorted(fields.keys() - rules.ignored - rules.claim):
            inner = rules.sets | rules.mappings
            paths = [(name, key) for key in fields[name]] if name in inner else [(name,)]
            found |= dict.fromkeys(paths)
    return [CLAIM, *found] if rules.claim else list(found)


def read(kind: str, version: Version, path: Path) -> Any:
    """Return what a version says of a field; GONE in a deletion."""
    fields, rules = version.fields, RULES[kind]
    if path == PRESENT:
        return fields is not None
    if fields is None:
        return GONE
    if path == CLAIM:
        return tuple((name, fields[name]) for name in sorted(rules.claim & fields.keys()))
    if path[0] in rules.sets:
        return path[1] in fields[path[0]]
    if path[0] in rules.mappings:
        return fields[path[0]].get(path[1], MISSING)
    return fields.get(path[0], MISSING)


# ---- the agreed value --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trace:
    """The versions that a side last agreed to, and whether somebody decided since."""

    agreed: tuple[Version, ...] = ()
    decided: bool = False

    def __add__(self, other: "Trace") -> "Trace":
        return Trace((*self.agreed, *other.agreed), self.decided or other.decided)


def trace(kind: str, version: Version, path: Path, known: set[int]) -> Trace:
    """Go back along the versions that a value comes from, to the first ones that the other side knows."""
    while id(version) not in known and len(version.parents) == 1:
        version = version.parents[0]  # it takes the value from it, or is a change
    if id(version) in known:
        return Trace((version,))
    if not version.parents:
        return Trace()  # the side brought it into being
    sides = find_sides(kind, version, path)
    return sum((trace(kind, one, path, known) for one in sides), Trace(decided=not sides))


def find_sides(kind: str, version: Version, path: Path) -> Iterable[Version]:
    """Return the parents from which a merge has a value by the rules; none where somebody decided."""
    ours, theirs = version.parents
    value = read(kind, version, path)
    if path != PRESENT and None in (ours.fields, theirs.fields):
        alike = [one for one in version.parents if (one.fields is None) == (version.fields is None)]
        return [one for one in alike if read(kind, one, path) == value]
    try:
        merged = merge_path(kind, path, ours, theirs)
    except Disagreement:
        return ()
    changed = [one for one, two in ((ours, theirs), (theirs, ours)) if has_changed(kind, path, one, two)]
    return () if merged != value else changed if len(changed) == 1 else version.parents


def has_changed(kind: str, path: Path, version: Version, other: Version) -> bool:
    """Return whether a side has changed what the other one does not know."""
    return is_changed(kind, path, version, list_known(other))


def is_changed(kind: str, path: Path, version: Version, known: set[int]) -> bool:
    """Return whether a side now says something else than what it last agreed to."""
    found = trace(kind, version, path, known)
    nearest = drop_past(found.agreed)
    if found.decided:
        return True
    value = read(kind, version, path)
    try:
        agreed = agree(kind, path, nearest) if nearest else GONE
    except Disagreement:
        return True
    if agreed is GONE and len(path) > 1 and value in (MISSING, False):
        return False  # a tag or a key that it lacks it has not brought
    return bool(agreed != value)


def drop_past(versions: Iterable[Version]) -> list[Version]:
    """Return versions but for those that are in the past of another one, the oldest first."""
    every = sorted({id(one): one for one in versions}.values(), key=lambda one: max(one.past))
    return [one for one in every if not any(one is not two and is_past(one, two) for two in every)]


def is_past(one: Version, two: Version) -> bool:
    return id(one) in list_known(two)


def agree(kind: str, path: Path, versions: list[Version]) -> Any:
    """Return what a merge of some versions would say, one after the other. Raises Disagreement."""
    first, *others = versions
    for other in others:
        values = read(kind, first, path), read(kind, other, path)
        if values[0] == values[1]:
            continue
        if path != PRESENT and GONE in values:
            raise Disagreement
        first = imagine(kind, path, first, other)
    return read(kind, first, path)


def imagine(kind: str, path: Path, one: Version, two: Version) -> Version:
    """Return a merge of two versions that nobody made, as far as one field goes. Raises Disagreement."""
    value = merge_path(kind, path, one, two)
    if path == PRESENT:
        shown = one if one.fields is not None else two
        return Version(shown.fields if value else None, (one, two))
    assert one.fields is not None
    fields = dict(one.fields)
    write(kind, fields, path, value)
    return Version(fields, (one, two))


# ---- one field, one memory ---------------------------------------------------------------------------


def merge_path(kind: str, path: Path, ours: Version, theirs: Version) -> Any:
    """Return the merged value of a field. Raises Disagreement."""
    one, two = read(kind, ours, path), read(kind, theirs, path)
    if path[0] in RULES[kind].counters:
        return one + sum(count_added(kind, path, version) for version in list_unknown(theirs, ours))
    if one == two:
        return one
    if path == PRESENT:
        return merge_deletion(kind, *((ours, theirs) if one else (theirs, ours)))
    ours_changed = has_changed(kind, path, ours, theirs)
    if ours_changed != has_changed(kind, path, theirs, ours):
        return one if ours_changed else two
    return apply_rule(RULES[kind], path, one, two)


def merge_deletion(kind: str, shown: Version, gone: Version) -> bool:
    """Return whether a memory is there that one side shows and the other has deleted. Raises Disagreement."""
    was_deleted, was_written = (has_changed(kind, PRESENT, *pair) for pair in ((gone, shown), (shown, gone)))
    edited = any(has_changed(kind, path, shown, gone) for path in list_edited(kind, *shown.ancestors()))
    if was_deleted == was_written or (was_deleted and edited):
        raise Disagreement
    return was_written


def list_unknown(version: Version, other: Version) -> list[Version]:
    known = list_known(other)
    return [one for one in version.ancestors() if id(one) not in known]


def count_added(kind: str, path: Path, version: Version) -> int:
    """Return what a version itself added to a counter: all in its past add up to what it says."""
    past = [one for one in version.ancestors() if one is not version]
    return count(kind, path, version) - sum(count_added(kind, path, one) for one in past)


def count(kind: str, path: Path, version: Version) -> int:
    """Return a counter; a deletion takes away what was counted before it."""
    value = read(kind, version, path)
    return 0 if value is GONE else int(value)


def apply_rule(rules: Rules, path: Path, one: Any, two: Any) -> Any:
    """Return the value of a field that both sides changed. Raises Disagreement."""
    name = path[0]
    if name in rules.sets:
        return True  # a tag about which both sides disagree stays
    if name in rules.greater:
        return max(one, two)
    if name in rules.smaller:
        return min(filter(None, (one, two)), default=None)
    if name in rules.ordered:
        return max(one, two, key=rules.ordered[name].index)
    raise Disagreement


@dataclass(frozen=True)
class Outcome:
    """Class of a change in a plan, the reason of a conflict, what is merged, and the fields in conflict."""

    name: str
    reason: str = ""
    merged: Fields | None = None
    conflicts: tuple[Path, ...] = ()


def find_outcome(kind: str, ours: Version | None, theirs: Version | None) -> Outcome | None:
    """Return what a merge does with one memory; None when the target knows the source's version."""
    if theirs is None or (ours is not None and is_past(theirs, ours)):
        return None
    if ours is None or is_past(ours, theirs):
        return Outcome("applied", merged=theirs.fields)
    if ours.fields is None and theirs.fields is None:
        return Outcome("identical")
    reverted = list(list_reverted(kind, ours, theirs))
    if ours.fields is None or theirs.fields is None:
        return Outcome("conflict", "reverted") if reverted else find_deleted(kind, ours, theirs)
    return merge_contents(kind, ours, theirs, reverted)


def find_deleted(kind: str, ours: Version, theirs: Version) -> Outcome:
    """Return what a merge does with a memory that one side shows and the other has deleted."""
    try:
        is_there = merge_path(kind, PRESENT, ours, theirs)
    except Disagreement:
        return Outcome("conflict", "deleted")
    if is_there == read(kind, ours, PRESENT):
        return Outcome("identical", merged=ours.fields)
    return Outcome("applied", merged=theirs.fields)


def list_edited(kind: str, *versions: Version) -> list[Path]:
    """Return the fields but for the cycle, which every edit moves."""
    return [path for path in list_paths(kind, *versions) if path[0] not in RULES[kind].moving]


def merge_contents(kind: str, ours: Version, theirs: Version, reverted: list[Path]) -> Outcome:
    assert ours.fields is not None
    merged, conflicts = dict(ours.fields), list[Path]()
    for path in list_paths(kind, ours, theirs):
        try:
            write(kind, merged, path, merge_path(kind, path, ours, theirs))
        except Disagreement:
            conflicts.append(path)
    if reverted:
        return Outcome("conflict", "reverted", merged, (*conflicts, *reverted))
    if conflicts:
        return Outcome("conflict", "edited", merged, tuple(conflicts))
    same = is_same_content(kind, merged, ours.fields)
    return Outcome("identical" if same else "applied", merged=merged)


def decide_for(kind: str, outcome: Outcome, side: Version) -> Fields:
    """Return what is written if the fields in conflict are as one side has them, all others as merged."""
    assert outcome.merged is not None
    decided = dict(outcome.merged)
    for path in outcome.conflicts:
        write(kind, decided, path, read(kind, side, path))
    return decided


def write(kind: str, fields: dict[str, Any], path: Path, value: Any) -> None:
    """Put a merged value into the fields of a version."""
    name, rules = path[0], RULES[kind]
    if path == CLAIM:
        fields.update(dict(value))
    elif name in rules.sets:
        others = [tag for tag in fields[name] if tag != path[1]]
        fields[name] = sorted([*others, path[1]] if value else others)
    elif name in rules.mappings:
        others = {key: old for key, old in fields[name].items() if key != path[1]}
        fields[name] = others if value is MISSING else {**others, path[1]: value}
    else:
        fields[name] = value


# ---- taken back --------------------------------------------------------------------------------------


def list_reverted(kind: str, ours: Version, theirs: Version) -> Iterator[Path]:
    """Yield the fields that a revert put back and in which the two sides differ now."""
    for revert in find_rejected(ours, theirs):
        assert revert.taken is not None
        for path in list_put_back(kind, revert, revert.taken):
            if read(kind, ours, path) != read(kind, theirs, path):
                yield path


def list_put_back(kind: str, revert: Version, taken: Version) -> list[Path]:
    """Return the fields that a revert put back; being there alone where the merge brought or removed it."""
    if revert.fields is None or taken.fields is None:
        # Neither was there where the merge closed it beside another one: the branch never had it before.
        is_other = (revert.fields is None) != (taken.fields is None)
        return [PRESENT] if is_other or not revert.parents else []
    paths = list_edited(kind, revert, taken)
    return [path for path in paths if read(kind, revert, path) != read(kind, taken, path)]


def find_rejected(ours: Version, theirs: Version) -> Iterable[Version]:
    """Return the reverts that one side knows while the other one knows a version that they reject."""
    return [*_find_rejected(ours, theirs), *_find_rejected(theirs, ours)]


def _find_rejected(knows: Version, other: Version) -> Iterator[Version]:
    known, others = list_known(knows), list_known(other)
    for revert in knows.ancestors():
        if revert.taken is not None and id(revert) not in others:
            rejected = list_known(revert.taken) - list_known(revert)
            if (rejected & others) - known:
                yield revert

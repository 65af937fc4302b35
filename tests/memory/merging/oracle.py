"""Causal model of branches in plain Python: for every memory the changes in the past of its present version.

It shares no code with the engine. Each write is an event; a version is a content and the set of events in its
past. So it says of two versions which one includes the other, and what a merge may do with them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import Any

Key = tuple[str, str]  # kind and uid of a memory
Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """What a branch shows of one memory: the number of its version there, and its content."""

    number: int
    fields: Fields


Shown = Mapping[Key, Row]
EVENTS = count(1)


@dataclass(frozen=True, eq=False)
class Version:
    """Content of a memory, None where it was deleted, with the versions and events that it comes from."""

    fields: Fields | None
    parents: tuple["Version", ...] = ()
    undone: bool = False  # made by the revert of a merge
    twins: frozenset[Key] = frozenset()  # one of which stands for a fact that a merge closed beside it
    past: frozenset[int] = field(default=frozenset(), init=False)

    def __post_init__(self) -> None:
        inherited = (parent.past for parent in self.parents)
        object.__setattr__(self, "past", frozenset({next(EVENTS)}).union(*inherited))

    def includes(self, other: "Version") -> bool:
        """Return whether every change in the past of the other one is in the past of this one."""
        return other.past <= self.past

    def ancestors(self) -> Iterator["Version"]:
        """Yield this version and all that it came from, each once."""
        seen: set[int] = set()
        waiting = [self]
        while waiting:
            version = waiting.pop()
            if id(version) not in seen:
                seen.add(id(version))
                yield version
                waiting += version.parents


Versions = dict[Key, Version]


class Line:
    """Model of a branch: the version of each memory after each of its commits, and what the branch showed."""

    def __init__(self, parent: "Line | None" = None, fork_seq: int = 0) -> None:
        self.parent, self.fork_seq = parent, fork_seq
        self.states: list[Versions] = [dict(parent.states[fork_seq]) if parent else {}]
        self.shown: list[Shown] = [parent.shown[fork_seq] if parent else {}]

    @property
    def head(self) -> int:
        return len(self.states) - 1

    @property
    def versions(self) -> Versions:
        return self.states[-1]

    def lineage(self) -> list[tuple["Line", int]]:
        """Return this line and those that it comes from, each with the last commit that counts."""
        above = self.parent.lineage()[1:] if self.parent else []
        start = [(self.parent, self.fork_seq)] if self.parent else []
        return [(self, self.head), *start, *above]

    def touched_since(self, other: "Line") -> set[Key]:
        """Return the memories that this line has changed since it and the other one parted."""
        shared = {id(line): limit for line, limit in other.lineage()}
        found: set[Key] = set()
        for line, limit in self.lineage():
            low = min(limit, shared.get(id(line), 0))
            for before, after in pairwise(line.states[low : limit + 1]):
                found |= {key for key in after if after[key] is not before.get(key)}
            if id(line) in shared:
                break
        return found

    def commit(self, versions: Versions, shown: Shown) -> None:
        self.states.append(versions)
        self.shown.append(shown)

    def record_write(self, shown: Shown) -> None:
        """Record a commit by what the branch shows after it: each memory that changed has one more event."""
        before, versions = self.shown[-1], dict(self.versions)
        for key in {*before, *shown}:
            if key[0] != "confirmation" and before.get(key) != shown.get(key):
                row, old = shown.get(key), versions.get(key)
                versions[key] = Version(row.fields if row else None, (old,) if old else ())
        self.commit(versions, shown)

    def record_restore(self, seq: int, shown: Shown) -> None:
        """Record a restore: what differs from then is the version of then, what came since is deleted."""
        before, then, versions = self.shown[-1], self.shown[seq], dict(self.versions)
        for key in {*before, *then}:
            if key[0] == "confirmation":  # no versions: it is there or not
                continue
            if key not in then:
                versions[key] = Version(None, (versions[key],))
            elif key not in before or before[key].fields != then[key].fields:
                versions[key] = self.states[seq][key]
        self.commit(versions, shown)

    def erase(self, uid: str) -> None:
        """Take the content of a fact, and of the verdicts on it, out of all versions."""
        for kind in BLANK:
            key = (kind, uid)
            for version in {one for state in self.states if key in state for one in state[key].ancestors()}:
                if version.fields is not None:
                    object.__setattr__(version, "fields", blank_fields(kind, version.fields))
            self.shown = [_blank_row(shown, key) for shown in self.shown]

    def record_merge_revert(self, seq: int, shown: Shown) -> None:
        """Record the revert of a merge: each version is made from the one before it, without the source's."""
        made, before, versions = self.states[seq], self.states[seq - 1], dict(self.versions)
        for key in (key for key in made if made[key] is not before.get(key)):
            old = before.get(key)
            versions[key] = Version(old.fields if old else None, (old,) if old else (), undone=True)
        self.commit(versions, shown)

    def record_merge_redo(self, seq: int, shown: Shown) -> None:
        """Record the revert of a merge's revert: each version comes from both, the source's too."""
        made, before, versions = self.states[seq], self.states[seq - 1], dict(self.versions)
        for key in (key for key in made if made[key] is not before.get(key)):
            merged = before.get(key)
            parents = (versions[key], *([merged] if merged else []))
            versions[key] = Version(merged.fields if merged else None, parents)
        self.commit(versions, shown)


# ---- erasures ----------------------------------------------------------------------------------------

ERASED = "[erased]"
HASH_LENGTH = 32
BLANK: dict[str, dict[str, Any]] = {
    "fact": {
        **dict.fromkeys(("fact_text", "essence", "content_hash", "norm_hash", "judged_hash"), ERASED),
        **dict.fromkeys(("held_status", "source_id", "source"), ""),
        "category": "general",
        "status": "archived",
        "pinned": False,
        "tags": [],
        "metadata": {},
    },
    "verdict": {"reason": "", "judged_hash": ERASED},
}


def blank_fields(kind: str, fields: Fields) -> Fields:
    """Return what an erasure leaves of a version."""
    return {name: BLANK[kind].get(name, value) for name, value in fields.items()}


def _blank_row(shown: Shown, key: Key) -> Shown:
    if key not in shown:
        return shown
    row = shown[key]
    return {**shown, key: Row(row.number, blank_fields(key[0], row.fields))}


def read_erased(kind: str, fields: Fields) -> Fields:
    """Return a version of an erased fact as it is stored, without the digests in place of its hashes."""
    hashes = [name for name in fields if name.endswith("_hash")]
    assert not any(len(fields[name]) < HASH_LENGTH for name in hashes), "no digest"
    return {**fields, **dict.fromkeys(hashes, ERASED)}


def find_bases(one: Version, other: Version) -> list[Version]:
    """Return the nearest common versions: none of them is in the past of another one."""
    known = {id(version) for version in one.ancestors()}
    common = [version for version in other.ancestors() if id(version) in known]
    return [
        version
        for version in common
        if not any(two is not version and two.includes(version) for two in common)
    ]


# ---- merging field by field ------------------------------------------------------------------------

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


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


RULES = {
    "fact": Rules(
        claim=names("fact_text essence status held_status valid_from valid_until"),
        greater=names("confidence updated_cycle"),
        sets=names("tags"),
        mappings=names("metadata"),
        ignored=ORIGIN
        | names(
            "source_type source_id source origin created_cycle repository content_hash norm_hash judged_hash"
        ),
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


class Unmergeable(Exception):
    """Both sides changed one value, each to another."""


MISSING = object()


def merge_value(base: Any, ours: Any, theirs: Any) -> Any:
    """Merge one value three-way. Raises Unmergeable."""
    if theirs in (base, ours):
        return ours
    if ours == base:
        return theirs
    raise Unmergeable


def merge_mapping(base: Fields, ours: Fields, theirs: Fields) -> Fields:
    merged = {
        name: merge_value(*(side.get(name, MISSING) for side in (base, ours, theirs)))
        for name in {*ours, *theirs}
    }
    return {name: value for name, value in merged.items() if value is not MISSING}


def merge_set(base: Iterable, ours: Iterable, theirs: Iterable) -> list:
    """Keep what either side added, and drop what either side removed."""
    both = {*ours, *theirs}
    removed = {one for one in base if one not in ours or one not in theirs}
    return sorted(both - removed)


def merge_field(rules: Rules, name: str, base: Any, ours: Any, theirs: Any) -> Any:
    """Merge a field that both sides changed by its rule. Raises Unmergeable."""
    if name in rules.counters:
        return ours + theirs - (base or 0)
    if name in rules.mappings:
        return merge_mapping(base or {}, ours, theirs)
    if name in rules.sets:
        return merge_set(base or [], ours, theirs)
    if ours == theirs or name in rules.ignored or base == theirs:
        return ours
    if base == ours:
        return theirs
    if name in rules.greater:
        return max(ours, theirs)
    if name in rules.smaller:
        return min(filter(None, (ours, theirs)))
    if name in rules.ordered:
        return max(ours, theirs, key=rules.ordered[name].index)
    raise Unmergeable


def claims_differ(rules: Rules, base: Fields, ours: Fields, theirs: Fields) -> bool:
    """Return whether each side changed something of the claim that the other did not change likewise."""
    differing = [name for name in rules.claim if ours.get(name) != theirs.get(name)]
    return all(any(side.get(name) != base.get(name) for name in differing) for side in (ours, theirs))


def merge_contents(kind: str, base: Fields | None, ours: Fields, theirs: Fields) -> tuple[dict, set[str]]:
    """Return the merged content, and the fields that conflict, which it leaves out."""
    rules, start = RULES[kind], base or {}
    conflicts = set(rules.claim) if claims_differ(rules, start, ours, theirs) else set()
    merged = {}
    for name in ours.keys() - conflicts:
        try:
            merged[name] = merge_field(rules, name, start.get(name), ours[name], theirs[name])
        except Unmergeable:
            conflicts.add(name)
    return merged, conflicts


def is_same_content(kind: str, one: Fields, two: Fields) -> bool:
    compared = one.keys() - RULES[kind].ignored
    return all(plain(one[name]) == plain(two[name]) for name in compared)


def plain(value: Any) -> Any:
    """Return a value that compares as its field does: the order of a list of tags means nothing."""
    return sorted(value) if isinstance(value, list) and all(isinstance(one, str) for one in value) else value


# ---- what a merge may do with a memory -------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """Class of a change in a plan, the reason of a conflict, and the content that is merged without one."""

    name: str
    reason: str = ""
    merged: Fields | None = None
    conflicts: frozenset[str] = frozenset()


def find_outcomes(kind: str, ours: Version | None, theirs: Version | None) -> list[Outcome]:
    """Return what a merge may do with one memory; nothing at all when the target includes the source's."""
    if theirs is None or (ours is not None and ours.includes(theirs)):
        return []
    if ours is None or theirs.includes(ours):
        return [Outcome("applied", merged=theirs.fields)]
    if ours.fields is None and theirs.fields is None:
        return [Outcome("identical")]
    if ours.undone:  # whatever else it is, nothing is applied without asking
        diverged = [one for one in _merge_diverged(kind, ours, theirs) if one.name != "applied"]
        return [Outcome("conflict", "reverted"), *diverged]
    found = list(_merge_diverged(kind, ours, theirs))
    return [*found, Outcome("conflict", "reverted")] if theirs.undone or was_undone(ours) else found


def was_undone(version: Version) -> bool:
    """Return whether the revert of a merge is in the version's past."""
    return any(one.undone for one in version.ancestors())


def _merge_diverged(kind: str, ours: Version, theirs: Version) -> Iterator[Outcome]:
    if ours.fields is None or theirs.fields is None:
        yield Outcome("conflict", "deleted")
        return
    if is_same_content(kind, ours.fields, theirs.fields):
        yield Outcome("identical", merged=ours.fields)
        return
    for base in find_bases(ours, theirs) or [None]:
        merged, conflicts = merge_contents(kind, base.fields if base else None, ours.fields, theirs.fields)
        if conflicts:
            yield Outcome("conflict", "edited", merged, frozenset(conflicts))
            continue
        yield Outcome("applied", merged=merged)
        if is_same_content(kind, merged, ours.fields):  # the target has changed all that the source has
            yield Outcome("identical", merged=merged)

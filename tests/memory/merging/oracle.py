"""Causal model of branches in plain Python: for every memory the changes in the past of its present version.

It shares no code with the engine. Each write is an event; a version is a content and the set of events in its
past. So it says of two versions which one includes the other, and what a merge may do with them.
"""

from collections.abc import Iterator, Mapping
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
    taken: "Version | None" = None  # what the revert of a merge took back, in the version that it made
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
            shown = [state[key] for state in self.states if key in state]
            shown += [one.taken for two in shown for one in two.ancestors() if one.taken]
            for version in {one for two in shown for one in two.ancestors()}:
                if version.fields is not None:
                    object.__setattr__(version, "fields", blank_fields(kind, version.fields))
            self.shown = [_blank_row(shown, key) for shown in self.shown]

    def record_merge_revert(self, seq: int, shown: Shown) -> None:
        """Record the revert of a merge: each version is made from the one before it, without the source's."""
        made, before, versions = self.states[seq], self.states[seq - 1], dict(self.versions)
        for key in (key for key in made if made[key] is not before.get(key)):
            old, taken = before.get(key), versions[key]
            versions[key] = Version(old.fields if old else None, (old,) if old else (), taken)
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

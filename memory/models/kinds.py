"""What diff, merge, revert and restore know of a kind of memory; each model declares its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field

ORIGIN = frozenset({"session_id", "task_id", "agent_id", "created_at"})


@dataclass(frozen=True)
class MemoryKind:
    """Declaration of a kind of memory. ``rank`` orders kinds: owners before their parts.

    Where both sides of a merge changed a field, ``claim`` fields conflict together, ``counters`` add up, of
    ``maxima`` the greater and of ``minima`` the smaller value stays, ``sets`` and ``mappings`` are merged by
    element, of ``ordered`` fields the later value stays, and ``origin`` fields keep the target's value. Any
    other field conflicts by itself.
    """

    name: str
    title: str  # the column with the line that names a memory
    rank: int
    claim: frozenset[str] = frozenset()
    counters: frozenset[str] = frozenset()
    maxima: frozenset[str] = frozenset()
    minima: frozenset[str] = frozenset()
    sets: frozenset[str] = frozenset()
    mappings: frozenset[str] = frozenset()
    ordered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    origin: frozenset[str] = ORIGIN
    derived: frozenset[str] = frozenset()  # computed from other fields
    unseen: frozenset[str] = frozenset()  # kept, but no part of a comparison
    marks: frozenset[str] = frozenset()  # moved by every edit: alone no change that a merge asks about
    states: str = ""  # the kind that it is a statement on: a verdict on a fact
    identity: tuple[str, ...] = ()  # columns of an identity other than the id
    numbered: str = ""  # the number of a part within its owner
    fork_columns: tuple[str, ...] = ()  # of an owner: what it was forked from, and the last part of both

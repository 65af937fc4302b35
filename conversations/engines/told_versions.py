"""Which version of a memory a session was told, where the memory has changed since."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from conversations.models import Message
from memory.db.querysets import Lineage
from memory.engines.sessions.lines import show_fact
from memory.models import Branch, Fact

Versions = Mapping[UUID, Sequence[Any]]  # of memories that have more than one, each with the newest first


def load_versions(rows: Sequence[Fact | Message], lineage: Lineage) -> Versions:
    """Return all versions along a lineage of those memories of one kind that have changed."""
    found = defaultdict[UUID, list[Any]](list)
    changed = [row.uid for row in rows if row.version > 1]
    for row in type(rows[0]).objects.history(lineage, *changed) if changed else ():
        found[row.uid].append(row)
    return found


def find_told_version(fact: Fact, versions: Versions, branch: Branch, line: str, seq: int | None) -> Fact:
    """Return the version of a fact that a line of a context states, else what a branch showed at a seq.

    Where neither is known it is the first: an answer to a line is never about a text that it did not have.
    """
    every = versions.get(fact.uid, [fact])
    if stated := [row for row in every if show_fact(row) in line]:
        return max(stated, key=lambda row: len(show_fact(row)))
    return find_shown(every, branch, seq) or every[-1]


def find_shown(versions: Sequence[Fact], branch: Branch, seq: int | None) -> Fact | None:
    """Return the version that a branch showed at a seq; None where it is not known."""
    if seq is None:
        return None
    for branch_id, limit in branch.full_lineage(seq):
        begun = [row for row in versions if row.branch_id == branch_id and row.seq_from <= limit]
        if begun:
            return max(begun, key=lambda row: row.seq_from)
    return None


def find_written(message: Message, versions: Versions, branch: Branch) -> int | None:
    """Return the seq of a branch with which a message came to be; None for one of another branch."""
    every = [message, *versions.get(message.uid, ())]
    return min((row.seq_from for row in every if row.branch_id == branch.pk), default=None)

"""Writing versions. Every change goes through a CommitWriter; docs/decisions/0001 has the rules.

The branch's row is locked before anything is looked at: writers of one branch queue there, so that
what they then read stays true until they commit.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import connection, transaction

from memory.actors import Actor
from memory.db.bulk import insert_all, update_one
from memory.db.reading import one
from memory.engines.audit import record
from memory.engines.sessions import begin_sessions, hear_of
from memory.exceptions import BranchArchived, BranchNotFound, NotFound
from memory.models import OPEN, Branch, BranchedModel, Commit
from memory.models.nodes import next_rid

Row = TypeVar("Row", bound=BranchedModel)
TOGETHER = 500  # rows in one statement


@contextmanager
def committing(actor: Actor, branch_name: str, kind: str, message: str = "") -> Iterator["CommitWriter"]:
    """One commit, one transaction. Without a change in it, no commit is made and no seq is used.

    Raises BranchNotFound, BranchArchived.
    """
    next_rid.ready()
    with transaction.atomic(savepoint=False):
        writer = CommitWriter(_locked(actor, branch_name), actor, kind, message)
        _open.branches = being_written() | {writer.branch.pk}
        try:
            yield writer
        finally:
            _open.branches = being_written() - {writer.branch.pk}
        writer.finish()


def being_written() -> frozenset[int]:
    """The branches that this thread has an unfinished commit on."""
    return getattr(_open, "branches", frozenset())


_open = threading.local()


def _locked(actor: Actor, name: str) -> Branch:
    """The branch as it stands, until this transaction ends."""
    if not name.isascii():
        raise BranchNotFound(name=ascii(name))
    # On SQLite the transaction has the lock of all writers from its beginning.
    branch = one(Branch, lock=True, project=actor.project_id, name=name)
    if branch is None:
        raise BranchNotFound(name=name)
    if branch.archived_at:
        raise BranchArchived(name=name)
    if branch.pk in being_written():
        raise RuntimeError(f"{name} is in the middle of a commit already")
    return branch


class CommitWriter:
    """The changes of one commit. Rows are written at once; index and bookkeeping at the end."""

    def __init__(self, branch: Branch, actor: Actor, kind: str, message: str) -> None:
        self.branch, self.actor, self.kind, self.message = branch, actor, kind, message
        self.seq = branch.head = branch.head + 1
        # Never earlier than the commit before: a time then names exactly one seq.
        self.at: datetime = max(actor.now(), branch.head_at + timedelta(microseconds=1))
        self.lineage = branch.lineage()
        self.added = self.changed = self.removed = 0
        self.beside = 0  # rows outside the version tables that belong to this commit
        self.targets: list[str] = []
        self.sessions: set[str] = set()  # those that were begun already, as far as they were unknown
        self._fresh: dict[int, BranchedModel] = {}
        self._closed: dict[int, BranchedModel] = {}
        self.commit: Commit | None = None

    # ---- reading under the lock ----------------------------------------------------------------

    def visible(self, model: type[Row]) -> Any:
        """What this branch shows now, this commit's own changes included."""
        return model.objects.along(self.lineage)

    def get(self, model: type[Row], uid: Any) -> Row:
        """The visible version of a memory. Raises NotFound."""
        for row in self.visible(model).filter(uid=uid).gather():
            return row
        raise NotFound()

    # ---- changing ------------------------------------------------------------------------------

    def add(self, rows: Sequence[Row]) -> Sequence[Row]:
        """New memories, never seen before under their uid. They come with their content only."""
        for row in rows:
            self._stamp(row, prev=None)
        self._insert(rows)
        self.added += len(rows)
        return rows

    def change(self, old: Row, **content: Any) -> Row:
        """A new version with other content. ``old`` is what the branch shows, its own or inherited."""
        self.changed += 1
        return self._succeed(old, content, deleted=False)

    def succeed_all(self, changes: Sequence[tuple[Row, dict[str, Any], bool]]) -> list[Row]:
        """Many versions of one model in few statements: (old version, other content, deleted) of each.

        An old version may be a tombstone of this branch; a memory comes only once.
        """
        for start in range(0, len(changes), TOGETHER):
            self._check_inherited([old for old, _, _ in changes[start : start + TOGETHER]])
        fresh = []
        for old, content, deleted in changes:
            new = type(old)(uid=old.uid, **{**old.content_values(), **content})
            self._stamp(new, prev=old, deleted=deleted)
            fresh.append(new)
            self.removed += deleted
            self.changed += not deleted
        own = [old for old, _, _ in changes if old.branch_id == self.branch.pk]
        for start in range(0, len(own), TOGETHER):
            self._close_all(own[start : start + TOGETHER])
        self._insert(fresh)
        return fresh

    def remove(self, old: Row) -> Row:
        """A tombstone: the memory is gone from here on, and stays in the history."""
        self.removed += 1
        return self._succeed(old, {}, deleted=True)

    def put(self, row: Row, **graph: Any) -> Row:
        """A version as it is, over whatever this branch holds under its uid (merge, restore, revival).

        ``graph`` may set vid, prev_vid, merged_vid and version.
        """
        held = self.held(type(row), row.uid)
        before = held or next((found for found in self._inherited(type(row), row.uid)), None)
        new = type(row)(uid=row.uid, **row.content_values())
        self._stamp(new, prev=before, deleted=row.deleted, **graph)
        self.changed += 1
        return self._replace(held, new, graph)

    def put_all(self, pairs: Sequence[tuple[Row, Row]]) -> None:
        """Versions of one model as they were, each over the open one of this branch: (open, as it was).

        They keep their names in the graph: what is equal to an old version is that version.
        """
        fresh = []
        for held, then in pairs:
            new = type(then)(uid=then.uid, **then.content_values())
            self._stamp(new, held, vid=then.vid, prev_vid=then.prev_vid, merged_vid=then.merged_vid)
            fresh.append(new)
        for start in range(0, len(pairs), TOGETHER):
            self._close_all([held for held, _ in pairs[start : start + TOGETHER]])
        self._insert(fresh)
        self.changed += len(fresh)

    def held(self, model: type[Row], uid: Any) -> Row | None:
        """The open version that this branch itself has of a memory, a tombstone included."""
        return model._base_manager.filter(branch=self.branch, uid=uid, seq_to=OPEN).first()

    def _inherited(self, model: type[Row], uid: Any) -> Iterator[Row]:
        """What the ancestors have of a memory at their fork points, nearest first, tombstones included."""
        for branch, limit in self.lineage[1:]:
            yield from model._base_manager.filter(
                branch=branch, uid=uid, seq_from__lte=limit, seq_to__gt=limit
            )

    def _succeed(self, old: Row, content: dict[str, Any], deleted: bool) -> Row:
        own = old.branch_id == self.branch.pk
        if not own and self.held(type(old), old.uid):
            raise RuntimeError(f"{old.uid} has a version of its own on {self.branch.name}: change that")
        new = type(old)(uid=old.uid, **{**old.content_values(), **content})
        self._stamp(new, prev=old, deleted=deleted)
        return self._replace(old if own else None, new, {})

    def _replace(self, held: Row | None, new: Row, graph: dict[str, Any]) -> Row:
        """Close what the branch holds, if it does, and add the new version."""
        if held is not None and held.seq_from == self.seq:
            return self._overwrite(held, new, graph)
        if held is not None:
            self._close(held)
        self._insert([new])
        return new

    def _overwrite(self, held: Row, new: Row, graph: dict[str, Any]) -> Row:
        """A second change within one commit is the same version; other content is never an old vid's."""
        new.rid = new.vid = held.rid
        new.prev_vid = held.prev_vid if held.vid == held.rid else held.vid
        new.merged_vid, new.version = held.merged_vid, held.version
        for name, value in graph.items():
            setattr(new, name, value)
        new.save(force_update=True)
        self._fresh[new.rid] = new
        return new

    def _close(self, held: Row) -> None:
        closed = type(held)._base_manager.filter(pk=held.pk, seq_to=OPEN)
        if not closed.update(seq_to=self.seq, slot=None):
            raise RuntimeError(f"version {held.pk} was closed by somebody else")
        self._closed[held.rid] = held

    def _close_all(self, held: Sequence[BranchedModel]) -> None:
        """Close versions of one model that were made before this commit."""
        closed = type(held[0])._base_manager.filter(
            pk__in=[row.pk for row in held], seq_to=OPEN, seq_from__lt=self.seq
        )
        if closed.update(seq_to=self.seq, slot=None) != len(held):
            raise RuntimeError("one of many versions was closed by somebody else, or in this commit")
        self._closed.update((row.rid, row) for row in held)

    def _check_inherited(self, some: Sequence[BranchedModel]) -> None:
        inherited = [row.uid for row in some if row.branch_id != self.branch.pk]
        held = type(some[0])._base_manager.filter(branch=self.branch, uid__in=inherited, seq_to=OPEN)
        if inherited and held.exists():
            raise RuntimeError(f"some of them have versions of their own on {self.branch.name}: change those")

    def _stamp(
        self, row: BranchedModel, prev: BranchedModel | None, deleted: bool = False, **graph: Any
    ) -> None:
        row.rid = next_rid()
        row.branch, row.seq_from, row.seq_to, row.deleted = self.branch, self.seq, OPEN, deleted
        row.vid = row.rid
        row.prev_vid = prev.vid if prev else None
        row.version = prev.version + 1 if prev else 1
        row.updated_at = self.at
        for name, value in graph.items():
            setattr(row, name, value)
        row.slot = None if deleted else f"{self.branch.pk}:{row.identity()}"
        row.created_at = row.created_at or self.at

    def _insert(self, rows: Sequence[BranchedModel]) -> None:
        if rows:
            insert_all(rows)
            self._fresh.update((row.rid, row) for row in rows)

    def begin_sessions(self, rows: Sequence[BranchedModel]) -> None:
        """The sessions that rows of this commit name begin here, as far as they are unknown."""
        named = {row.session_id: (row.task_id, row.agent_id) for row in rows if row.session_id}
        if named := {key: who for key, who in named.items() if key not in self.sessions}:
            begin_sessions(self.branch, self.at, named)
            self.sessions |= set(named)

    def hear_of(self, session: str) -> None:
        """A session that is known to be there says something in this commit."""
        hear_of(self.branch, self.at, [session])
        self.sessions.add(session)

    # ---- finishing -----------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        return not (self._fresh or self._closed or self.beside)

    def finish(self) -> None:
        """Index, commit and audit, and the head of the branch. Nothing when nothing was changed."""
        if self.empty:
            return
        self._index()
        if (session := self.actor.session_id) and session not in self.sessions:
            begin_sessions(self.branch, self.at, {session: (self.actor.task_id, self.actor.agent_id)})
        self.branch.head_at = self.at
        update_one(self.branch, "head", "head_at")
        self.record()

    def _index(self) -> None:
        newest = self._newest_fork() if self._closed else None
        for rows in _by_model(self._closed.values()):
            # A closed version ends now: the newest fork saw it, if any did.
            held = [newest is not None and row.seq_from <= newest for row in rows]
            connection.index.close(rows, held, self.seq)  # type: ignore[attr-defined]
        for rows in _by_model(self._fresh.values()):
            connection.index.add([row for row in rows if not row.deleted])  # type: ignore[attr-defined]

    def _newest_fork(self) -> int | None:
        forks = Branch.objects.filter(parent=self.branch).order_by("-fork_seq")
        return forks.values_list("fork_seq", flat=True).first()

    def record(self) -> Commit:
        actor = self.actor
        commit = Commit(
            branch=self.branch, seq=self.seq, at=self.at, kind=self.kind, message=self.message,
            session_id=actor.session_id, agent_id=actor.agent_id, task_id=actor.task_id,
            added=self.added, changed=self.changed, removed=self.removed, actor_kind=actor.kind,
            actor_id=actor.id, actor_label=actor.label, surface=actor.surface,
        )  # fmt: skip
        insert_all([commit])
        detail = {"branch": self.branch.name, "seq": self.seq, "added": self.added, "changed": self.changed}
        detail["removed"] = self.removed
        detail |= {"agent_id": actor.agent_id} if actor.agent_id else {}
        target = self.targets[0] if len(self.targets) == 1 else f"{self.branch.name}@{self.seq}"
        record(actor, self.kind, target, detail, at=self.at)
        self.commit = commit
        return commit


def _by_model(rows: Iterable[BranchedModel]) -> list[list[BranchedModel]]:
    grouped: dict[type, list[BranchedModel]] = {}
    for row in rows:
        grouped.setdefault(type(row), []).append(row)
    return list(grouped.values())

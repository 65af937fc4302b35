"""Commits. Every change of versions goes through a CommitWriter; docs/decisions/0001 has the rules.

The branch's row is locked before anything is read: writers of one branch queue there, so that what they read
stays true until they commit.
"""

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from memory.actors import Actor
from memory.db.backend import get_backend, get_index
from memory.db.bulk_sql import build_row, insert_all, update_one
from memory.db.raw_select import fetch_one
from memory.db.transactions import write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.support.batches import batched
from memory.engines.versions.erased import mask_commit, refuse_erased
from memory.engines.versions.kinds import group_by_model
from memory.engines.versions.lookup import nearest_versions, rows_to_write
from memory.engines.versions.policies import Write, check_direct_write
from memory.engines.versions.repositories import find_named_repository
from memory.engines.versions.session_activity import SessionOrigin, begin_sessions, touch_sessions
from memory.exceptions import BranchArchived, BranchNotFound, BranchReadOnly, NotFound, TooLarge
from memory.metrics import count_commit
from memory.models import OPEN, Branch, BranchedModel, Commit
from memory.models.checksums import set_checksums
from memory.models.nodes import next_rid

Row = TypeVar("Row", bound=BranchedModel)
BATCH_SIZE = 500  # rows in one statement
MERGE, REVERT = "branch.merge", "commit.revert"  # kinds of commits
MAX_COMMIT_ROWS = 5000  # versions that one commit writes while other writers wait


@contextmanager
def open_commit(
    actor: Actor,
    branch_name: str,
    kind: str,
    message: str = "",
    *,
    write: Write = Write.CHANGE,
    bounded: bool = True,
) -> Iterator["CommitWriter"]:
    """Open a commit in one transaction. Without a change, no commit is made and no seq is used.

    ``write`` says what it does, for the branch's policy: ``proposes`` of the writer is True where its facts
    must become proposals. It writes at most MAX_COMMIT_ROWS versions; only reverts and restores, which cannot
    be done in parts, are not ``bounded``. Raises BranchNotFound, BranchArchived, BranchReadOnly,
    DirectWritesRefused; the writer raises TooLarge.
    """
    with write_transaction(), get_backend().join_writes():
        writer = CommitWriter(lock_branch(actor, branch_name), actor, kind, message, bounded)
        writer.require_write(write)
        _open.branches = branches_in_commit() | {writer.branch.pk}
        try:
            yield writer
        finally:
            _open.branches = branches_in_commit() - {writer.branch.pk}
        writer.finish_commit()


def branches_in_commit() -> frozenset[int]:
    """Return the branches on which this thread has an unfinished commit."""
    return getattr(_open, "branches", frozenset())


_open = threading.local()


def lock_branch(actor: Actor, name: str) -> Branch:
    """Return the branch, locked until this transaction ends."""
    if not name.isascii():
        raise BranchNotFound(name=ascii(name))
    # On SQLite the transaction has the write lock from its start.
    branch = fetch_one(Branch, lock=True, project=actor.project_id, name=name)
    if branch is None:
        raise BranchNotFound(name=name)
    branch.end_user = actor.end_user
    if branch.archived_at:
        raise BranchArchived(name=name)
    if branch.pk in branches_in_commit():
        raise RuntimeError(f"{name} is in the middle of a commit already")
    return branch


def lock_branches(actor: Actor, names: Sequence[str]) -> dict[str, Branch]:
    """Return branches by name, locked in the order of their ids: no two merges wait for each other."""
    found = {
        name: fetch_one(Branch, project=actor.project_id, name=name) for name in filter(str.isascii, names)
    }
    keys = {name: branch.pk for name, branch in found.items() if branch}
    return {name: lock_branch(actor, name) for name in sorted(names, key=lambda name: keys.get(name, 0))}


class CommitWriter:
    """Writer of one commit. Rows are written at once; index and bookkeeping at the end."""

    def __init__(self, branch: Branch, actor: Actor, kind: str, message: str, bounded: bool = True) -> None:
        self.branch, self.actor, self.kind, self.message = branch, actor, kind, message
        self.bounded = bounded
        self.seq = branch.head = branch.head + 1
        # Always later than the previous commit: a time then names exactly one seq.
        self.at: datetime = max(actor.write_time(), branch.head_at + timedelta(microseconds=1))
        self.lineage = branch.full_lineage()
        self.added = self.changed = self.removed = 0
        self.turns = 0  # of persons, in its messages: they advance the branch's cycle
        self.side_rows = 0  # rows outside the version tables that belong to this commit
        self.targets: list[str | UUID] = []
        self.detail: dict[str, Any] = {}  # what the audit entry says besides
        self.source: tuple[Branch, int | None] | None = None  # of a merge: the source, and its seq
        self.reverts: UUID | None = None  # the commit that this one takes back
        self.sessions: set[str] = set()  # sessions that this commit has begun or reported already
        self._rids: Iterator[int] = iter(())  # that were taken for rows which follow
        self._fresh: dict[int, BranchedModel] = {}
        self._closed: dict[int, BranchedModel] = {}
        self.commit: Commit | None = None
        self.proposes = False  # whether the branch's policy makes proposals of this commit's facts

    def require_write(self, write: Write) -> None:
        """Check what this commit does against the branch and its policy.

        Raises DirectWritesRefused, BranchReadOnly. A restore of the whole store opens a commit on every
        branch, and changes nothing on a read-only one.
        """
        if self.branch.read_only and write != Write.EXEMPT:
            raise BranchReadOnly(name=self.branch.name)
        self.proposes = check_direct_write(self.actor, self.branch.name, write)

    # ---- reading under the lock ----------------------------------------------------------------

    def visible_rows(self, model: type[Row]) -> Any:
        """Return the rows that this branch shows now, with this commit's own changes."""
        return rows_to_write(self.branch, model)

    def list_fresh(self, model: type[Row]) -> list[Row]:
        """Return the rows that this commit has added so far."""
        return [row for row in self._fresh.values() if isinstance(row, model)]

    def get_version(self, model: type[Row], uid: Any) -> Row:
        """Return the visible version of a memory. Raises NotFound."""
        for row in self.visible_rows(model).fetch_by_key("uid", [uid]):
            return row
        raise NotFound()

    # ---- changing ------------------------------------------------------------------------------

    def add_rows(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Add new memories, given with their content only.

        A uid that derives from the content may have been removed before: the memory then follows its
        tombstone. Raises RuntimeError for a uid that is visible, or was removed in this commit.
        """
        removed = self._load_tombstones(rows)
        self._rids = iter(next_rid.take_ids(len(rows)))
        for row in rows:
            self._stamp_row(row, prev=removed.get(row.uid))
        own = [row for row in removed.values() if row.branch_id == self.branch.pk]
        self._close_all(own)
        self._insert_rows(rows)
        self.added += len(rows)
        return rows

    def change_row(self, old: Row, **content: Any) -> Row:
        """Write a new version with changed content. ``old`` is the visible one, the branch's own or
        inherited.
        """
        refuse_erased(self.branch.project_id, [old])
        self.changed += 1
        return self._add_version(old, content, deleted=False)

    def add_versions(self, changes: Sequence[tuple[Row, dict[str, Any], bool]]) -> list[Row]:
        """Write many versions of one model in few statements: (old version, changed content, deleted) of
        each.

        An old version may be a tombstone of this branch; each memory may occur only once.
        """
        refuse_erased(self.branch.project_id, [old for old, _, deleted in changes if not deleted])
        for batch in batched(changes, BATCH_SIZE):
            self._check_inherited([old for old, _, _ in batch])
        fresh = []
        for old, content, deleted in changes:
            new = type(old)(uid=old.uid, **{**old.content_values(), **content})
            self._stamp_row(new, prev=old, deleted=deleted)
            fresh.append(new)
            self.removed += deleted
            self.changed += not deleted
        own = [old for old, _, _ in changes if old.branch_id == self.branch.pk]
        self._close_all(own)
        self._insert_rows(fresh)
        return fresh

    def remove_row(self, old: Row) -> Row:
        """Write a tombstone: the memory is gone from here on, and stays in the history."""
        self.removed += 1
        return self._add_version(old, {}, deleted=True)

    def restore_versions(self, pairs: Sequence[tuple[Row, Row]]) -> None:
        """Restore versions of one model, each over the open one of this branch: (open, former).

        They keep their vids: a version equal to an old one is that version.
        """
        fresh = []
        for own, then in pairs:
            new = type(then)(uid=then.uid, **then.content_values())
            self._stamp_row(new, own, vid=then.vid, prev_vid=then.prev_vid, merged_vid=then.merged_vid)
            fresh.append(new)
        self._close_all([own for own, _ in pairs])
        self._insert_rows(fresh)
        self.changed += len(fresh)

    def merge_versions(self, pairs: Sequence[tuple[Row | None, Row]]) -> list[Row]:
        """Write versions of one model with the given place in the version graph: (shown version, new one).

        A new version without a ``vid`` is a version of its own; one with a vid is a copy.
        """
        own = [old for old, _ in pairs if old is not None and old.branch_id == self.branch.pk]
        self._close_all(own)
        for old, new in pairs:
            graph = {name: getattr(new, name) for name in ("prev_vid", "merged_vid", "version")}
            vid = {} if new.vid is None else {"vid": new.vid}
            self._stamp_row(new, old, new.deleted, **graph, **vid)
            self.removed += new.deleted
            self.added += not new.deleted and (old is None or old.deleted)
            self.changed += not new.deleted and old is not None and not old.deleted
        fresh = [new for _, new in pairs]
        self._insert_rows(fresh)
        return fresh

    def own_version(self, model: type[Row], uid: Any) -> Row | None:
        """Return the branch's own open version of a memory, a tombstone included."""
        return model._base_manager.filter(branch=self.branch, uid=uid, seq_to=OPEN).first()

    def _load_tombstones(self, rows: Sequence[Row]) -> dict[UUID, Row]:
        """Return the tombstones that new memories of one model follow. Raises RuntimeError for a visible
        one.
        """
        derived = [row.uid for row in rows if row.derives_uid]
        found = nearest_versions(self.lineage, type(rows[0]), derived) if derived else {}
        if shown := [uid for uid, row in found.items() if not row.deleted]:
            raise RuntimeError(f"{shown[0]} is on {self.branch.name}: change it")
        return found

    def _add_version(self, old: Row, content: dict[str, Any], deleted: bool) -> Row:
        own = old.branch_id == self.branch.pk
        if not own and self.own_version(type(old), old.uid):
            raise RuntimeError(f"{old.uid} has a version of its own on {self.branch.name}: change that")
        new = type(old)(uid=old.uid, **{**old.content_values(), **content})
        self._stamp_row(new, prev=old, deleted=deleted)
        return self._replace_version(old if own else None, new)

    def _replace_version(self, own: Row | None, new: Row) -> Row:
        """Close the branch's own version, if any, and add the new one."""
        if own is not None and own.seq_from == self.seq:
            return self._overwrite_version(own, new)
        if own is not None:
            self._close_version(own)
        self._insert_rows([new])
        return new

    def _overwrite_version(self, own: Row, new: Row) -> Row:
        """Overwrite a version of this commit; its content is new, so no old vid applies."""
        new.set_checksum()
        new.rid = new.vid = own.rid
        new.prev_vid = own.prev_vid if own.vid == own.rid else own.vid
        new.merged_vid, new.version = own.merged_vid, own.version
        new.save(force_update=True)
        self._fresh[new.rid] = new
        return new

    def _close_version(self, own: Row) -> None:
        closed = type(own)._base_manager.filter(pk=own.pk, seq_to=OPEN)
        if not closed.update(seq_to=self.seq, slot=None):
            raise RuntimeError(f"version {own.pk} was closed by somebody else")
        self._closed[own.rid] = own

    def _close_all(self, own: Sequence[BranchedModel]) -> None:
        """Close versions of one model that were made before this commit."""
        for batch in batched(own, BATCH_SIZE):
            rows = type(batch[0])._base_manager.filter(pk__in=[row.pk for row in batch])
            closed = rows.filter(seq_to=OPEN, seq_from__lt=self.seq)
            if closed.update(seq_to=self.seq, slot=None) != len(batch):
                raise RuntimeError("one of many versions was closed by somebody else, or in this commit")
            self._closed.update((row.rid, row) for row in batch)

    def _check_inherited(self, batch: Sequence[BranchedModel]) -> None:
        inherited = [row.uid for row in batch if row.branch_id != self.branch.pk]
        own = type(batch[0])._base_manager.filter(branch=self.branch, uid__in=inherited, seq_to=OPEN)
        if inherited and own.exists():
            raise RuntimeError(f"some of them have versions of their own on {self.branch.name}: change those")

    def _stamp_row(
        self, row: BranchedModel, prev: BranchedModel | None, deleted: bool = False, **graph: Any
    ) -> None:
        row.rid = next(self._rids, None) or next_rid()
        row.__dict__["branch_id"] = self.branch.pk  # past Django's descriptor, which is slow
        row._state.fields_cache["branch"] = self.branch
        row.seq_from, row.seq_to, row.deleted = self.seq, OPEN, deleted
        row.vid = row.rid
        row.prev_vid = prev.vid if prev else None
        row.version = prev.version + 1 if prev else 1
        row.updated_at = self.at
        for name, value in graph.items():
            setattr(row, name, value)
        row.slot = None if deleted else f"{self.branch.pk}:{row.identity()}"
        row.created_at = row.created_at or self.at

    @property
    def remaining_rows(self) -> int:
        """Return how many more versions this commit may write."""
        return MAX_COMMIT_ROWS - len(self._fresh) if self.bounded else sys.maxsize

    def _insert_rows(self, rows: Sequence[BranchedModel]) -> None:
        if len(rows) > self.remaining_rows:
            raise TooLarge(what="The commit", limit=f"{MAX_COMMIT_ROWS} rows")
        if rows:
            set_checksums(rows)
            insert_all(rows)
            self._fresh.update((row.rid, row) for row in rows)

    def begin_sessions(self, rows: Sequence[BranchedModel]) -> None:
        """Create the sessions that rows of this commit name, where they are unknown."""
        last = {row.session_id: row for row in rows if row.session_id not in self.sessions}
        if named := {key: SessionOrigin.of_row(row) for key, row in last.items() if key}:
            begin_sessions(self.branch, self.at, named, find_named_repository(self.actor))
            self.sessions |= set(named)

    def touch_session(self, session: str) -> None:
        """Record activity of a known session."""
        touch_sessions(self.branch, self.at, [session])
        self.sessions.add(session)

    # ---- finishing -----------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        return not (self._fresh or self._closed or self.side_rows)

    def finish_commit(self) -> None:
        """Write index, commit, audit entry and branch head; nothing without a change."""
        if self.empty:
            self.branch.head = self.seq - 1
            return
        if self.branch.read_only:
            raise BranchReadOnly(name=self.branch.name)
        self._index_rows()
        mask_commit(self, list(self._fresh.values()))
        if (session := self.actor.session_id) and session not in self.sessions:
            who = SessionOrigin(self.actor.task_id, self.actor.agent_id, **asdict(self.actor.end_user))
            begin_sessions(self.branch, self.at, {session: who}, find_named_repository(self.actor))
        self.branch.head_at = self.at
        self.branch.cycle += self.turns  # the row is locked since it was read
        update_one(self.branch, "head", "head_at", "cycle")
        self.store_commit()

    def _index_rows(self) -> None:
        newest = self._newest_fork() if self._closed else None
        for rows in group_by_model(self._closed.values()):
            # A closed version ends now: if any fork saw it, the newest one did.
            own = [newest is not None and row.seq_from <= newest for row in rows]
            get_index().close_versions(rows, own, self.seq)
        for rows in group_by_model(self._fresh.values()):
            get_index().index_rows([row for row in rows if not row.deleted])

    def _newest_fork(self) -> int | None:
        forks = Branch.objects.filter(parent=self.branch).order_by("-fork_seq")
        return forks.values_list("fork_seq", flat=True).first()

    def store_commit(self) -> Commit:
        actor = self.actor
        counts = {"added": self.added, "changed": self.changed, "removed": self.removed}
        source, source_seq = self.source or (None, None)
        values = {"branch_id": self.branch.pk, "seq": self.seq, "at": self.at, "kind": self.kind}
        values |= {"message": self.message, "surface": actor.surface, "reverts": self.reverts}
        values |= {"source_branch_id": source and source.pk, "source_seq": source_seq}
        values |= {**counts, **actor.origin_fields(), **actor.identity_fields("actor")}
        commit = build_row(Commit, values)
        commit._state.fields_cache |= {"branch": self.branch, "source_branch": source}
        insert_all([commit])
        detail = {"branch": self.branch.name, "seq": self.seq, **counts}
        detail |= ({"agent_id": actor.agent_id} if actor.agent_id else {}) | self.detail
        target = str(self.targets[0]) if len(self.targets) == 1 else f"{self.branch.name}@{self.seq}"
        record_entry(actor, self.kind, target, detail, self.at, [commit, *self._fresh.values()])
        count_commit(self.kind)
        self.commit = commit
        return commit

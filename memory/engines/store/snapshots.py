"""Named points: of a branch (instant), or of the whole store as a frozen copy. Restored by going on."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import Q
from django.utils import timezone

from memory.actors import Actor
from memory.db.copies import CopyFailed, Taken
from memory.db.rerun import rerunning
from memory.engines import cleaning as c
from memory.engines.audit import record
from memory.engines.branches import MAIN, find_branch, point_of
from memory.engines.commits import committing
from memory.engines.going_back import BranchPlan, go_back, plan_of
from memory.engines.mending import counted, lost_rows, mend
from memory.engines.pages import Page, page_of
from memory.exceptions import Conflict, Exists, Invalid, NotFound
from memory.models import Branch, Commit, Snapshot
from memory.models.nodes import next_rid, uuid7

KIND = "snapshot.restore"
MOST = 20  # frozen copies of a project: each may be as large as the store
LONGEST_WINDOW = 100  # days
NAME = c.text(100, least=1)
Point = int | datetime | UUID | None


@dataclass(frozen=True)
class RestorePlan:
    """What a restore does, or has done: to each branch, and which lost rows it puts back."""

    snapshot: Snapshot
    branches: tuple[BranchPlan, ...]
    mended: Mapping[str, int] = field(default_factory=dict)
    dry_run: bool = True


@rerunning
class SnapshotManager:
    def create_snapshot(
        self, *, name: str, actor: Actor, branch_name: str = MAIN, at: Point = None, description: str = ""
    ) -> Snapshot:
        """A name for what a branch holds now, or held at a seq, commit or time. Costs a row.

        Raises Invalid, Exists, BranchNotFound.
        """
        actor.require("write", branch_name)
        branch = find_branch(actor, branch_name)
        made = _new(actor, name, description)
        made.kind, made.branch, made.seq = Snapshot.Kind.BRANCH, branch, point_of(branch, at)
        return _keep(made, actor, {"branch": branch.name, "seq": made.seq})

    def create_store_snapshot(self, *, name: str, actor: Actor, description: str = "") -> Snapshot:
        """A frozen copy of the whole store as of one moment, while others read and write.

        Raises Invalid, Exists, and Conflict where no copy can be made.
        """
        actor.require("admin")
        forbid_patterns(actor)
        made = _new(actor, name, description)
        _check_room(actor, made.name)
        made.kind, made.copy = Snapshot.Kind.STORE, _copies().name(made.pk)
        taken = copying(lambda copies: copies.take(made.copy))
        try:
            made.size, made.sha256 = taken.size, taken.sha256
            made.points = points_of(made.copy, actor.project_id)
            return _keep(made, actor, {"copy": made.copy, "sha256": made.sha256})
        except BaseException:
            _copies().drop(made.copy)
            raise

    def get_snapshot(self, *, snapshot_id: UUID, actor: Actor) -> Snapshot:
        """Raises NotFound."""
        actor.require("read")
        found = (
            Snapshot.objects.select_related("branch").filter(project=actor.project_id, pk=snapshot_id).first()
        )
        if found is None or (found.branch and not actor.may_use(found.branch.name)):
            raise NotFound()
        return found

    def list_snapshots(
        self, *, actor: Actor, kind: str = "", branch_name: str = "", limit: int = 50, cursor: str = ""
    ) -> Page[Snapshot]:
        """The project's snapshots, newest first."""
        actor.require("read")
        rows = Snapshot.objects.filter(project=actor.project_id).select_related("branch")
        if kind:
            rows = rows.filter(kind=kind)
        if branch_name:
            rows = rows.filter(branch=find_branch(actor, branch_name))
        if actor.branch_patterns:
            branches = Branch.objects.filter(project=actor.project_id).values_list("pk", "name")
            allowed = [pk for pk, name in branches if actor.may_use(name)]
            rows = rows.exclude(kind=Snapshot.Kind.BRANCH) | rows.filter(branch__in=allowed)
        return page_of(rows, key="-id", limit=limit, cursor=cursor)

    def drop_snapshot(self, *, snapshot_id: UUID, actor: Actor) -> None:
        """Forget the name, and remove the frozen copy. Raises NotFound."""
        snapshot = self.get_snapshot(snapshot_id=snapshot_id, actor=actor)
        actor.require(*_needs(snapshot, "write"))
        next_rid.ready()
        with transaction.atomic(savepoint=False):
            if not Snapshot.objects.filter(pk=snapshot.pk).delete()[0]:
                raise NotFound()
            record(actor, "snapshot.drop", snapshot.name, {"kind": snapshot.kind})
        if snapshot.copy:
            copying(lambda copies: copies.drop(snapshot.copy))

    # ---- going back ----------------------------------------------------------------------------

    def restore_snapshot(self, *, snapshot_id: UUID, actor: Actor, dry_run: bool = False) -> RestorePlan:
        """Make the branch, or every branch of the project, equal to the snapshot: by one commit for each.

        Nothing leaves the history, so a restore can itself be undone. Of a whole store, branches made
        since are archived, and rows that the store has lost are put back from the copy. Keys, audit,
        snapshots, workspaces and people are left as they are. All or nothing.

        Raises NotFound, BranchArchived, and Conflict for a copy that is gone or damaged.
        """
        snapshot = self.get_snapshot(snapshot_id=snapshot_id, actor=actor)
        actor.require(*_needs(snapshot, "merge"))
        if snapshot.kind == Snapshot.Kind.BRANCH:
            return _restore_branch(snapshot, actor, dry_run)
        forbid_patterns(actor)
        lost = copying(lambda _: _lost(snapshot))
        if dry_run:
            with connection.snapshot():  # type: ignore[attr-defined]
                return RestorePlan(snapshot, tuple(_store_plan(snapshot)), counted(lost))
        next_rid.ready()
        with transaction.atomic(savepoint=False):
            mended = mend(lost, snapshot.project_id)
            plans = _restore_store(snapshot, actor)
            told = {"branches": len(plans), "mended": mended}
            record(actor, KIND, snapshot.name, {"kind": snapshot.kind, **told})
        return RestorePlan(snapshot, plans, mended, dry_run=False)

    @contextmanager
    def reading(self, *, snapshot_id: UUID, actor: Actor) -> Iterator[str]:
        """A database alias that shows the frozen copy, for reading only.

        Raises NotFound, and Conflict for a copy that is gone or damaged.
        """
        snapshot = self.get_snapshot(snapshot_id=snapshot_id, actor=actor)
        actor.require("admin")
        forbid_patterns(actor)
        if not snapshot.copy:
            raise Conflict("This snapshot is a point of a branch: read the branch at it.")
        copying(lambda copies: copies.check(snapshot.copy, _taken(snapshot)))
        with _copies().opened(snapshot.copy) as alias:
            yield alias

    # ---- what the database keeps by itself -----------------------------------------------------

    def get_window(self, *, actor: Actor) -> int:
        """For how many days the database keeps every state of the store; 0 where it does not."""
        forbid_patterns(actor)
        return copying(lambda copies: copies.window())

    def keep_window(self, *, days: int, actor: Actor) -> int:
        """Keep every state for 1 to 100 days from now on, or (0) no longer. Its own tools restore it.

        Raises Invalid, and Conflict for a database that cannot.
        """
        forbid_patterns(actor)
        if not 0 <= days <= LONGEST_WINDOW:
            raise Invalid("days is 0 to {most}.", most=LONGEST_WINDOW, field="days")
        if not connection.features.has_time_window:  # type: ignore[attr-defined]
            raise Conflict("This database keeps no window of its past: make snapshots.")
        copying(lambda copies: copies.keep_window(days))
        next_rid.ready()
        with transaction.atomic(savepoint=False):
            record(actor, "snapshot.window", str(days), {"days": days})
        return days


# ---- the restore of one branch ---------------------------------------------------------------------


def _restore_branch(snapshot: Snapshot, actor: Actor, dry_run: bool) -> RestorePlan:
    branch = snapshot.branch
    assert branch is not None
    if dry_run:
        with connection.snapshot():  # type: ignore[attr-defined]
            plan = plan_of(find_branch(actor, branch.name), int(snapshot.seq or 0))
        return RestorePlan(snapshot, (plan,))
    return RestorePlan(
        snapshot, (_back(snapshot, actor, branch.name, int(snapshot.seq or 0)),), dry_run=False
    )


def _back(snapshot: Snapshot, actor: Actor, name: str, seq: int, **moves: bool) -> BranchPlan:
    with committing(actor, name, KIND, f"back to {snapshot.name}") as commit:
        counts = go_back(commit, seq)
    return BranchPlan(name, commit.seq - commit.empty, seq, counts, **moves)


# ---- the restore of a store ------------------------------------------------------------------------


def _store_plan(snapshot: Snapshot) -> Iterator[BranchPlan]:
    """Of each branch that is here; those that are lost are among the lost rows."""
    for branch in Branch.objects.filter(project=snapshot.project_id).order_by("pk"):
        head, moves = _aim(snapshot, branch)
        plan = plan_of(branch, head, **moves)
        if not plan.empty:
            yield plan


def _aim(snapshot: Snapshot, branch: Branch) -> tuple[int, dict[str, bool]]:
    """The seq to go back to, and whether to archive the branch or take it back into use."""
    head, archived = snapshot.points.get(str(branch.pk), (branch.head, True))
    return head, {
        "archive": archived and not branch.archived_at,
        "unarchive": bool(branch.archived_at) and not archived,
    }


def _restore_store(snapshot: Snapshot, actor: Actor) -> tuple[BranchPlan, ...]:
    # In the order of ids, as every writer of several branches locks them.
    branches = Branch.objects.filter(project=snapshot.project_id).order_by("pk")
    plans = [_restore_one(snapshot, actor, branch) for branch in branches]
    return tuple(plan for plan in plans if not plan.empty)


def _restore_one(snapshot: Snapshot, actor: Actor, branch: Branch) -> BranchPlan:
    head, moves = _aim(snapshot, branch)
    here, was = Branch.objects.filter(pk=branch.pk), branch.archived_at
    plan = BranchPlan(branch.name, branch.head, head, {}, **moves)
    if branch.head < head:  # the row of the branch itself was lost or rewound
        here.update(head=head, head_at=max(branch.head_at, _time_of(branch, head)))
    elif branch.head > head:
        here.update(archived_at=None)
        plan = _back(snapshot, actor, branch.name, head, **moves)
        here.update(archived_at=was)
    if moves["archive"] or moves["unarchive"]:
        here.update(archived_at=timezone.now() if moves["archive"] else None)
    return plan


def _time_of(branch: Branch, seq: int) -> datetime:
    times = Commit.objects.filter(branch=branch, seq=seq).values_list("at", flat=True)
    return times.first() or branch.head_at


def _lost(snapshot: Snapshot) -> Any:
    _copies().check(snapshot.copy, _taken(snapshot))
    return lost_rows(snapshot.copy, snapshot.project_id)


# ---- small ones ------------------------------------------------------------------------------------


def points_of(copy: str, project_id: UUID) -> dict[str, tuple[int, bool]]:
    """Branch -> [head, whether archived] in a frozen copy."""
    rows = _copies().values(copy, Branch, ["pk", "head", "archived_at"], project=project_id)
    return {str(pk): (head, archived_at is not None) for pk, head, archived_at in rows}


def copying(work: Any) -> Any:
    """What ``work`` gives for the backend's copies. Raises Conflict where it fails."""
    try:
        return work(_copies())
    except CopyFailed as error:
        raise Conflict(str(error)) from None


def _copies() -> Any:
    return connection.copies  # type: ignore[attr-defined]


def _taken(snapshot: Snapshot) -> Taken:
    return Taken(snapshot.copy, snapshot.size, snapshot.sha256)


def _needs(snapshot: Snapshot, scope: str) -> tuple:
    """What a key must have to change something by this snapshot: of the whole store always admin."""
    return (scope, snapshot.branch.name) if snapshot.branch else ("admin",)


def forbid_patterns(actor: Actor) -> None:
    """A copy of the store holds every branch."""
    actor.require("admin", "*" if actor.branch_patterns else None)


def _new(actor: Actor, name: str, description: str) -> Snapshot:
    given = {"name": NAME("name", name).strip(), "description": c.text(500)("description", description)}
    return Snapshot(
        pk=uuid7(), project_id=actor.project_id, created_at=timezone.now(), created_by=actor.label, **given
    )


def _check_room(actor: Actor, name: str) -> None:
    known = Q(name=name) | Q(kind=Snapshot.Kind.STORE)
    names = set(Snapshot.objects.filter(known, project=actor.project_id).values_list("name", flat=True))
    if name in names:
        raise _taken_name(name)
    if len(names) >= MOST:
        raise Invalid("A project keeps at most {limit} snapshots of the store: drop one first.", limit=MOST)


def _keep(made: Snapshot, actor: Actor, detail: dict[str, Any]) -> Snapshot:
    next_rid.ready()
    with transaction.atomic(savepoint=False):
        try:
            made.save(force_insert=True)
        except IntegrityError:
            raise _taken_name(made.name) from None
        record(actor, "snapshot.create", made.name, {"kind": made.kind, **detail})
    return made


def _taken_name(name: str) -> Exists:
    return Exists("A snapshot named {name} exists already.", name=name)

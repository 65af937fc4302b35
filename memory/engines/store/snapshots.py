"""Snapshots: named points of a branch, or frozen copies of the whole store. A restore adds commits."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, TypeVar, Unpack
from uuid import UUID

from django.db import IntegrityError
from django.db.models import Q
from django.utils import timezone

from memory.actors import Actor
from memory.db.backend import StoreCopies, get_backend, get_features, get_store_copies
from memory.db.store_copies import CopyDamaged, CopyFailed, CopyInfo
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.branches.restore import BranchPlan, go_back, restore_plan
from memory.engines.fields.copies import (
    DAYS,
    DESCRIPTION,
    DRY_RUN,
    KIND,
    MAX_WINDOW_DAYS,
    NAME,
    SNAPSHOT_FILTERS,
)
from memory.engines.fields.orders import SNAPSHOTS
from memory.engines.store.maintenance import DAMAGED_COPY
from memory.engines.store.recovery import count_lost, lost_rows, restore_lost_rows
from memory.engines.support.pagination import Page, Sorting, paginate
from memory.engines.support.usage import request_count
from memory.engines.versions.commits import open_commit
from memory.engines.versions.lookup import MAIN, find_branch, resolve_own_point
from memory.engines.versions.policies import Write
from memory.exceptions import Conflict, Exists, Invalid, NotFound, StoreDamaged, UnknownField
from memory.models import Branch, Commit, Snapshot
from memory.models.nodes import uuid7

RESTORE = "snapshot.restore"
MAX_SNAPSHOTS = 20  # store snapshots of a project: each may be as large as the store
OF_BRANCH = SNAPSHOT_FILTERS[1]
Point = int | datetime | UUID | None
Result = TypeVar("Result")


@dataclass(frozen=True)
class RestorePlan:
    """Effects of a restore, planned or done: on each branch, and the lost rows that it restores."""

    snapshot: Snapshot
    branches: tuple[BranchPlan, ...]
    mended: Mapping[str, int] = field(default_factory=dict)
    dry_run: bool = True


@retry_methods
class SnapshotManager:
    def keep_state(
        self,
        *,
        name: Annotated[str, NAME],
        actor: Actor,
        kind: Annotated[str, KIND] = Snapshot.Kind.BRANCH,
        branch_name: str = "",
        at: Point = None,
        description: Annotated[str, DESCRIPTION] = "",
    ) -> Snapshot:
        """Create a snapshot of a branch, or of the store: that one has neither branch nor point.

        Raises UnknownField where it is given them, and as ``create_snapshot`` and ``create_store_snapshot``.
        """
        about: dict[str, Any] = {"name": name, "actor": actor, "description": description}
        if KIND.check("kind", kind) == Snapshot.Kind.BRANCH:
            return self.create_snapshot(branch_name=branch_name or MAIN, at=at, **about)
        if branch_name or at is not None:
            raise UnknownField(field="branch" if branch_name else "at")
        return self.create_store_snapshot(**about)

    def create_snapshot(
        self, *, name: str, actor: Actor, branch_name: str = MAIN, at: Point = None, description: str = ""
    ) -> Snapshot:
        """Name the branch's present state, or its state at a seq, commit or time. Costs a row.

        Raises Invalid, Exists, BranchNotFound.
        """
        actor.require_scope("write", branch_name)
        branch = find_branch(actor, branch_name)
        made = build_snapshot(actor, name, description)
        made.kind, made.branch, made.seq = Snapshot.Kind.BRANCH, branch, resolve_own_point(branch, at)
        return store_snapshot(made, actor, {"branch": branch.name, "seq": made.seq})

    def create_store_snapshot(self, *, name: str, actor: Actor, description: str = "") -> Snapshot:
        """Copy the whole store as of one moment, while others read and write.

        Raises Invalid, Exists, and Conflict where no copy can be made.
        """
        actor.require_scope("admin")
        forbid_patterns(actor)
        made = build_snapshot(actor, name, description)
        _check_room(actor, made.name)
        made.kind, made.copy = Snapshot.Kind.STORE, get_store_copies().make_name(made.pk)
        taken = with_copies(lambda copies: copies.take_snapshot(made.copy))
        try:
            made.size, made.sha256 = taken.size, taken.sha256
            made.points = list_points(made.copy, actor.project_id)
            return store_snapshot(made, actor, {"copy": made.copy, "sha256": made.sha256})
        except BaseException:
            get_store_copies().drop_snapshot(made.copy)
            raise

    def get_snapshot(self, *, snapshot_id: UUID, actor: Actor) -> Snapshot:
        """Return a snapshot that the actor may use. Raises NotFound."""
        actor.require_scope("read")
        found = (
            Snapshot.objects.select_related("branch").filter(project=actor.project_id, pk=snapshot_id).first()
        )
        if found is None or (found.branch and not actor.may_use(found.branch.name)):
            raise NotFound()
        return found

    def list_snapshots(
        self,
        *,
        actor: Actor,
        kind: str = "",
        branch_name: Annotated[str, OF_BRANCH] = "",
        **paging: Unpack[Sorting],
    ) -> Page[Snapshot]:
        """List the project's snapshots, newest first."""
        actor.require_scope("read")
        rows = Snapshot.objects.filter(project=actor.project_id).select_related("branch")
        if kind:
            rows = rows.filter(kind=kind)
        if branch_name:
            rows = rows.filter(branch=find_branch(actor, branch_name))
        if actor.branch_patterns:
            branches = Branch.objects.filter(project=actor.project_id).values_list("pk", "name")
            allowed = [pk for pk, name in branches if actor.may_use(name)]
            rows = rows.exclude(kind=Snapshot.Kind.BRANCH) | rows.filter(branch__in=allowed)
        return paginate(rows, SNAPSHOTS, **paging)

    def drop_snapshot(self, *, snapshot_id: UUID, actor: Actor) -> None:
        """Delete a snapshot and its frozen copy. Raises NotFound, scope, branch and agent refusals."""
        snapshot = self.get_snapshot(snapshot_id=snapshot_id, actor=actor)
        actor.require_scope(*required_scope(snapshot, "write"))
        if snapshot.branch is None:
            forbid_patterns(actor)
        with write_transaction():
            if not Snapshot.objects.filter(pk=snapshot.pk).delete()[0]:
                raise NotFound()
            record_entry(actor, "snapshot.drop", snapshot.name, {"kind": snapshot.kind})
        if snapshot.copy:
            with_copies(lambda copies: copies.drop_snapshot(snapshot.copy))

    # ---- restore -------------------------------------------------------------------------------

    def restore_snapshot(
        self, *, snapshot_id: UUID, actor: Actor, dry_run: Annotated[bool, DRY_RUN] = False
    ) -> RestorePlan:
        """Restore the branch, or every branch of the project, to the snapshot, by one commit for each.

        The history keeps everything, so a restore can itself be undone. With a store snapshot, branches made
        since are archived, and rows that the store has lost are restored from the copy. Keys, audit,
        snapshots, workspaces and people are left as they are. All or nothing.

        Raises NotFound, BranchArchived, and Conflict for a copy that is missing or damaged.
        """
        snapshot = self.get_snapshot(snapshot_id=snapshot_id, actor=actor)
        actor.require_scope(*required_scope(snapshot, "merge"))
        if snapshot.kind == Snapshot.Kind.BRANCH:
            return _restore_branch(snapshot, actor, dry_run)
        forbid_patterns(actor)
        lost = with_copies(lambda _: find_lost(snapshot))
        if dry_run:
            with get_backend().snapshot():
                return RestorePlan(snapshot, tuple(_store_plan(snapshot)), count_lost(lost))
        with write_transaction():
            mended = restore_lost_rows(lost, snapshot.project_id)
            if lost:
                request_count(snapshot.project_id)
            plans = _restore_store(snapshot, actor)
            summary = {"branches": len(plans), "mended": mended}
            record_entry(actor, RESTORE, snapshot.name, {"kind": snapshot.kind, **summary})
        return RestorePlan(snapshot, plans, mended, dry_run=False)

    # ---- time window of the database -----------------------------------------------------------

    def get_window(self, *, actor: Actor) -> int:
        """Return for how many days the database keeps every state of the store; 0 where it does not."""
        forbid_patterns(actor)
        return with_copies(lambda copies: copies.window_days())

    def set_retention(self, *, days: Annotated[int, DAYS], actor: Actor) -> int:
        """Set how long the database keeps every state: 1 to 100 days, or 0 for none. Its own tools restore
        it.

        Raises Invalid, and Conflict for a database that cannot.
        """
        forbid_patterns(actor)
        if not 0 <= days <= MAX_WINDOW_DAYS:
            raise Invalid("days is 0 to {most}.", most=MAX_WINDOW_DAYS, field="days")
        if not get_features().has_time_window:
            raise Conflict("This database keeps no window of its past: make snapshots.")
        with_copies(lambda copies: copies.set_retention(days))
        with write_transaction():
            record_entry(actor, "snapshot.window", str(days), {"days": days})
        return days


# ---- the restore of one branch ---------------------------------------------------------------------


def _restore_branch(snapshot: Snapshot, actor: Actor, dry_run: bool) -> RestorePlan:
    branch = snapshot.branch
    assert branch is not None
    if dry_run:
        with get_backend().snapshot():
            plan = restore_plan(find_branch(actor, branch.name), int(snapshot.seq or 0))
        return RestorePlan(snapshot, (plan,))
    return RestorePlan(
        snapshot, (build_branch_plan(snapshot, actor, branch.name, int(snapshot.seq or 0)),), dry_run=False
    )


def build_branch_plan(snapshot: Snapshot, actor: Actor, name: str, seq: int, **moves: bool) -> BranchPlan:
    where = (actor, name, RESTORE, f"back to {snapshot.name}")
    with open_commit(*where, write=Write.EXEMPT, bounded=False) as commit:
        counts = go_back(commit, seq)
    return BranchPlan(name, commit.seq - commit.empty, seq, counts, **moves)


# ---- the restore of a store ------------------------------------------------------------------------


def _store_plan(snapshot: Snapshot) -> Iterator[BranchPlan]:
    """Yield the plan of each present branch; missing branches are among the lost rows."""
    for branch in Branch.objects.filter(project=snapshot.project_id).order_by("pk"):
        head, moves = restore_target(snapshot, branch)
        plan = restore_plan(branch, head, **moves)
        if not plan.empty:
            yield plan


def restore_target(snapshot: Snapshot, branch: Branch) -> tuple[int, dict[str, bool]]:
    """Return the seq to restore, and whether to archive or unarchive the branch."""
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
    head, moves = restore_target(snapshot, branch)
    branch_rows, was = Branch.objects.filter(pk=branch.pk), branch.archived_at
    plan = BranchPlan(branch.name, branch.head, head, {}, **moves)
    if branch.head < head:  # the row of the branch itself was lost or rewound
        branch_rows.update(head=head, head_at=max(branch.head_at, _get_point_time(branch, head)))
    elif branch.head > head:
        branch_rows.update(archived_at=None)
        plan = build_branch_plan(snapshot, actor, branch.name, head, **moves)
        branch_rows.update(archived_at=was)
    if moves["archive"] or moves["unarchive"]:
        branch_rows.update(archived_at=timezone.now() if moves["archive"] else None)
    return plan


def _get_point_time(branch: Branch, seq: int) -> datetime:
    times = Commit.objects.filter(branch=branch, seq=seq).values_list("at", flat=True)
    return times.first() or branch.head_at


def find_lost(snapshot: Snapshot) -> Any:
    get_store_copies().check_snapshot(snapshot.copy, build_copy_info(snapshot))
    return lost_rows(snapshot.copy, snapshot.project_id)


# ---- helpers ---------------------------------------------------------------------------------------


def list_points(copy: str, project_id: UUID) -> dict[str, tuple[int, bool]]:
    """Return (head, whether archived) of each branch in a frozen copy, by branch id."""
    rows = get_store_copies().read_values(copy, Branch, ["pk", "head", "archived_at"], project=project_id)
    return {str(pk): (head, archived_at is not None) for pk, head, archived_at in rows}


def with_copies(work: Callable[[StoreCopies], Result]) -> Result:
    """Call ``work`` with the backend's copies and return its result.

    Raises Conflict where it fails, StoreDamaged where that is since the store is damaged.
    """
    try:
        return work(get_store_copies())
    except CopyDamaged as error:
        raise StoreDamaged(DAMAGED_COPY, answer=error) from None
    except CopyFailed as error:
        raise Conflict(str(error)) from None
    except StoreDamaged as error:
        if get_backend().find_damage():
            raise
        raise Conflict("The copy is damaged: {why}.", why=error.__cause__) from None


def build_copy_info(snapshot: Snapshot) -> CopyInfo:
    return CopyInfo(snapshot.copy, snapshot.size, snapshot.sha256)


def required_scope(snapshot: Snapshot, scope: str) -> tuple:
    """Return the scope to change something by this snapshot; for the whole store always admin."""
    return (scope, snapshot.branch.name) if snapshot.branch else ("admin",)


def forbid_patterns(actor: Actor) -> None:
    """Refuse actors limited to some branches or to one agent: a copy of the store includes all."""
    actor.require_admin_of_all()


def build_snapshot(actor: Actor, name: str, description: str) -> Snapshot:
    traits = {
        "name": NAME.check("name", name).strip(),
        "description": DESCRIPTION.check("description", description),
    }
    return Snapshot(
        pk=uuid7(), project_id=actor.project_id, created_at=timezone.now(), created_by=actor.label, **traits
    )


def _check_room(actor: Actor, name: str) -> None:
    known = Q(name=name) | Q(kind=Snapshot.Kind.STORE)
    names = set(Snapshot.objects.filter(known, project=actor.project_id).values_list("name", flat=True))
    if name in names:
        raise _taken_name(name)
    if len(names) >= MAX_SNAPSHOTS:
        raise Invalid(
            "A project keeps at most {limit} snapshots of the store: drop one first.", limit=MAX_SNAPSHOTS
        )


def store_snapshot(made: Snapshot, actor: Actor, detail: dict[str, Any]) -> Snapshot:
    with write_transaction():
        try:
            made.save(force_insert=True)
        except IntegrityError:
            raise _taken_name(made.name) from None
        record_entry(actor, "snapshot.create", made.name, {"kind": made.kind, **detail})
    return made


def _taken_name(name: str) -> Exists:
    return Exists("A snapshot named {name} exists already.", name=name)

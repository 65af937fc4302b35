"""Lookup of branches by name, of points on them by number, id or time, and of the versions that they show."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Q, QuerySet

from memory.actors import Actor
from memory.db.expressions import StoodAt
from memory.db.querysets import Lineage
from memory.db.raw_select import (
    Statement,
    build_instances,
    fetch_each,
    fetch_one,
    name_fields,
    plan_by_key,
    select_equal,
)
from memory.engines.support.pagination import point_in_list
from memory.exceptions import BranchArchived, BranchNotFound, BranchReadOnly, Invalid, NotFound
from memory.models import Branch, BranchedModel, Commit, Snapshot

Row = TypeVar("Row", bound=BranchedModel)
MAIN = "main"


def find_branch(actor: Actor, name: str) -> Branch:
    """Return the branch of the actor's project, as its end user sees it. Raises BranchNotFound."""
    if not name.isascii():  # branch names are ASCII, and a lone surrogate would fail in the query
        raise BranchNotFound(name=ascii(name))
    if branch := fetch_one(Branch, project=actor.project_id, name=name):
        branch.end_user = actor.end_user
        return branch
    raise BranchNotFound(name=name)


def rows_to_write(branch: Branch, model: type[Row]) -> Any:
    """Return the rows that a commit on a branch, whose head is the commit's own, reads and writes.

    Of kinds whose slots others can take, rows in quarantine are among them. Of end users it shows what
    the commit is made for.
    """
    every = branch.narrow(branch.full_lineage())
    return model.objects.in_lineage(branch.lineage() if model.HIDDEN_FROM_WRITERS else every)


def require_live(branch: Branch) -> Branch:
    """Return a branch that takes changes. Raises BranchArchived, BranchReadOnly."""
    if branch.archived_at:
        raise BranchArchived(name=branch.name)
    if branch.read_only:
        raise BranchReadOnly(name=branch.name)
    return branch


def open_point(actor: Actor, name: str, at: Any, cursor: str = "") -> tuple[Branch, int]:
    """Return a branch that the actor may read and the seq of a point on it, the head by default; for a page
    with a cursor the seq at which the first page was read.

    Raises BranchNotFound, NotFound, Invalid, scope and branch refusals.
    """
    actor.require_scope("read", name)
    branch = find_branch(actor, name)
    return branch, resolve_point(branch, point_in_list(branch, cursor, at))


def open_lineage(actor: Actor, branch_name: str, at: Any = None) -> Lineage:
    """Return what a branch shows at a point to an actor who may read it. Raises as ``open_point``."""
    branch, seq = open_point(actor, branch_name, at)
    return branch.lineage(seq)


def resolve_point(branch: Branch, at: int | datetime | UUID | None) -> int:
    """Return the seq on a branch that a number, a commit's or snapshot's id, or a time names.

    A time before the fork names a seq below 0, which reads the ancestor as it was then: see
    ``Branch.lineage``. Raises Invalid, NotFound.
    """
    if at is None:
        return branch.head
    if isinstance(at, UUID):
        return _commit_seq(branch, at)
    if isinstance(at, datetime):
        return _seq_at_time(branch, at)
    if not isinstance(at, int) or not -branch.inherited_commits <= at <= branch.head:
        raise build_range_error(branch)
    return at


def resolve_own_point(branch: Branch, at: int | datetime | UUID | None) -> int:
    """Return the seq of a point at which the branch existed, to fork it. Raises as ``resolve_point``."""
    if isinstance(at, int) and at < 0:
        raise build_range_error(branch)
    seq = resolve_point(branch, at)
    if seq < 0:
        assert branch.parent is not None
        raise Invalid(
            "{name} was not there yet: it was forked from {parent} later. Name {parent} instead.",
            name=branch.name,
            parent=branch.parent.name,
            field="at",
        )
    return seq


def build_range_error(branch: Branch) -> Invalid:
    return Invalid("{name} has the seqs 0 to {head}.", name=branch.name, head=branch.head, field="at")


def _commit_seq(branch: Branch, commit_id: UUID) -> int:
    seq = branch.commits.filter(pk=commit_id).values_list("seq", flat=True).first()
    seq = _snapshot_seq(branch, commit_id) if seq is None else seq
    if seq is None:
        raise NotFound("There is no commit or snapshot with this id on {name}.", name=branch.name)
    return seq


def _snapshot_seq(branch: Branch, snapshot_id: UUID) -> int | None:
    found = Snapshot.objects.filter(project=branch.project_id, pk=snapshot_id).first()
    return found.get_seq(branch) if found else None


def _seq_at_time(branch: Branch, when: datetime) -> int:
    """Return the seq of the newest commit by then: the branch's own, else one along its ancestors."""
    inherited = 0
    for branch_id, limit in branch.lineage():
        inherited += limit if branch_id != branch.pk else 0
        commits = Commit.objects.filter(branch=branch_id, seq__lte=limit, at__lte=when)
        if seq := commits.order_by("-at").values_list("seq", flat=True).first():
            return seq - inherited
    return -inherited


def nearest_versions(lineage: Lineage, model: type[Row], uids: Iterable[UUID]) -> dict[UUID, Row]:
    """Return each memory's version on the nearest branch of a lineage that has one, tombstones included."""
    found: dict[UUID, Row] = {}
    left = list(uids)
    for point in lineage:
        rows = build_instances(model, model._base_manager.db, fetch_each(plan_nearest(point, model, left)))
        found |= {row.uid: row for row in rows}
        left = [uid for uid in left if uid not in found]
    return found


def select_tombstones(lineage: Lineage, model: type[Row]) -> QuerySet[Row]:
    """Return the tombstones that stand along a lineage; a nearer branch may show a memory again."""
    standing = reduce(or_, (Q(branch=one, seq_from__lte=end, seq_to__gt=end) for one, end in lineage))
    branches = [branch for branch, _ in lineage]  # for the index
    return model._base_manager.filter(standing, branch__in=branches, deleted=True)


def plan_nearest(point: tuple[int, int], model: type[BranchedModel], uids: Sequence[UUID]) -> list[Statement]:
    """Return the statements of ``nearest_versions`` for one branch of a lineage."""
    using, key = model._base_manager.db, ("uid", uids)
    return plan_by_key(using, model, name_fields(model), key, [StoodAt(*point)]) if uids else []


def find_reverted(commit_ids: Sequence[UUID]) -> set[UUID]:
    """Return which of some commits were reverted, by reverts that stand."""
    found = dict(select_equal(Commit, ("id", "reverts"), reverts=commit_ids))
    brought_back = find_reverted(list(found)) if found else set()
    return {target for revert, target in found.items() if revert not in brought_back}

"""Workspaces: a copy of the store to work in apart, promoted as a whole or dropped."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from memory.actors import Actor
from memory.db.rerun import rerunning
from memory.engines import cleaning as c
from memory.engines.audit import record
from memory.engines.pages import Page, page_of
from memory.engines.promotion import Promotion, TableChange
from memory.engines.snapshots import NAME, copying, forbid_patterns
from memory.exceptions import Conflict, Exists, Invalid, NotFound
from memory.models import Branch, Workspace
from memory.models.nodes import next_rid, uuid7

MOST = 5  # open at a time in a project: each may be as large as the store
S = Workspace.State


@dataclass(frozen=True)
class BranchChange:
    """How far a branch has come in a workspace. ``base`` is None for one that was made there."""

    name: str
    base: int | None
    head: int
    archived: bool


@dataclass(frozen=True)
class WorkspaceDiff:
    """What a promote would bring. ``moved``: branches that went on in the store, so that it is refused."""

    workspace: Workspace
    branches: tuple[BranchChange, ...]
    tables: dict[str, TableChange]
    moved: tuple[str, ...]


@rerunning
class WorkspaceEngine:
    def create_workspace(self, *, name: str, actor: Actor, description: str = "") -> Workspace:
        """Copy the store, while others use it. ``place`` of the answer says where to start a server on it.

        Raises Invalid, Exists, and Conflict where no copy can be made.
        """
        forbid_patterns(actor)
        made = _new(actor, name, description)
        _check(made)
        copying(lambda copies: copies.fork(made.copy))
        try:
            made.place = connection.copies.place_of_fork(made.copy)  # type: ignore[attr-defined]
            with connection.copies.opened_fork(made.copy) as alias:  # type: ignore[attr-defined]
                made.points = heads(made.project_id, alias)
            return _keep(made, actor)
        except BaseException:
            connection.copies.drop_fork(made.copy)  # type: ignore[attr-defined]
            raise

    def get_workspace(self, *, workspace_id: UUID, actor: Actor) -> Workspace:
        """Raises NotFound."""
        forbid_patterns(actor)
        found = Workspace.objects.filter(project=actor.project_id, pk=workspace_id).first()
        if found is None:
            raise NotFound()
        return found

    def list_workspaces(
        self, *, actor: Actor, state: str = "", limit: int = 50, cursor: str = ""
    ) -> Page[Workspace]:
        """The project's workspaces, newest first, ended ones included."""
        forbid_patterns(actor)
        rows = Workspace.objects.filter(project=actor.project_id)
        return page_of(rows.filter(state=state) if state else rows, key="-id", limit=limit, cursor=cursor)

    def diff_workspace(self, *, workspace_id: UUID, actor: Actor) -> WorkspaceDiff:
        """What was done in it. Raises NotFound, Conflict for one that is ended or gone."""
        workspace = self._open(workspace_id, actor)
        return copying(lambda copies: _diff(workspace, copies))

    def promote_workspace(self, *, workspace_id: UUID, actor: Actor) -> WorkspaceDiff:
        """Take over all that was done in it, with its history and its audit entries; then it ends.

        Only while no branch of the project has moved since it was made. All or nothing; whoever still
        writes in the workspace is refused from then on. Raises NotFound, Conflict.
        """
        workspace = self._open(workspace_id, actor)
        next_rid.ready()
        return copying(lambda copies: self._promote(workspace, actor, copies))

    def drop_workspace(self, *, workspace_id: UUID, actor: Actor) -> Workspace:
        """Throw it away. Of one that has ended, only what may be left of its files. Raises NotFound."""
        workspace = self.get_workspace(workspace_id=workspace_id, actor=actor)
        next_rid.ready()
        with transaction.atomic(savepoint=False):
            if _end(workspace, actor, S.DROPPED):
                record(actor, "workspace.drop", workspace.name)
        copying(lambda copies: copies.drop_fork(workspace.copy))
        return workspace

    # ---- pieces --------------------------------------------------------------------------------

    def _open(self, workspace_id: UUID, actor: Actor) -> Workspace:
        workspace = self.get_workspace(workspace_id=workspace_id, actor=actor)
        if workspace.state != S.OPEN:
            raise Conflict("This workspace was {state} already.", state=workspace.state)
        return workspace

    def _promote(self, workspace: Workspace, actor: Actor, copies) -> WorkspaceDiff:
        with copies.opened_fork(workspace.copy) as alias, transaction.atomic(using=alias, savepoint=False):
            # Writers there raise a branch's head first: from here on they wait.
            there = Branch.objects.using(alias).order_by("pk")
            list(there.select_for_update())
            promotion = Promotion(workspace, alias, copies)
            diff = _difference(workspace, promotion)
            with transaction.atomic(savepoint=False):
                _refuse_moved(_moved(workspace))
                promotion.carry_out()
                if not _end(workspace, actor, S.PROMOTED):
                    raise Conflict("This workspace has ended already.")
                record(actor, "workspace.promote", workspace.name, _told(diff))
            there.filter(archived_at=None).update(archived_at=timezone.now())
        copies.drop_fork(workspace.copy)
        return diff


def heads(project_id: UUID, alias: str = "default") -> dict[str, list]:
    """Branch -> [head, whether archived], locked where the transaction writes."""
    rows = Branch.objects.using(alias).filter(project=project_id).order_by("pk")
    rows = rows.select_for_update() if transaction.get_connection(alias).in_atomic_block else rows
    return {str(row.pk): [row.head, row.archived_at is not None] for row in rows}


def _moved(workspace: Workspace) -> tuple[str, ...]:
    """The branches of the store that are not as they were."""
    now = heads(workspace.project_id)
    changed = [pk for pk in {*now, *workspace.points} if now.get(pk) != workspace.points.get(pk)]
    names = Branch.objects.filter(pk__in=[int(pk) for pk in changed]).values_list("name", flat=True)
    return tuple(sorted(names)) or (("?",) if changed else ())


def _refuse_moved(moved: tuple[str, ...]) -> None:
    if moved:
        raise Conflict(
            "The store has moved since this workspace was made: {names}. Bring over what you need by export"
            " and import, or make a new workspace.",
            names=", ".join(moved[:10]),
        )


def _diff(workspace: Workspace, copies: Any) -> WorkspaceDiff:
    with copies.opened_fork(workspace.copy) as alias:
        return _difference(workspace, Promotion(workspace, alias, copies))


def _difference(workspace: Workspace, promotion: Promotion) -> WorkspaceDiff:
    moved = _moved(workspace)
    there = Branch.objects.using(promotion.alias).filter(project=workspace.project_id)
    changes = []
    for row in there.order_by("name"):
        base, archived = workspace.points.get(str(row.pk), (None, False))
        if base != row.head or archived != (row.archived_at is not None):
            changes.append(BranchChange(row.name, base, row.head, row.archived_at is not None))
    return WorkspaceDiff(workspace, tuple(changes), promotion.counts(bool(moved)), moved)


def _told(diff: WorkspaceDiff) -> dict:
    return {"branches": {one.name: [one.base, one.head] for one in diff.branches}}


def _new(actor: Actor, name: str, description: str) -> Workspace:
    pk = uuid7()
    name = NAME("name", name).strip()
    return Workspace(
        pk=pk, project_id=actor.project_id, name=name, slot=f"{actor.project_id.hex}:{name}",
        description=c.text(500)("description", description), copy=connection.copies.name(pk, "ws"),  # type: ignore[attr-defined]
        created_at=timezone.now(), created_by=actor.label,
    )  # fmt: skip


def _check(made: Workspace) -> None:
    here = Workspace.objects.open().filter(project=made.project_id)
    if here.filter(slot=made.slot).exists():
        raise _exists(made)
    if here.count() >= MOST:
        raise Invalid("A project has at most {limit} open workspaces: drop one first.", limit=MOST)


def _keep(made: Workspace, actor: Actor) -> Workspace:
    next_rid.ready()
    with transaction.atomic(savepoint=False):
        try:
            made.save(force_insert=True)
        except IntegrityError:
            raise _exists(made) from None
        record(actor, "workspace.create", made.name, {"copy": made.copy})
    return made


def _exists(made: Workspace) -> Exists:
    return Exists("An open workspace named {name} exists already.", name=made.name)


def _end(workspace: Workspace, actor: Actor, state: str) -> bool:
    """False when it has ended already."""
    ended = {"state": state, "slot": None, "ended_at": timezone.now(), "ended_by": actor.label}
    if not Workspace.objects.open().filter(pk=workspace.pk).update(**ended):
        return False
    for name, value in ended.items():
        setattr(workspace, name, value)
    return True

"""Workspaces: separate working copies of the store, promoted as a whole or dropped."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Unpack
from uuid import UUID

from django.db import IntegrityError, connections, transaction
from django.utils import timezone

from memory.actors import Actor
from memory.db.backend import StoreCopies, get_store_copies
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.fields.copies import NAME, PURPOSE
from memory.engines.fields.orders import WORKSPACES
from memory.engines.store.promotion import Promotion, TableChange
from memory.engines.store.release import list_applied, list_known
from memory.engines.store.snapshots import forbid_patterns, with_copies
from memory.engines.support.pagination import Page, Sorting, paginate
from memory.engines.support.usage import request_count
from memory.exceptions import Conflict, Exists, Invalid, NotFound
from memory.models import Branch, Workspace
from memory.models.nodes import uuid7

MAX_WORKSPACES = 5  # open at a time in a project: each may be as large as the store
State = Workspace.State
OLDER_WORKSPACE = (
    "This workspace is from before an upgrade of the store. Start a server on {place} once, which migrates"
    " it, and try again; or drop it."
)
NEWER_WORKSPACE = (
    "A newer Day1 has migrated this workspace, {place}: upgrade the store too, and try again; or drop it."
)


@dataclass(frozen=True)
class BranchChange:
    """Progress of a branch in a workspace. ``base`` is None for a branch that was made there."""

    name: str
    base: int | None
    head: int
    archived: bool


@dataclass(frozen=True)
class WorkspaceDiff:
    """Changes that a promotion would bring. ``moved``: branches with newer commits in the store, which make
    it refuse.
    """

    workspace: Workspace
    branches: tuple[BranchChange, ...]
    tables: dict[str, TableChange]
    moved: tuple[str, ...]


@retry_methods
class WorkspaceEngine:
    def create_workspace(
        self, *, name: Annotated[str, NAME], actor: Actor, description: Annotated[str, PURPOSE] = ""
    ) -> Workspace:
        """Copy the store, while others use it. The result's ``place`` says where to start a server on it.

        Raises Invalid, Exists, and Conflict where no copy can be made.
        """
        forbid_patterns(actor)
        made = build_workspace(actor, name, description)
        check_limits(made)
        with_copies(lambda copies: copies.create_workspace(made.copy))
        try:
            made.place = get_store_copies().get_fork_target(made.copy)
            with get_store_copies().open_workspace(made.copy) as alias:
                made.points = load_heads(made.project_id, alias)
            return store_workspace(made, actor)
        except BaseException:
            get_store_copies().drop_workspace(made.copy)
            raise

    def get_workspace(self, *, workspace_id: UUID, actor: Actor) -> Workspace:
        """Return a workspace. Raises NotFound."""
        forbid_patterns(actor)
        found = Workspace.objects.filter(project=actor.project_id, pk=workspace_id).first()
        if found is None:
            raise NotFound()
        return found

    def list_workspaces(self, *, actor: Actor, state: str = "", **paging: Unpack[Sorting]) -> Page[Workspace]:
        """List the project's workspaces, newest first, ended ones included."""
        forbid_patterns(actor)
        rows = Workspace.objects.filter(project=actor.project_id)
        return paginate(rows.filter(state=state) if state else rows, WORKSPACES, **paging)

    def diff_workspace(self, *, workspace_id: UUID, actor: Actor) -> WorkspaceDiff:
        """Return the changes of a workspace. Raises NotFound, Conflict for one that has ended, is missing,
        or is from before an upgrade of the store.
        """
        workspace = self._get_open(workspace_id, actor)
        return with_copies(lambda copies: load_diff(workspace, copies))

    def promote_workspace(self, *, workspace_id: UUID, actor: Actor) -> WorkspaceDiff:
        """Merge all changes of a workspace into the store, with history and audit entries; then it ends.

        Only while no branch of the project has moved since it was made. All or nothing; later writes in the
        workspace are refused. Raises NotFound, Conflict.
        """
        workspace = self._get_open(workspace_id, actor)
        return with_copies(lambda copies: self._promote_workspace(workspace, actor, copies))

    def drop_workspace(self, *, workspace_id: UUID, actor: Actor) -> Workspace:
        """Drop a workspace and its files; of one that has ended, only remaining files. Raises NotFound."""
        workspace = self.get_workspace(workspace_id=workspace_id, actor=actor)
        with write_transaction():
            if end_workspace(workspace, actor, State.DROPPED):
                record_entry(actor, "workspace.drop", workspace.name)
        with_copies(lambda copies: copies.drop_workspace(workspace.copy))
        return workspace

    # ---- pieces --------------------------------------------------------------------------------

    def _get_open(self, workspace_id: UUID, actor: Actor) -> Workspace:
        workspace = self.get_workspace(workspace_id=workspace_id, actor=actor)
        if workspace.state != State.OPEN:
            raise Conflict("This workspace was {state} already.", state=workspace.state)
        return workspace

    def _promote_workspace(self, workspace: Workspace, actor: Actor, copies: StoreCopies) -> WorkspaceDiff:
        with open_workspace(workspace, copies) as alias, transaction.atomic(using=alias, savepoint=False):
            # Writers there lock a branch's row first: from here on they wait.
            branches = Branch.objects.using(alias).order_by("pk")
            list(branches.select_for_update())
            promotion = Promotion(workspace, alias, copies)
            diff = build_diff(workspace, promotion)
            with write_transaction():
                _refuse_moved(find_moved(workspace))
                promotion.carry_out()
                if not end_workspace(workspace, actor, State.PROMOTED):
                    raise Conflict("This workspace has ended already.")
                record_entry(actor, "workspace.promote", workspace.name, audit_detail(diff))
                request_count(workspace.project_id)
            branches.filter(archived_at=None).update(archived_at=timezone.now())
        copies.drop_workspace(workspace.copy)
        return diff


def load_heads(project_id: UUID, alias: str = "default") -> dict[str, list]:
    """Return [head, whether archived] by branch id; locks the rows inside a transaction."""
    rows = Branch.objects.using(alias).filter(project=project_id).order_by("pk")
    rows = rows.select_for_update() if transaction.get_connection(alias).in_atomic_block else rows
    return {str(row.pk): [row.head, row.archived_at is not None] for row in rows}


def find_moved(workspace: Workspace) -> tuple[str, ...]:
    """Return the names of the store's branches that have changed since the workspace was made."""
    now = load_heads(workspace.project_id)
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


@contextmanager
def open_workspace(workspace: Workspace, copies: StoreCopies) -> Iterator[str]:
    """Open a workspace under a database alias. Raises Conflict for one of another release than the store.

    Its rows are read by the models of this code, and a migration belongs to a server's start: it may ask what
    only the store itself has, and leaves a copy.
    """
    with copies.open_workspace(workspace.copy) as alias:
        applied = set(list_applied(connections[alias]))
        if list_known() - applied:
            raise Conflict(OLDER_WORKSPACE, place=workspace.place)
        if applied - list_known():
            raise Conflict(NEWER_WORKSPACE, place=workspace.place)
        yield alias


def load_diff(workspace: Workspace, copies: StoreCopies) -> WorkspaceDiff:
    with open_workspace(workspace, copies) as alias:
        return build_diff(workspace, Promotion(workspace, alias, copies))


def build_diff(workspace: Workspace, promotion: Promotion) -> WorkspaceDiff:
    moved = find_moved(workspace)
    branches = Branch.objects.using(promotion.alias).filter(project=workspace.project_id)
    changes = []
    for row in branches.order_by("name"):
        base, archived = workspace.points.get(str(row.pk), (None, False))
        if base != row.head or archived != (row.archived_at is not None):
            changes.append(BranchChange(row.name, base, row.head, row.archived_at is not None))
    return WorkspaceDiff(workspace, tuple(changes), promotion.count_rows(bool(moved)), moved)


def audit_detail(diff: WorkspaceDiff) -> dict:
    return {"branches": {one.name: [one.base, one.head] for one in diff.branches}}


def build_workspace(actor: Actor, name: str, description: str) -> Workspace:
    pk = uuid7()
    name = NAME.check("name", name).strip()
    return Workspace(
        pk=pk,
        project_id=actor.project_id,
        name=name,
        slot=f"{actor.project_id.hex}:{name}",
        description=PURPOSE.check("description", description),
        copy=get_store_copies().make_name(pk, "ws"),
        created_at=timezone.now(),
        created_by=actor.label,
    )


def check_limits(made: Workspace) -> None:
    open_workspaces = Workspace.objects.open().filter(project=made.project_id)
    if open_workspaces.filter(slot=made.slot).exists():
        raise build_exists_error(made)
    if open_workspaces.count() >= MAX_WORKSPACES:
        raise Invalid("A project has at most {limit} open workspaces: drop one first.", limit=MAX_WORKSPACES)


def store_workspace(made: Workspace, actor: Actor) -> Workspace:
    with write_transaction():
        try:
            made.save(force_insert=True)
        except IntegrityError:
            raise build_exists_error(made) from None
        record_entry(actor, "workspace.create", made.name, {"copy": made.copy})
    return made


def build_exists_error(made: Workspace) -> Exists:
    return Exists("An open workspace named {name} exists already.", name=made.name)


def end_workspace(workspace: Workspace, actor: Actor, state: str) -> bool:
    """End a workspace; return False when it has ended already."""
    ended = {"state": state, "slot": None, "ended_at": timezone.now(), "ended_by": actor.label}
    if not Workspace.objects.open().filter(pk=workspace.pk).update(**ended):
        return False
    for name, value in ended.items():
        setattr(workspace, name, value)
    return True

"""Branches: made in O(1), isolated both ways, listed, logged and archived."""

import re
from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from memory.actors import Actor
from memory.db.bulk import insert_one
from memory.db.reading import one
from memory.db.rerun import rerunning
from memory.engines import branch_diff as differing
from memory.engines import cleaning as c
from memory.engines.audit import record
from memory.engines.branch_stats import BranchStats, stats_of
from memory.engines.commits import being_written
from memory.engines.pages import Page, asked, mark_from, page_of, point_in_list, read_cursor
from memory.exceptions import BranchArchived, BranchExists, BranchNotFound, Conflict, Invalid, NotFound
from memory.models import MAX_DEPTH, Branch, Commit, Project, Snapshot
from memory.models.nodes import next_rid
from memory.queue import enqueue

MAIN = "main"
NAME = re.compile(r"[a-z0-9._-]+(/[a-z0-9._-]+)*")
PURPOSE = 500  # characters
RESERVED = frozenset("log diff stats enrich restore merge topology expired auto-archive".split())


@rerunning
class BranchManager:
    def create_branch(
        self,
        *,
        name: str,
        actor: Actor,
        parent: str = MAIN,
        at: int | datetime | UUID | None = None,
        purpose: str = "",
    ) -> Branch:
        """A branch that starts with all that ``parent`` holds now, or at a seq, commit or time.

        Raises Invalid (name, purpose, depth, point), BranchExists, BranchNotFound, BranchArchived, scope and
        branch refusals. Every branch grows from main, so main may always be forked; any other parent
        must be one that the actor may use.
        """
        actor.require("write", check_name(name))
        if parent != MAIN:
            actor.require("write", parent)
        purpose = c.text(PURPOSE)("purpose", purpose)
        next_rid.ready()
        with transaction.atomic(savepoint=False):
            branch = self._fork(actor, name, self._open(actor, parent), at, purpose)
            record(actor, "branch.create", name, {"parent": parent, "fork_seq": branch.fork_seq})
        return branch

    def get_branch(self, *, name: str, actor: Actor) -> Branch:
        """A branch by its name, archived ones included. Raises BranchNotFound, BranchForbidden."""
        actor.require("read", name)
        return find_branch(actor, name)

    def list_branches(
        self, *, actor: Actor, archived: bool = False, limit: int = 50, cursor: str = ""
    ) -> Page[Branch]:
        """The branches that the actor may use, by name; archived ones only when asked for."""
        actor.require("read")
        branches = Branch.objects.filter(project=actor.project_id).select_related("parent")
        branches = every = branches if archived else branches.live()
        if actor.branch_patterns:
            allowed = [n for n in branches.values_list("name", flat=True) if actor.may_use(n)]
            branches = branches.filter(name__in=allowed)
        return page_of(branches, key="name", limit=limit, cursor=cursor, of=every)

    def find_branches(self, *, actor: Actor, part: str = "", limit: int = 10) -> list[Branch]:
        """The live branches with this part in their names, those that were written last first."""
        actor.require("read")
        branches = Branch.objects.live().filter(project=actor.project_id).order_by("-head_at", "name")
        if part:
            branches = branches.filter(name__contains=part.lower()) if part.isascii() else branches.none()
        return list(islice((one for one in branches.iterator(100) if actor.may_use(one.name)), limit))

    def log(self, *, name: str, actor: Actor, limit: int = 50, cursor: str = "") -> Page[Commit]:
        """The branch's own commits, newest first."""
        branch = self.get_branch(name=name, actor=actor)
        return page_of(branch.commits.all(), key="-seq", limit=limit, cursor=cursor)

    def diff(
        self, *, name: str, actor: Actor, at: Any = None, against: str = "", against_at: Any = None,
        kind: str = "fact", change: Sequence[str] = (), limit: int = 50, cursor: str = "",
    ) -> differing.BranchDiff:  # fmt: skip
        """What the branch shows otherwise than when it began, or than ``against`` shows (now, or at
        ``against_at``); main began empty. Those of the newest memories first, as the first page saw both.

        Raises BranchNotFound, Invalid, scope and branch refusals.
        """
        actor.require("read", name)
        kind = c.one_of(differing.KINDS)("type", kind)
        changes = [c.one_of(differing.CHANGES)("change", one) for one in change or differing.CHANGES]
        branch = find_branch(actor, name)
        other, start = self._other_side(actor, branch, against, against_at)
        mark = mark_from(repr((branch.pk, kind, changes, against, against_at)))
        place = read_cursor(cursor, mark)
        seq = point_of(branch, point_in_list(branch, cursor, at))
        start = point_of(other, place.get("against", start))
        pin = {"list": mark, "seq": seq, "at": place.get("at", asked(at)), "against": start}
        points = differing.between(other.lineage(start), branch.lineage(seq), actor.project_id)
        page = points.page(differing.KINDS[kind], changes, limit, cursor, pin)
        return differing.BranchDiff(branch, seq, other, start, None if cursor else points.counts(), page)

    def stats(self, *, name: str, actor: Actor) -> BranchStats:
        """What the branch holds now and who works on it. Raises BranchNotFound, BranchForbidden."""
        return stats_of(self.get_branch(name=name, actor=actor))

    def archive_branch(self, *, name: str, actor: Actor) -> Branch:
        """No more writes, not listed; nothing is deleted. Archiving again changes nothing."""
        actor.require("write", name)
        if name == MAIN:
            raise Conflict("The branch main cannot be archived.")
        next_rid.ready()
        with transaction.atomic(savepoint=False):
            branch = find_branch(actor, name)
            if Branch.objects.live().filter(pk=branch.pk).update(archived_at=actor.now()):
                record(actor, "branch.archive", name)
        branch.refresh_from_db()
        return branch

    def restore_branch(self, *, name: str, actor: Actor) -> Branch:
        """Take an archived branch back into use."""
        actor.require("curate", name)
        next_rid.ready()
        with transaction.atomic(savepoint=False):
            branch = find_branch(actor, name)
            if Branch.objects.filter(pk=branch.pk).exclude(archived_at=None).update(archived_at=None):
                record(actor, "branch.restore", name)
                if not branch.indexed:
                    enqueue("memory.hold_past", branch.pk)
        branch.refresh_from_db()
        return branch

    # ---- pieces --------------------------------------------------------------------------------

    def _other_side(self, actor: Actor, branch: Branch, against: str, at: Any) -> tuple[Branch, Any]:
        """The branch to compare with and the point on it: by default where the branch began."""
        if against:
            actor.require("read", against)
            return find_branch(actor, against), at
        if branch.parent is None:
            return branch, 0 if at is None else at
        if at is not None:  # what it began with it shows anyway; any other point is the parent's own
            actor.require("read", branch.parent.name)
        return branch.parent, branch.fork_seq if at is None else at

    def _open(self, actor: Actor, name: str) -> Branch:
        branch = find_branch(actor, name)
        if branch.archived_at:
            raise BranchArchived(name=name)
        if branch.pk in being_written():
            raise RuntimeError(f"{name} cannot be forked in the middle of a commit on it")
        return branch

    def _fork(
        self, actor: Actor, name: str, parent: Branch, at: int | datetime | UUID | None, purpose: str
    ) -> Branch:
        if parent.depth + 1 > MAX_DEPTH:
            raise Invalid("Branches nest at most {limit} deep.", limit=MAX_DEPTH, field="parent")
        seq = point_of(parent, at)
        now = actor.now()
        branch = Branch(
            project_id=actor.project_id, name=name, parent=parent, fork_seq=seq,
            ancestors=parent.lineage_at(seq), depth=parent.depth + 1,
            head_at=max(now, parent.head_at), created_at=now, created_by=actor.label, cycle=parent.cycle,
            purpose=purpose, indexed=seq == parent.head and parent.indexed,
        )  # fmt: skip
        _insert(branch)
        if not branch.indexed:
            enqueue("memory.hold_past", branch.pk)
        return branch


def _insert(branch: Branch) -> None:
    try:
        insert_one(branch)
    except IntegrityError:
        raise BranchExists(name=branch.name) from None


def check_name(name: str) -> str:
    """The name, when it is one that a branch may have. Raises Invalid."""
    segments = name.split("/")
    if len(name) > 200 or not NAME.fullmatch(name) or ".." in name or "." in segments:
        raise Invalid(
            "A branch name is made of a–z, 0–9, '.', '_', '-' in segments between '/', at most 200"
            " characters, without '..'.",
            field="name",
        )
    if segments[-1] in RESERVED:
        raise Invalid("A branch name cannot end in {word}.", word=segments[-1], field="name")
    return name


def find_branch(actor: Actor, name: str) -> Branch:
    """The branch of the actor's project. Raises BranchNotFound."""
    if not name.isascii():  # no branch is named so, and half a surrogate pair cannot even be asked for
        raise BranchNotFound(name=ascii(name))
    if branch := one(Branch, project=actor.project_id, name=name):
        return branch
    raise BranchNotFound(name=name)


def create_main(project: Project, at: datetime | None = None) -> Branch:
    """The first branch of a new project, which begins now or at an earlier time."""
    now = at or timezone.now()
    return Branch.objects.create(project=project, name=MAIN, head_at=now, created_at=now)


def point_of(branch: Branch, at: int | datetime | UUID | None) -> int:
    """The seq on a branch that a number, a commit's or snapshot's id, or a time names.

    Raises Invalid, NotFound.
    """
    if at is None:
        return branch.head
    if isinstance(at, UUID):
        return _commit_seq(branch, at)
    if isinstance(at, datetime):
        return _seq_at_time(branch, at)
    if not isinstance(at, int) or not 0 <= at <= branch.head:
        raise Invalid("{name} has the seqs 0 to {head}.", name=branch.name, head=branch.head, field="at")
    return at


def _commit_seq(branch: Branch, commit_id: UUID) -> int:
    seq = branch.commits.filter(pk=commit_id).values_list("seq", flat=True).first()
    seq = _snapshot_seq(branch, commit_id) if seq is None else seq
    if seq is None:
        raise NotFound("There is no commit or snapshot with this id on {name}.", name=branch.name)
    return seq


def _snapshot_seq(branch: Branch, snapshot_id: UUID) -> int | None:
    found = Snapshot.objects.filter(project=branch.project_id, pk=snapshot_id).first()
    return found.seq_of(branch) if found else None


def _seq_at_time(branch: Branch, when: datetime) -> int:
    newest = branch.commits.filter(at__lte=when).order_by("-at").values_list("seq", flat=True)
    return newest.first() or 0

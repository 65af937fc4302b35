"""Branches: creation in O(1), isolation both ways, lists, log and archive."""

import re
from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import Annotated, Any, Unpack
from uuid import UUID

from django.db import IntegrityError
from django.utils import timezone

from memory.actors import Actor
from memory.db.bulk_sql import insert_one
from memory.db.fields import dumps
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.branches import diff as differing
from memory.engines.branches.commit_titles import load_titles
from memory.engines.branches.distance import CommonPoint, Merges, annotate_distances, find_common_point
from memory.engines.branches.stats import BranchStats, count_stats
from memory.engines.facts.filters import tag_condition
from memory.engines.fields.base import Use
from memory.engines.fields.branches import BRANCH, BRANCH_FILTERS
from memory.engines.fields.filters import make_filter_checks
from memory.engines.fields.orders import BRANCHES
from memory.engines.support import pagination
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Paging, Sorting
from memory.engines.support.usage import count_rows
from memory.engines.support.write_quotas import check_count
from memory.engines.versions.commits import branches_in_commit
from memory.engines.versions.lookup import MAIN, find_branch, resolve_own_point, resolve_point
from memory.exceptions import BranchArchived, BranchExists, Conflict, Invalid
from memory.extensions import load_extensions
from memory.models import MAX_DEPTH, Branch, Commit, Project
from memory.models.branches import BranchQuerySet
from memory.queue.producer import enqueue


def check_unreserved(name: str) -> None:
    """Check that a name belongs to no engine: `create_reserved_branch` alone makes one. Raises Invalid."""
    for prefix in load_extensions("reserved_prefixes").values():
        if name.startswith(prefix):
            raise Invalid(
                "Branches named {prefix}… are made and kept by Day1 itself.", prefix=prefix, field="name"
            )


NAME = re.compile(r"[a-z0-9._-]+(/[a-z0-9._-]+)*")
NAME_LENGTH = BRANCH["name"].type.max_length
DETAIL_CHECKS = BRANCH.field_checks(Use.UPDATE)
FILTERS = make_filter_checks(BRANCH_FILTERS)
MAX_READ_COMMITS = 200  # to find who works on a branch
MAX_AUTHORS = 8
RESERVED = frozenset("log diff stats policy enrich restore merge topology expired auto-archive".split())


@retry_methods
class BranchManager:
    def create_branch(
        self,
        *,
        name: str,
        actor: Actor,
        parent: str = MAIN,
        at: int | datetime | UUID | None = None,
        read_only: bool = False,
        **details: Any,
    ) -> Branch:
        """Create a branch from the head of ``parent``, or from a seq, commit or time of it.

        ``details`` are its purpose, owner, ttl_days and tags. A ``read_only`` one never takes a commit.

        Raises Invalid (name, also a reserved one, details, depth, point), BranchExists, BranchNotFound,
        BranchArchived, scope and branch refusals. Every branch grows from main, so main may always be forked;
        any other parent must be one that the actor may use.
        """
        check_unreserved(name)
        return self.create_reserved_branch(
            name=name, actor=actor, parent=parent, at=at, read_only=read_only, **details
        )

    def create_reserved_branch(
        self,
        *,
        name: str,
        actor: Actor,
        parent: str = MAIN,
        at: int | datetime | UUID | None = None,
        read_only: bool = False,
        **details: Any,
    ) -> Branch:
        """Create a branch as ``create_branch`` does, under a prefix that the calling engine has reserved."""
        actor.require_scope("write", check_name(name))
        c.refuse_secret("name", name)
        if parent != MAIN:
            actor.require_scope("write", parent)
        checked = {**c.validate(details, DETAIL_CHECKS), "read_only": read_only}
        with write_transaction():
            check_count(actor, "branches", Branch.objects.live().filter(project=actor.project_id))
            branch = self._create_fork(actor, name, self._get_writable(actor, parent), at, checked)
            record_entry(actor, "branch.create", name, {"parent": parent, "fork_seq": branch.fork_seq})
        Merges([]).annotate(branch, branch.parent)  # nothing can have been merged yet
        return branch

    def get_branch(self, *, name: str, actor: Actor) -> Branch:
        """Return a branch by name, archived ones included. Raises BranchNotFound, BranchForbidden."""
        branch = self._find_readable(name, actor)
        annotate_distances([branch])
        return branch

    def list_branches(
        self,
        *,
        actor: Actor,
        archived: bool | str = False,
        name: str = "",
        owner: str = "",
        tag: str = "",
        **paging: Unpack[Sorting],
    ) -> Page[Branch]:
        """List the branches that the actor may use, by name; archived ones only with ``archived``."""
        actor.require_scope("read")
        filters = c.validate({"archived": archived, "name": name, "owner": owner, "tag": tag}, FILTERS)
        branches = every = filter_branches(actor, **filters)
        if actor.branch_patterns:
            allowed = [n for n in branches.values_list("name", flat=True) if actor.may_use(n)]
            branches = branches.filter(name__in=allowed)
        page = pagination.paginate(branches, BRANCHES, **paging, of=every)
        annotate_distances(page.results)
        return page

    def find_branches(self, *, actor: Actor, part: str = "", limit: int = 10) -> list[Branch]:
        """Return live branches whose names contain ``part``, most recently written first."""
        actor.require_scope("read")
        branches = Branch.objects.live().filter(project=actor.project_id).order_by("-head_at", "name")
        if part:
            branches = branches.named_like(part)
        return list(islice((one for one in branches.iterator(100) if actor.may_use(one.name)), limit))

    def list_commits(self, *, name: str, actor: Actor, **paging: Unpack[Paging]) -> Page[Commit]:
        """List the branch's own commits with their titles, newest first."""
        branch = self._find_readable(name, actor)
        page = pagination.paginate(branch.commits.all(), "-seq", **paging)
        load_titles(page.results)
        return page

    def compare_branch(
        self,
        *,
        name: str,
        actor: Actor,
        at: Any = None,
        against: Annotated[str, differing.AGAINST] = "",
        against_at: Annotated[Any, differing.AGAINST_AT] = None,
        base: Annotated[str, differing.BASE] = "",
        kind: Annotated[str, differing.KIND] = "fact",
        change: Annotated[Sequence[str], differing.CHANGE] = (),
        limit: int = 50,
        cursor: str = "",
    ) -> differing.BranchDiff:
        """Compare a branch with ``against`` (its parent by default) since their last common ancestor.

        With the base ``point``, the default with ``against_at``, later changes of ``against`` show too. Main
        began empty. The newest memories come first. Raises BranchNotFound, Invalid, scope refusals.
        """
        actor.require_scope("read", name)
        kind, changes = check_changes(kind, change)
        base = check_base(base, differing.ANCESTOR if against_at is None else differing.POINT)
        branch = find_branch(actor, name)
        other, start = self._other_side(actor, branch, against, against_at)
        mark = pagination.mark_from(repr((branch.pk, kind, changes, against, against_at, base)))
        position = pagination.read_cursor(cursor, mark)
        seq = resolve_own_point(branch, pagination.point_in_list(branch, cursor, at))
        start = resolve_point(other, position.get("against", start))
        # What came later on the parent counts too, as behind; later pages stay at what the first one saw.
        is_chosen = bool(against) or against_at is not None or other.pk == branch.pk
        newest = resolve_point(other, position.get("newest", start if is_chosen else other.head))
        read_at = position.get("at", pagination.format_point(at))
        pin = {"list": mark, "at": read_at, "seq": seq, "against": start, "newest": newest}
        common = find_common_point(branch, after := branch.lineage(seq), other, other.lineage(newest))
        base = base if may_start_at(common, other, actor) else differing.POINT
        before = branch.mask(common.lineage) if base == differing.ANCESTOR else other.lineage(start)
        points = differing.order_points(before, after, actor.project_id)
        page = points.list_differences(differing.KINDS[kind], changes, limit, cursor, pin)
        return differing.BranchDiff(
            branch=branch,
            seq=seq,
            against=other,
            against_seq=start,
            base=base,
            ahead=common.ahead,
            behind=common.behind,
            counts=None if cursor else points.counts(),
            page=page,
            since_merge=common.is_merge and base == differing.ANCESTOR,
        )

    def list_authors(self, *, name: str, actor: Actor) -> list[Commit]:
        """Return who made the branch's newest commits, each once: a commit that names agent or actor."""
        newest = self._find_readable(name, actor).commits.order_by("-seq")[:MAX_READ_COMMITS]
        found: dict[Any, Commit] = {
            one.agent_id or (one.actor_kind, one.actor_id, one.actor_label): one for one in reversed(newest)
        }
        return sorted(found.values(), key=lambda one: -one.seq)[:MAX_AUTHORS]

    def load_stats(self, *, name: str, actor: Actor) -> BranchStats:
        """Return the branch's statistics. Raises BranchNotFound, BranchForbidden."""
        return count_stats(self.get_branch(name=name, actor=actor))  # ahead and behind as everywhere

    def archive_branch(self, *, name: str, actor: Actor) -> Branch:
        """Archive a branch: no more writes, not listed, nothing deleted. Archiving again changes nothing.

        Raises Conflict for main, Invalid for one that an engine keeps.
        """
        actor.require_scope("write", name, grows=False)
        if name == MAIN:
            raise Conflict("The branch main cannot be archived.")
        with write_transaction():
            branch = find_branch(actor, name)
            if branch.read_only:
                check_unreserved(name)
            if Branch.objects.live().filter(pk=branch.pk).update(archived_at=actor.write_time()):
                record_entry(actor, "branch.archive", name)
        return self.get_branch(name=name, actor=actor)

    def restore_branch(self, *, name: str, actor: Actor) -> Branch:
        """Restore an archived branch."""
        actor.require_scope("curate", name)
        with write_transaction():
            branch = find_branch(actor, name)
            if Branch.objects.filter(pk=branch.pk).exclude(archived_at=None).update(archived_at=None):
                record_entry(actor, "branch.restore", name)
                if not branch.indexed:
                    enqueue("memory.hold_past", branch.pk)
        return self.get_branch(name=name, actor=actor)

    # ---- pieces --------------------------------------------------------------------------------

    def _find_readable(self, name: str, actor: Actor) -> Branch:
        actor.require_scope("read", name)
        return find_branch(actor, name)

    def _other_side(self, actor: Actor, branch: Branch, against: str, at: Any) -> tuple[Branch, Any]:
        """Return the branch to compare with and the point on it; the fork point by default."""
        if against:
            actor.require_scope("read", against)
            return find_branch(actor, against), at
        if branch.parent is None:
            return branch, 0 if at is None else at
        # the branch shows its start anyway; any other point is the parent's own and needs access
        if at is not None:
            actor.require_scope("read", branch.parent.name)
        return branch.parent, branch.fork_seq if at is None else at

    def _get_writable(self, actor: Actor, name: str) -> Branch:
        branch = find_branch(actor, name)
        if branch.archived_at:
            raise BranchArchived(name=name)
        if branch.pk in branches_in_commit():
            raise RuntimeError(f"{name} cannot be forked in the middle of a commit on it")
        return branch

    def _create_fork(
        self,
        actor: Actor,
        name: str,
        parent: Branch,
        at: int | datetime | UUID | None,
        details: dict[str, Any],
    ) -> Branch:
        if parent.depth + 1 > MAX_DEPTH:
            raise Invalid("Branches nest at most {limit} deep.", limit=MAX_DEPTH, field="parent")
        seq = resolve_own_point(parent, at)
        now = actor.write_time()
        branch = Branch(
            project_id=actor.project_id,
            name=name,
            parent=parent,
            fork_seq=seq,
            ancestors=parent.lineage_at(seq),
            depth=parent.depth + 1,
            head_at=max(now, parent.head_at),
            created_at=now,
            created_by=actor.label,
            cycle=parent.cycle,
            masked=parent.masked,
            **details,
            indexed=seq == parent.head and parent.indexed,
        )
        insert_branch(branch)
        if not branch.indexed:
            enqueue("memory.hold_past", branch.pk)
        return branch


def filter_branches(actor: Actor, archived: bool, name: str, owner: str, tag: str) -> BranchQuerySet:
    """Return the branches of the project that the filters of its list leave."""
    rows = Branch.objects.filter(project=actor.project_id)
    rows = rows if archived else rows.live()
    rows = rows.named_like(name) if name else rows
    rows = rows.filter(owner=owner) if owner else rows
    return rows.filter(tag_condition(dumps(tag))) if tag else rows


def check_base(base: str, default: str) -> str:
    """Return a known base of a comparison. Raises Invalid."""
    return str(c.one_of(differing.BASES)("base", base or default))


def check_changes(kind: str, change: Sequence[str]) -> tuple[str, list[str]]:
    """Return a known kind, and known changes: all of them where none is named. Raises Invalid."""
    changes = [c.one_of(differing.CHANGES)("change", one) for one in change or differing.CHANGES]
    return c.one_of(differing.KINDS)("type", kind), changes


def insert_branch(branch: Branch) -> None:
    try:
        insert_one(branch)
        count_rows(branch.project_id, [branch])
    except IntegrityError:
        raise BranchExists(name=branch.name) from None


def check_name(name: str) -> str:
    """Return a valid branch name. Raises Invalid."""
    segments = name.split("/")
    if len(name) > NAME_LENGTH or not NAME.fullmatch(name) or ".." in name or "." in segments:
        raise Invalid(
            "A branch name is made of a–z, 0–9, '.', '_', '-' in segments between '/', at most 200"
            " characters, without '..'.",
            field="name",
        )
    if segments[-1] in RESERVED:
        raise Invalid("A branch name cannot end in {word}.", word=segments[-1], field="name")
    return name


def create_main(project: Project, at: datetime | None = None) -> Branch:
    """Create the first branch of a new project, starting now or at an earlier time."""
    now = at or timezone.now()
    return Branch.objects.create(project=project, name=MAIN, head_at=now, created_at=now)


def may_start_at(common: CommonPoint, other: Branch, actor: Actor) -> bool:
    """Return whether a comparison may begin at a common point: what ``other`` had at a merge is its own."""
    is_theirs = common.is_merge and common.lineage[0][0] == other.pk
    return not is_theirs or actor.may_use(other.name)

"""The state of a branch, live, expired, merged or archived, and the archiving of those that are done with."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.db.models import TextChoices
from django.utils import timezone
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from memory.actors import Actor
from memory.db.transactions import write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.branches.distance import Merges, PlacedBranch, load_project_merges, read_placed
from memory.engines.support.pagination import Page, build_page, check_limit, read_cursor
from memory.extensions import load_extensions
from memory.models import Branch, MergeRequest

MAX_ARCHIVED = 1000  # in one call
CHILDREN, CHANGED, MERGE_REQUEST = "children", "changed", "merge_request"
LoadReasons = Callable[[Sequence[Branch]], dict[int, tuple[str, Any]]]  # id -> code and sentence


class BranchState(TextChoices):
    LIVE = "live"
    EXPIRED = "expired"
    MERGED = "merged"
    ARCHIVED = "archived"


@dataclass(frozen=True)
class KnownBranches:
    """All branches of a project, by id, with the merges between them; of each what places it in the tree."""

    by_id: dict[int, PlacedBranch]
    merges: Merges
    now: datetime

    @cached_property
    def states(self) -> dict[int, tuple[BranchState, datetime | None]]:
        """Return what ``find_state`` says of each branch."""
        return {pk: self.find_state(branch) for pk, branch in self.by_id.items()}

    def measure_distances(self, branches: Iterable[Branch]) -> None:
        """Set ``ahead`` and ``behind`` of some of the branches."""
        for branch in branches:
            self.merges.annotate(branch, self.by_id[branch.parent_id] if branch.parent_id else None)

    def find_state(self, branch: PlacedBranch) -> tuple[BranchState, datetime | None]:
        """Return the state of a branch, and since when it holds; nobody knows when a live one began to be."""
        if branch.archived_at:
            return BranchState.ARCHIVED, branch.archived_at
        if merge := self.merges.find_complete(branch):
            return BranchState.MERGED, merge.at
        ends = find_expiry(branch)
        return (BranchState.EXPIRED, ends) if ends and ends <= self.now else (BranchState.LIVE, None)

    @cached_property
    def children(self) -> dict[int, list[PlacedBranch]]:
        """Return the branches that were made from each, by name."""
        found: dict[int, list[PlacedBranch]] = {}
        for branch in sorted(self.by_id.values(), key=attrgetter("name")):
            if branch.parent_id is not None:
                found.setdefault(branch.parent_id, []).append(branch)
        return found

    def count_live_children(self, branch: Branch, gone: Container[int] = ()) -> int:
        """Count the branches that were made from one and are in use, without those that are ``gone``."""
        children = self.children.get(branch.pk, [])
        return sum(1 for one in children if not one.archived_at and one.pk not in gone)

    def list_in_order(self) -> Iterator[tuple[PlacedBranch, int]]:
        """Yield every branch after its parent, siblings by name, with its level from 0."""
        roots = sorted(
            (one for one in self.by_id.values() if one.parent_id is None), key=lambda one: one.name
        )
        waiting = [(one, 0) for one in reversed(roots)]
        while waiting:
            branch, level = waiting.pop()
            yield branch, level
            waiting += [(one, level + 1) for one in reversed(self.children.get(branch.pk, []))]


def load_branches(project_id: UUID) -> KnownBranches:
    """Return all branches of a project."""
    return KnownBranches(read_placed(project_id), load_project_merges(project_id), timezone.now())


def load_whole(branches: Iterable[PlacedBranch]) -> dict[int, Branch]:
    """Return some branches with all that is shown of one, by id."""
    return Branch.objects.defer("ancestors").in_bulk([branch.pk for branch in branches])


def find_expiry(branch: Branch | PlacedBranch) -> datetime | None:
    """Return when a branch expires: so many days after its last change; main never does."""
    if branch.ttl_days is None or branch.parent_id is None or branch.head_at is None:
        return None
    return branch.head_at + timedelta(days=branch.ttl_days)


# ---- branches that are done with ---------------------------------------------------------------------


ENDED = (BranchState.EXPIRED, BranchState.MERGED)


def find_requested(branches: Sequence[Branch]) -> dict[int, tuple[str, Any]]:
    """Return the branches that a pending merge request would merge, or merge into."""
    ids = {branch.pk for branch in branches}
    pending = MergeRequest.objects.filter(project=branches[0].project_id, slot__isnull=False)
    found: dict[int, tuple[str, Any]] = {}
    for number, *ends in pending.order_by("-number").values_list("number", "source_id", "target_id"):
        text = gettext("Merge request %(number)s is open.") % {"number": number}
        found |= {pk: (MERGE_REQUEST, text) for pk in ends if pk in ids}
    return found


@dataclass(frozen=True)
class ExpiredBranch:
    """A branch that is done with, and since when. ``kept`` and ``reason`` say why it is not archived."""

    branch: Branch
    state: BranchState
    since: datetime
    kept: str = ""
    reason: Any = ""
    archived: bool = False


@dataclass(frozen=True)
class ArchiveReport:
    """What ``auto_archive`` did, or would do, branch by branch; ``more`` when not all were looked at."""

    dry_run: bool
    results: list[ExpiredBranch] = field(default_factory=list)
    more: bool = False

    @property
    def count(self) -> int:
        """Return how many were archived, or would be."""
        return sum(not one.kept for one in self.results)


def find_expired(actor: Actor, known: KnownBranches) -> list[ExpiredBranch]:
    """Return the branches that are done with, by name, each with the reason why it would be left."""
    ended = list(_list_ended(actor, known))
    known.measure_distances(branch for branch, _state, _since in ended)
    needed = load_reasons([branch for branch, _state, _since in ended])
    found, gone = [], set[int]()
    # Children first: a branch whose children all go can go with them.
    for branch, state, since in sorted(ended, key=lambda one: -one[0].depth):
        kept, reason = needed.get(branch.pk) or find_reason(actor, known, branch, gone)
        if not kept:
            gone.add(branch.pk)
        found.append(ExpiredBranch(branch, state, since, kept, reason))
    return sorted(found, key=lambda one: one.branch.name)


def _list_ended(actor: Actor, known: KnownBranches) -> Iterator[tuple[Branch, BranchState, datetime]]:
    found = {pk: known.find_state(branch) for pk, branch in known.by_id.items()}
    ended = [known.by_id[pk] for pk, (state, _since) in found.items() if state in ENDED]
    for pk, branch in load_whole(ended).items():
        state, since = found[pk]
        if branch.parent_id is not None and since and actor.may_use(branch.name):
            yield branch, state, since


def load_reasons(branches: Sequence[Branch]) -> dict[int, tuple[str, Any]]:
    """Return the branches that something else still needs, with code and sentence."""
    loads: tuple[LoadReasons, ...] = (find_requested, *load_extensions("kept_branches").values())
    found: dict[int, tuple[str, Any]] = {}
    for load in loads if branches else ():
        found = load(branches) | found
    return found


def find_reason(actor: Actor, known: KnownBranches, branch: Branch, gone: Container[int]) -> tuple[str, Any]:
    """Return why a branch is left, as code and sentence; two empty texts where nothing keeps it."""
    if count := known.count_live_children(branch, gone):
        text = ngettext_lazy(
            "%(count)s branch that was made from it is in use.",
            "%(count)s branches that were made from it are in use.",
            "count",
        )
        return CHILDREN, text % {"count": count}
    if not actor.has_scope("write"):
        return "scope_missing", _("You may not archive it.")
    return "", ""


def list_page(rows: Sequence[ExpiredBranch], limit: int, cursor: str, mark: str) -> Page[ExpiredBranch]:
    """Return a page of rows that are ordered by name. Raises Invalid."""
    check_limit(limit)
    position = read_cursor(cursor, mark)
    back = bool(position.get("back"))
    if position:
        name = position["key"]
        rows = [one for one in rows if (one.branch.name < name if back else one.branch.name > name)]
    batch = list(rows[::-1] if back else rows)[: limit + 1]
    return build_page(
        batch, limit, back, bool(cursor), lambda one: {"key": one.branch.name, "list": mark}, lambda _one: 0
    )


def archive_expired(actor: Actor, dry_run: bool) -> ArchiveReport:
    """Archive what is done with, as far as nothing keeps it; with ``dry_run`` only tell."""
    found = find_expired(actor, load_branches(actor.project_id))
    chosen, more = found[:MAX_ARCHIVED], len(found) > MAX_ARCHIVED
    if dry_run:
        return ArchiveReport(True, chosen, more)
    done = {
        one.branch.pk: archive_one(actor, one) for one in sorted(chosen, key=lambda one: -one.branch.depth)
    }
    return ArchiveReport(False, [done[one.branch.pk] for one in chosen], more)


def archive_one(actor: Actor, one: ExpiredBranch) -> ExpiredBranch:
    """Archive a branch that nothing keeps; one that was written to, forked or archived meanwhile is left."""
    if one.kept:
        return one
    with write_transaction():
        same = Branch.objects.live().filter(pk=one.branch.pk, head=one.branch.head)
        in_use = Branch.objects.live().filter(parent=one.branch.pk).exists()
        needed = load_reasons([one.branch])
        if in_use or needed or not same.update(archived_at=actor.write_time()):
            code, reason = needed.get(one.branch.pk, (CHANGED, _("It was changed meanwhile.")))
            return ExpiredBranch(one.branch, one.state, one.since, code, reason)
        record_entry(actor, "branch.archive", one.branch.name, {"reason": one.state.value})
    return ExpiredBranch(one.branch, one.state, one.since, archived=True)

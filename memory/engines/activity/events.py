"""What happens in a project, to be followed live: the audit trail in the order of its seal.

Commits of several branches become visible in no order of their own, so neither a time nor an id says what a
reader has seen already. The place in the sealed trail does: it is given once, to what is committed. Reading
on from a place misses nothing and repeats nothing, whichever process is asked, and whatever ended meanwhile.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db.models import F, Max, Value
from django.db.models.functions import Concat, Left

from memory.actors import Actor
from memory.db.rerun import rerunning
from memory.engines.audit import seal
from memory.engines.branches import find_branch
from memory.exceptions import Invalid
from memory.models import AuditEntry, BranchedModel, Commit, Project

LONGEST = 200  # characters of a line
DESCRIBED = 20  # a commit of more memories is told by its counts
TOGETHER = 500  # entries of the trail that are read at once
OF_BRANCHES = frozenset({"branch.create", "branch.archive", "branch.restore"})
NAMES = {"factlink": "link", "factassessment": "verdict"}  # what a kind of row is called, if not as its model
LINES: dict[str, Any] = {
    "fact": F("essence"),
    "factassessment": F("status"),
    "relation": Concat("source_entity", Value(" "), "relation_type", Value(" "), "target_entity"),
}


@dataclass(frozen=True)
class Change:
    """What a commit did to one memory. ``line`` is how it begins; empty for what has no text."""

    type: str
    uid: UUID
    change: str
    line: str


@dataclass(frozen=True)
class Event:
    """One thing that happened on a branch; ``commit`` is None for what happened to the branch itself."""

    place: int
    kind: str
    branch: str
    at: datetime
    actor_kind: str
    actor_label: str
    surface: str
    commit: Commit | None = None
    changes: Sequence[Change] = field(default_factory=list)


@dataclass(frozen=True)
class Watch:
    """What a follower wants of a project and may see. Branches and kinds may be patterns; none means all.

    It begins after the place ``after``; ``newest`` was the last when it was asked for.
    """

    actor: Actor
    branches: tuple[str, ...]
    kinds: tuple[str, ...]
    after: int
    newest: int

    def sees(self, event: Event) -> bool:
        return (
            self.actor.may_use(event.branch)
            and _fits(event.branch, self.branches)
            and _fits(event.kind, self.kinds)
        )


@rerunning
class EventEngine:
    def watch(
        self, *, actor: Actor, branches: Sequence[str] = (), kinds: Sequence[str] = (),
        after: int | None = None,
    ) -> Watch:  # fmt: skip
        """What to follow, from now on or after a place.

        Raises ScopeMissing; BranchNotFound and BranchForbidden for a branch that is named without ``*``
        or ``?``; Invalid for a place that the trail has not reached.
        """
        actor.require("read")
        for name in branches:
            if not {"*", "?"} & set(name):
                actor.require("read", name)
                find_branch(actor, name)
        newest = self.newest(project_id=actor.project_id)
        if after is not None and after > newest:
            text = "There has been no event {after} yet: the newest is {newest}."
            raise Invalid(text, after=after, newest=newest, field="last_event_id")
        return Watch(actor, tuple(branches), tuple(kinds), newest if after is None else after, newest)

    def newest(self, *, project_id: UUID) -> int:
        """The place of the newest entry, everything that is committed by now included."""
        trail = AuditEntry.objects.filter(project=project_id)
        while trail.filter(place=None).exists():
            seal(Project.objects.get(pk=project_id))
        return trail.aggregate(last=Max("place"))["last"] or 0

    def read(self, *, project_id: UUID, after: int) -> tuple[list[Event], int]:
        """The events after a place, the oldest first, and up to which place they were looked for.

        At most 500 entries are looked at; when the place is still ``after``, there is nothing more.
        """
        newest = self.newest(project_id=project_id)
        if newest <= after:
            return [], after
        trail = AuditEntry.objects.filter(project=project_id, place__gt=after).order_by("place")
        entries = list(trail[:TOGETHER])
        return _events(project_id, entries), entries[-1].place or after


def _fits(word: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(word, pattern) for pattern in patterns)


# ---- from the trail to events ------------------------------------------------------------------------


def _events(project_id: UUID, entries: Sequence[AuditEntry]) -> list[Event]:
    commits = _commits(project_id, entries)
    changes = _changes([commit for commit in commits.values() if _size(commit) <= DESCRIBED])
    found = []
    for entry in entries:
        commit = commits.get(entry.pk)
        if commit or entry.action in OF_BRANCHES:
            name = commit.branch.name if commit else entry.target
            told = changes.get(_place(commit), []) if commit else []
            found.append(_event(entry, name, commit, told))
    return found


def _event(entry: AuditEntry, branch: str, commit: Commit | None, changes: Sequence[Change]) -> Event:
    return Event(
        place=entry.place or 0, kind=entry.action, branch=branch, at=entry.at, actor_kind=entry.actor_kind,
        actor_label=entry.actor_label, surface=entry.surface, commit=commit, changes=changes,
    )  # fmt: skip


def _commits(project_id: UUID, entries: Sequence[AuditEntry]) -> dict[int, Commit]:
    """The commit that each entry tells of, by the entry's id."""
    told = {entry.pk: (entry.detail.get("branch"), entry.detail.get("seq")) for entry in entries}
    seqs: dict[Any, set[Any]] = {}
    for name, seq in told.values():
        if isinstance(name, str) and isinstance(seq, int):
            seqs.setdefault(name, set()).add(seq)
    found = {}
    for name, some in seqs.items():
        commits = Commit.objects.filter(branch__project=project_id, branch__name=name, seq__in=some)
        found.update({(name, commit.seq): commit for commit in commits.select_related("branch")})
    # Other acts may name a point of a branch too: they are not of the kind that the commit there is.
    pairs = [(entry, found.get(told[entry.pk])) for entry in entries]
    return {entry.pk: commit for entry, commit in pairs if commit and commit.kind == entry.action}


def _size(commit: Commit) -> int:
    return commit.added + commit.changed + commit.removed


def _place(commit: Commit) -> tuple[int, int]:
    return commit.branch_id, commit.seq


def _changes(commits: Sequence[Commit]) -> dict[tuple[int, int], list[Change]]:
    """What each commit did, memory by memory."""
    seqs: dict[int, list[int]] = {}
    for commit in commits:
        seqs.setdefault(commit.branch_id, []).append(commit.seq)
    found: dict[tuple[int, int], list[Change]] = {}
    for model in (one for one in apps.get_models() if issubclass(one, BranchedModel)):
        for branch, some in seqs.items():
            for seq, change in _versions(model, branch, some):
                found.setdefault((branch, seq), []).append(change)
    return found


def _versions(model: Any, branch: int, seqs: Sequence[int]) -> Iterable[tuple[int, Change]]:
    name = model._meta.model_name
    line = LINES.get(name) or (Left(model.TEXT, LONGEST) if model.TEXT else Value(""))
    rows = model._base_manager.filter(branch=branch, seq_from__in=seqs).order_by("rid").annotate(line=line)
    for uid, seq, deleted, before, text in rows.values_list("uid", "seq_from", "deleted", "prev_vid", "line"):
        change = "removed" if deleted else "added" if before is None else "changed"
        yield seq, Change(NAMES.get(name, name), uid, change, "" if deleted else text[:LONGEST])

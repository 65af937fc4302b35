"""Project events for live followers: the audit trail in the order of its seal.

Commits of several branches become visible in no order of their own, so neither a time nor an id can serve as
a reader's cursor. The position in the sealed trail can: it is assigned once, to committed entries only.
Reading on from a position misses nothing and repeats nothing, in any process and after any crash.
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
from memory.db.expressions import NotHidden
from memory.db.transactions import retry_methods
from memory.engines.audit.trail import seal_entries
from memory.engines.versions.lookup import find_branch
from memory.exceptions import Invalid
from memory.models import AuditEntry, BranchedModel, Commit, FactAssessment, Project

MAX_LINE_LENGTH = 200  # characters of a change's text line
DESCRIBED = 20  # larger commits are reported by their counts only
BATCH_SIZE = 500  # trail entries per read
OF_BRANCHES = frozenset({"branch.create", "branch.archive", "branch.restore", "policy.set", "policy.delete"})
OF_REQUESTS = "merge_request."  # events on the branch that the request merges into
# names of versioned kinds that differ from their model's
NAMES = {"factlink": "link", "factassessment": "verdict"}
LINES: dict[str, Any] = {
    "fact": F("essence"),
    "factassessment": FactAssessment.select_status(),
    "relation": Concat("source_entity", Value(" "), "relation_type", Value(" "), "target_entity"),
}


@dataclass(frozen=True)
class Change:
    """Change of one memory by a commit. ``line`` is the start of its text; empty for rows without text."""

    type: str
    uid: UUID
    change: str
    line: str


@dataclass(frozen=True)
class Event:
    """Event on a branch; ``commit`` is None for changes of the branch itself."""

    position: int
    kind: str
    branch: str
    at: datetime
    actor_kind: str
    actor_id: str
    actor_label: str
    surface: str
    commit: Commit | None = None
    changes: Sequence[Change] = field(default_factory=list)


@dataclass(frozen=True)
class Watch:
    """Filter of a follower: branches and kinds, which may be patterns; none means all.

    It starts after the position ``after``; ``newest`` was the last position when the watch was created.
    """

    actor: Actor
    branches: tuple[str, ...]
    kinds: tuple[str, ...]
    after: int
    newest: int

    def matches_event(self, event: Event) -> bool:
        return (
            self.actor.may_use(event.branch)
            and matches_any(event.branch, self.branches)
            and matches_any(event.kind, self.kinds)
        )


@retry_methods
class EventEngine:
    def open_watch(
        self,
        *,
        actor: Actor,
        branches: Sequence[str] = (),
        kinds: Sequence[str] = (),
        after: int | None = None,
    ) -> Watch:
        """Return a watch on the given branches and kinds, from now on or after a position.

        Raises ScopeMissing; BranchNotFound and BranchForbidden for a branch that is named without ``*`` or
        ``?``; Invalid for a position that the trail has not reached.
        """
        actor.require_scope("read")
        for name in branches:
            if not {"*", "?"} & set(name):
                actor.require_scope("read", name)
                find_branch(actor, name)
        newest = self.latest_position(project_id=actor.project_id)
        if after is not None and after > newest:
            text = "There has been no event {after} yet: the newest is {newest}."
            raise Invalid(text, after=after, newest=newest, field="last_event_id")
        return Watch(actor, tuple(branches), tuple(kinds), newest if after is None else after, newest)

    def latest_position(self, *, project_id: UUID) -> int:
        """Return the position of the newest entry, after sealing everything committed by now."""
        trail = AuditEntry.objects.filter(project=project_id)
        while trail.filter(place=None).exists():
            seal_entries(Project.objects.get(pk=project_id))
        return trail.aggregate(last=Max("place"))["last"] or 0

    def read_position(self, *, project_id: UUID) -> int:
        """Return the position of the newest sealed entry, in one query: what came later is not counted."""
        trail = AuditEntry.objects.filter(project=project_id)
        return trail.aggregate(last=Max("place"))["last"] or 0

    def read_events(self, *, project_id: UUID, after: int, limit: int = 0) -> tuple[list[Event], int]:
        """Return the events after a position, oldest first, and the last position that was read.

        At most ``limit`` entries are read, 500 by default; when the position is still ``after``, there is
        nothing more.
        """
        newest = self.latest_position(project_id=project_id)
        if newest <= after:
            return [], after
        trail = AuditEntry.objects.filter(project=project_id, place__gt=after).order_by("place")
        entries = list(trail[: limit or BATCH_SIZE])
        return build_events(project_id, entries), entries[-1].place or after


def matches_any(word: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(word, pattern) for pattern in patterns)


# ---- events from the trail ---------------------------------------------------------------------------


def build_events(project_id: UUID, entries: Sequence[AuditEntry]) -> list[Event]:
    commits = map_commits(project_id, entries)
    changes = collect_changes([commit for commit in commits.values() if count_changes(commit) <= DESCRIBED])
    found = []
    for entry in entries:
        commit = commits.get(entry.pk)
        if name := commit.branch.name if commit else get_branch(entry):
            changed = changes.get(commit_key(commit), []) if commit else []
            found.append(build_event(entry, name, commit, changed))
    return found


def get_branch(entry: AuditEntry) -> str:
    """Return the branch of an entry that is no commit; "" where it is no event."""
    if entry.action.startswith(OF_REQUESTS):
        return str(entry.detail["target"])
    return entry.target if entry.action in OF_BRANCHES else ""


def build_event(entry: AuditEntry, branch: str, commit: Commit | None, changes: Sequence[Change]) -> Event:
    return Event(
        position=entry.place or 0,
        kind=entry.action,
        branch=branch,
        at=entry.at,
        actor_kind=entry.actor_kind,
        actor_id=entry.actor_id,
        actor_label=entry.actor_label,
        surface=entry.surface,
        commit=commit,
        changes=changes,
    )


def map_commits(project_id: UUID, entries: Sequence[AuditEntry]) -> dict[int, Commit]:
    """Return the commit of each audit entry, by entry id."""
    changed = {entry.pk: (entry.detail.get("branch"), entry.detail.get("seq")) for entry in entries}
    seqs: dict[Any, set[Any]] = {}
    for name, seq in changed.values():
        if isinstance(name, str) and isinstance(seq, int):
            seqs.setdefault(name, set()).add(seq)
    found = {}
    for name, batch in seqs.items():
        commits = Commit.objects.filter(branch__project=project_id, branch__name=name, seq__in=batch)
        found.update({(name, commit.seq): commit for commit in commits.select_related("branch")})
    # Other audit entries may name a branch and seq too; their action differs from the commit's kind.
    pairs = [(entry, found.get(changed[entry.pk])) for entry in entries]
    return {entry.pk: commit for entry, commit in pairs if commit and commit.kind == entry.action}


def count_changes(commit: Commit) -> int:
    return commit.added + commit.changed + commit.removed


def commit_key(commit: Commit) -> tuple[int, int]:
    return commit.branch_id, commit.seq


def collect_changes(commits: Sequence[Commit]) -> dict[tuple[int, int], list[Change]]:
    """Return the changes of each commit, memory by memory."""
    seqs: dict[int, list[int]] = {}
    masked = {commit.branch_id for commit in commits if commit.branch.masked}
    for commit in commits:
        seqs.setdefault(commit.branch_id, []).append(commit.seq)
    found: dict[tuple[int, int], list[Change]] = {}
    for model in (one for one in apps.get_models() if issubclass(one, BranchedModel)):
        for branch, batch in seqs.items():
            for seq, change in load_versions(model, branch, batch, branch in masked):
                found.setdefault((branch, seq), []).append(change)
    return found


def load_versions(
    model: Any, branch: int, seqs: Sequence[int], is_masked: bool = False
) -> Iterable[tuple[int, Change]]:
    name = model._meta.model_name
    line = LINES.get(name) or (Left(model.TEXT, MAX_LINE_LENGTH) if model.TEXT else Value(""))
    rows = model._base_manager.filter(branch=branch, seq_from__in=seqs).order_by("rid").annotate(line=line)
    rows = rows.filter(NotHidden()) if is_masked else rows
    for uid, seq, deleted, before, text in rows.values_list("uid", "seq_from", "deleted", "prev_vid", "line"):
        change = "removed" if deleted else "added" if before is None else "changed"
        yield seq, Change(NAMES.get(name, name), uid, change, "" if deleted else text[:MAX_LINE_LENGTH])

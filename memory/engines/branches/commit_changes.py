"""Changes of a commit: its versions, and its confirmations and review answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack
from uuid import UUID

from django.db.models import Q, QuerySet

from memory.actors import Actor
from memory.db.expressions import NotHidden
from memory.engines.branches import commit_titles
from memory.engines.branches.revert import RevertEngine
from memory.engines.facts.links import describe_targets
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Paging, paginate
from memory.engines.versions.kinds import models_by_kind
from memory.engines.versions.lookup import find_branch
from memory.engines.versions.pair_answers import get_pair_answers
from memory.exceptions import NotFound
from memory.models import Commit, Confirmation, Fact, FactLink


@dataclass(frozen=True)
class CommitChange:
    """Change of one row by a commit. ``before`` and ``after`` are rows; None where no row exists.

    ``lines`` has the texts of the memories involved, by id, where the branch showed them.
    """

    kind: str
    uid: UUID
    change: str  # added, changed or removed
    before: Any
    after: Any
    lines: dict[UUID, str]

    @property
    def row(self) -> Any:
        """Return the row after the change; for a removal, the row before it."""
        return self.after or self.before


class CommitEngine:
    def find_commit(self, *, branch_name: str, seq: int, actor: Actor) -> Commit:
        """Return the commit with this number on a branch. Raises NotFound and as ``get_branch``."""
        actor.require_scope("read", branch_name)
        branch = find_branch(actor, branch_name)
        if (found := branch.commits.select_related("branch").filter(seq=seq).first()) is None:
            raise NotFound()
        return commit_titles.load_titles([found])[0]

    def get_commit(self, *, commit_id: UUID, actor: Actor) -> Commit:
        """Return a commit with its branch, its title and its tally. Raises NotFound, BranchForbidden."""
        return commit_titles.load_titles([RevertEngine().get_commit(commit_id=commit_id, actor=actor)])[0]

    def count_changes(self, *, commit_id: UUID, actor: Actor) -> dict[str, int]:
        """Count the commit's changes of each kind, without zeros. Raises as ``get_commit``."""
        return commit_titles.count_kinds(self.get_commit(commit_id=commit_id, actor=actor).tally)

    def list_changes(
        self, *, commit_id: UUID, actor: Actor, kind: str = "fact", **paging: Unpack[Paging]
    ) -> Page[CommitChange]:
        """List the changes of one kind, in the order of writing. Raises Invalid and as ``get_commit``."""
        commit = RevertEngine().get_commit(commit_id=commit_id, actor=actor)
        kind = c.one_of(commit_titles.list_kinds())("type", kind)
        key = "id" if kind in (commit_titles.CONFIRMATION, commit_titles.ANSWER) else "uid"
        page = paginate(_changed_rows(commit, kind), key, **paging)
        return Page(describe_rows(commit, kind, page.results), page.next, page.previous)


def _changed_rows(commit: Commit, kind: str) -> QuerySet:
    """Return the rows that record a commit's changes of one kind."""
    if kind == commit_titles.CONFIRMATION:
        in_commit = Q(seq=commit.seq) | Q(seq_to=commit.seq)
        return Confirmation.objects.filter(in_commit, branch_id=commit.branch_id)
    if kind == commit_titles.ANSWER:
        answers: QuerySet = get_pair_answers().find_answers(commit.branch_id, [commit.seq])
        return answers
    rows = models_by_kind()[kind]._base_manager.filter(branch=commit.branch_id, seq_from=commit.seq)
    return rows.filter(NotHidden()) if commit.branch.masked else rows


def describe_rows(commit: Commit, kind: str, rows: Sequence[Any]) -> list[CommitChange]:
    """Return the rows as changes, each with the texts that it refers to."""
    lines = load_lines(commit, kind, rows)
    if kind == commit_titles.CONFIRMATION:
        return [describe_confirmation(commit, row, lines) for row in rows]
    if kind == commit_titles.ANSWER:
        return [CommitChange(kind, row.pk, "changed", None, row, lines) for row in rows]
    shown = models_by_kind()[kind].objects.on(commit.branch, commit.seq - 1)
    before = {row.uid: row for row in shown.filter(uid__in=[row.uid for row in rows]).fetch_all()}
    return [describe_version(kind, before.get(row.uid), row, lines) for row in rows]


def describe_version(kind: str, before: Any, row: Any, lines: dict[UUID, str]) -> CommitChange:
    after = None if row.deleted else row
    change = "removed" if after is None else "changed" if before else "added"
    return CommitChange(kind, row.uid, change, before or (None if after else row), after, lines)


def describe_confirmation(commit: Commit, row: Confirmation, lines: dict[UUID, str]) -> CommitChange:
    if row.seq == commit.seq:
        return CommitChange(commit_titles.CONFIRMATION, row.uid, "added", None, row, lines)
    return CommitChange(commit_titles.CONFIRMATION, row.uid, "removed", row, None, lines)


def load_lines(commit: Commit, kind: str, rows: Sequence[Any]) -> dict[UUID, str]:
    """Return the texts of the facts that non-fact changes refer to, before and after the commit."""
    if kind == "link":
        return _describe_links(commit, rows)
    uids = {
        "verdict": lambda row: [row.uid],
        commit_titles.CONFIRMATION: lambda row: [row.uid],
        commit_titles.ANSWER: lambda row: [row.fact_id, row.other_id],
    }.get(kind)
    return _describe_facts(commit, [uid for row in rows for uid in uids(row)]) if uids else {}


def _describe_facts(commit: Commit, uids: Sequence[UUID]) -> dict[UUID, str]:
    found: dict[UUID, str] = {}
    for seq in (commit.seq - 1, commit.seq):
        shown = Fact.objects.on(commit.branch, seq).filter(uid__in=uids).fetch_all()
        found |= {fact.uid: fact.essence for fact in shown}
    return found


def _describe_links(commit: Commit, links: Sequence[FactLink]) -> dict[UUID, str]:
    facts = _describe_facts(commit, [link.from_id for link in links])
    for seq in (commit.seq - 1, commit.seq):
        facts |= describe_targets(commit.branch.lineage(seq), links)
    return facts

"""Undoing: a commit is reversed by another, and only while nothing that it touched has changed since."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from memory.actors import Actor
from memory.db.rerun import rerunning
from memory.engines.commits import CommitWriter, committing
from memory.engines.going_back import versioned_models
from memory.engines.texts import announce
from memory.exceptions import Conflict, NotFound
from memory.models import (
    OPEN,
    BranchedModel,
    Commit,
    Confirmation,
    Fact,
    FactAssessment,
    FactLink,
    ReviewItem,
)

TOGETHER = 500
TOLD = 20  # ids that a refusal names


@rerunning
class RevertEngine:
    def revert_commit(self, *, commit_id: UUID, actor: Actor) -> Commit:
        """Undo a commit by a new one: what it changed is again as it was before, verdicts, confirmations
        and answered review items included; what it added is gone from the branch.

        One's own commit needs the scope that it took to make it, somebody else's needs ``merge``. Raises
        NotFound, BranchArchived, and Conflict when something of it has changed since, with its ids.
        """
        found = self._find(commit_id, actor)
        name = found.branch.name
        actor.require("write" if _own(found, actor) else "merge", name)
        with committing(actor, name, "commit.revert", f"Undo of {found.kind} at {found.seq}.") as commit:
            done = Done.by(found)
            if done.needs_curate:
                actor.require("curate", name)
            if changed := done.changed_since():
                raise _changed(changed)
            commit.targets.append(str(found.pk))
            done.undo(commit)
        if commit.commit is None:
            raise Conflict("There is nothing to undo in this commit.")
        return commit.commit

    def get_commit(self, *, commit_id: UUID, actor: Actor) -> Commit:
        """A commit with its branch. Raises NotFound, BranchForbidden."""
        found = self._find(commit_id, actor)
        actor.require("read", found.branch.name)
        return found

    @staticmethod
    def _find(commit_id: UUID, actor: Actor) -> Commit:
        commits = Commit.objects.select_related("branch").filter(branch__project=actor.project_id)
        if (found := commits.filter(pk=commit_id).first()) is None:
            raise NotFound()
        return found


def _own(commit: Commit, actor: Actor) -> bool:
    return (commit.actor_kind, commit.actor_id) == (actor.kind, actor.id)


def _changed(ids: Sequence[str]) -> Conflict:
    return Conflict(
        "This cannot be undone any more: {count} of what it touched changed since.",
        count=len(ids), changed=list(ids[:TOLD]),
    )  # fmt: skip


@dataclass
class Done:
    """What a commit did: the versions that it made, and what its branch showed before."""

    commit: Commit
    made: dict[type[BranchedModel], list[BranchedModel]]
    before: dict[type[BranchedModel], dict[UUID, BranchedModel]] = field(default_factory=dict)

    @classmethod
    def by(cls, commit: Commit) -> "Done":
        made = {
            model: list(model._base_manager.filter(branch=commit.branch, seq_from=commit.seq))
            for model in versioned_models()
        }
        done = cls(commit, made)
        for model, rows in made.items():
            done.before[model] = done._shown_before(model, [row.uid for row in rows])
        return done

    def _shown_before(self, model: type[BranchedModel], uids: Sequence[UUID]) -> dict[UUID, BranchedModel]:
        rows = model.objects.on(self.commit.branch, self.commit.seq - 1)
        found: dict[UUID, BranchedModel] = {}
        for some in chunks(uids):
            found |= {row.uid: row for row in rows.filter(uid__in=some).gather()}
        return found

    # ---- may it be undone ----------------------------------------------------------------------

    @property
    def needs_curate(self) -> bool:
        """Verdicts, answers to questions, and what archives or restores are a curator's to undo."""
        rows = [*self.made[Fact], *self.before[Fact].values()]
        statuses = {row.status for row in rows if isinstance(row, Fact)}
        return bool(self.made[FactAssessment]) or Fact.Status.ARCHIVED in statuses or self._items().exists()

    def changed_since(self) -> list[str]:
        """The ids of the facts of which something has changed since, each once."""
        since = [_fact_of(row) for rows in self.made.values() for row in rows if row.seq_to != OPEN]
        since += self._built_on() + self._places_taken()
        return [str(uid) for uid in dict.fromkeys(since)]

    def _built_on(self) -> list[UUID]:
        """Facts that the commit added, and that somebody has judged, linked or confirmed since."""
        added = [row.uid for row in self.made[Fact] if row.uid not in self.before[Fact]]
        later = {"branch": self.commit.branch_id, "seq_from__gt": self.commit.seq, "deleted": False}
        found: list[UUID] = []
        for some in chunks(added):
            found += FactAssessment._base_manager.filter(**later, uid__in=some).values_list("uid", flat=True)
            links = FactLink._base_manager.filter(Q(from_id__in=some) | Q(to_id__in=some), **later)
            found += [end for ends in links.values_list("from_id", "to_id") for end in ends if end in some]
            confirmed = Confirmation.objects.filter(
                uid__in=some, branch_id=self.commit.branch_id, seq__gt=self.commit.seq, seq_to=OPEN
            )
            found += confirmed.values_list("uid", flat=True)
        return found

    def _places_taken(self) -> list[UUID]:
        """What the commit took away, and somebody has made anew since under another id, such as a link."""
        found: list[UUID] = []
        for model, rows in self.made.items():
            gone = [row for row in rows if row.deleted and row.uid in self.before[model]]
            slots = {f"{self.commit.branch_id}:{row.identity()}": _fact_of(row) for row in gone}
            taken = model._base_manager.filter(slot__in=list(slots)).values_list("slot", flat=True)
            found += [slots[slot] for slot in taken if slot]
        return found

    # ---- undoing it ----------------------------------------------------------------------------

    def undo(self, commit: CommitWriter) -> None:
        for model, rows in self.made.items():
            # Removals first: what comes back may have the place of what was written instead.
            commit.succeed_all([(row, {}, True) for row in rows if row.uid not in self.before[model]])
            before = self.before[model]
            fresh = commit.succeed_all(
                [(row, before[row.uid].content_values(), False) for row in rows if row.uid in before]
            )
            announce(commit, [row for row in fresh if row.TEXT])  # the embedder may have forgotten some
        self._undo_confirmations(commit)
        commit.beside += self._undo_answers(commit)

    def _undo_confirmations(self, commit: CommitWriter) -> None:
        """Those that it gave are taken back, those that it took back are given again."""
        here = Confirmation.objects.filter(branch_id=self.commit.branch_id)
        again = list(here.filter(seq_to=self.commit.seq))
        commit.beside += here.filter(seq=self.commit.seq, seq_to=OPEN).update(seq_to=commit.seq)
        Confirmation.objects.bulk_create(
            Confirmation(
                uid=old.uid, branch_id=old.branch_id, seq=commit.seq, source=old.source, at=commit.at
            )
            for old in again
        )
        commit.beside += len(again)

    def _items(self) -> Any:
        return ReviewItem.objects.filter(branch=self.commit.branch_id, seq=self.commit.seq)

    def _undo_answers(self, commit: CommitWriter) -> int:
        """A question that was answered is open again, and the other way round; the answer is kept."""
        opened, answered = ReviewItem.Status.OPEN, ReviewItem.Status.RESOLVED
        items = list(self._items())
        for item in items:
            item.status = opened if item.status == answered else answered
            item.resolved_at = timezone.now() if item.status == answered else None
            item.seq = commit.seq
        return ReviewItem.objects.bulk_update(items, ["status", "resolved_at", "seq"]) if items else 0


def _fact_of(row: BranchedModel) -> UUID:
    return row.from_id if isinstance(row, FactLink) else row.uid


def chunks(uids: Sequence[UUID]) -> Iterable[Sequence[UUID]]:
    return (uids[start : start + TOGETHER] for start in range(0, len(uids), TOGETHER))

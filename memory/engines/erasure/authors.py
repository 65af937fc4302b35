"""Who wrote what: an agent by the id of its rows, a person or key by the name that the history shows.

A person has no agent id. The commits say who made a version: where they name no agent, the person, key or
local user that they show is the author, as on the pages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet

from memory.engines.support.batches import batched
from memory.models import BranchedModel, Commit, Erasure, FactAssessment

BATCH_SIZE = 500
SYSTEM = "system"  # background work, which is nobody's
Scope = Erasure.Scope


@dataclass(frozen=True)
class Author:
    """An agent or person whose words are erased; ``until`` leaves out what came after the request."""

    project_id: UUID
    scope: str
    name: str
    until: datetime | None = None

    def find_commits(self) -> QuerySet[Commit]:
        """Return the commits that show this author."""
        named = Q(agent_id=self.name)
        if self.scope == Scope.ACTOR:
            named |= self.by_name()
        return self._limit(Commit.objects.filter(named, branch__project=self.project_id))

    def find_verdicts(self) -> QuerySet[FactAssessment]:
        """Return the verdicts with a reason that this person gave."""
        if self.scope != Scope.ACTOR:
            return FactAssessment._base_manager.none()
        own = FactAssessment._base_manager.filter(branch__project=self.project_id, by=self.name)
        return self._limit(own).exclude(reason="")

    def find_memories(self, model: type[BranchedModel]) -> set[UUID]:
        """Return the memories that this person wrote first, or whose text this person changed."""
        commits = self._limit(Commit.objects.filter(self.by_name(), branch__project=self.project_id))
        points: dict[int, list[int]] = {}
        for branch, seq in commits.order_by().values_list("branch_id", "seq").iterator(BATCH_SIZE):
            points.setdefault(branch, []).append(seq)
        found: set[UUID] = set()
        for branch, seqs in points.items():
            for batch in batched(sorted(seqs), BATCH_SIZE):
                found |= find_authored(model, branch, batch)
        return found

    def by_name(self) -> Q:
        return Q(actor_label=self.name, agent_id="") & ~Q(actor_kind=SYSTEM)

    def _limit(self, rows: QuerySet) -> Any:
        return rows.filter(at__lte=self.until) if self.until else rows


def find_authored(model: type[BranchedModel], branch: int, seqs: Sequence[int]) -> set[UUID]:
    """Return the memories that some commits added, or whose text they changed.

    A merge and a restore copy versions of others, which keep their vid; a change of the status is no text.
    """
    text = "content_hash" if model.TEXT else "uid"  # of others, only what is new counts
    own = model._base_manager.filter(branch=branch, seq_from__in=seqs, rid=F("vid"), deleted=False)
    rows = list(own.order_by().values_list("uid", "prev_vid", text))
    found = {uid for uid, prev, _ in rows if prev is None}
    later = [row for row in rows if row[1] is not None]
    for batch in batched(later, BATCH_SIZE):
        before = model._base_manager.filter(pk__in=[prev for _, prev, _ in batch], deleted=False)
        texts = dict(before.values_list("pk", text))
        found |= {uid for uid, prev, value in batch if texts.get(prev) != value}
    return found

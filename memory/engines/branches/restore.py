"""Making a branch equal to an earlier point of itself: one new commit, and nothing leaves the history."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.apps import apps

from memory.engines.commits import CommitWriter
from memory.engines.embedding_run import chunks
from memory.engines.texts import announce
from memory.models import OPEN, Branch, BranchedModel, Confirmation

CHUNK = 500
BROUGHT_BACK, CHANGED, REMOVED = "brought_back", "changed", "removed"
KINDS = (BROUGHT_BACK, CHANGED, REMOVED)


@dataclass(frozen=True)
class Step:
    """What is to be done with one memory: what the branch holds now, and what it held then, if anything."""

    kind: str
    held: BranchedModel
    then: BranchedModel | None


@dataclass(frozen=True)
class BranchPlan:
    """What a restore does to one branch. ``counts`` is kind -> type of memory -> how many."""

    name: str
    head: int
    seq: int
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    archive: bool = False
    unarchive: bool = False

    @property
    def empty(self) -> bool:
        return not (self.counts or self.archive or self.unarchive)


def versioned_models() -> list[type[BranchedModel]]:
    """Every kind of memory that has versions, of all apps."""
    models = [model for model in apps.get_models() if issubclass(model, BranchedModel)]
    return sorted(models, key=lambda model: model._meta.label)


def plan_of(branch: Branch, seq: int, **moves: bool) -> BranchPlan:
    counts = with_confirmations(counted(steps_back(branch, seq)), branch, seq)
    return BranchPlan(branch.name, branch.head, seq, counts, **moves)


def counted(steps: Iterable[Step]) -> dict[str, dict[str, int]]:
    """kind -> type -> number, without zeros."""
    found: dict[str, Counter] = {kind: Counter() for kind in KINDS}
    for step in steps:
        found[step.kind][type(step.held)._meta.model_name] += 1
    return {kind: dict(sorted(counts.items())) for kind, counts in found.items() if counts}


def steps_back(branch: Branch, seq: int) -> Iterator[Step]:
    """How the branch differs from itself at ``seq``, memory by memory.

    What its ancestors show cannot have changed, so only what it said itself since then is looked at.
    """
    for model in versioned_models():
        own = model._base_manager.filter(branch=branch)
        since = list(own.filter(seq_from__gt=seq, seq_to=OPEN).order_by("uid"))
        for held in chunks(since, CHUNK):
            then = _versions_at(branch, seq, model, [row.uid for row in held])
            yield from (step for row in held if (step := _step(row, then.get(row.uid))))


def _versions_at(
    branch: Branch, seq: int, model: type[BranchedModel], uids: Sequence[UUID]
) -> dict[UUID, BranchedModel]:
    """What the nearest of the branch and its ancestors said of some memories, tombstones included."""
    found: dict[UUID, BranchedModel] = {}
    for place, limit in branch.lineage(seq):
        rows = model._base_manager.filter(branch=place, uid__in=uids, seq_from__lte=limit, seq_to__gt=limit)
        for row in rows:
            found.setdefault(row.uid, row)
    return found


def _step(held: BranchedModel, then: BranchedModel | None) -> Step | None:
    gone = then is None or then.deleted
    if held.deleted and gone:
        return None
    if gone:
        return Step(REMOVED, held, then)
    if held.deleted:
        return Step(BROUGHT_BACK, held, then)
    assert then is not None
    return None if held.content_values() == then.content_values() else Step(CHANGED, held, then)


def go_back(commit: CommitWriter, seq: int) -> dict[str, dict[str, int]]:
    """Do it, in the running commit; returns what was done as ``counted`` tells it."""
    steps = list(steps_back(commit.branch, seq))
    counts = with_confirmations(counted(steps), commit.branch, seq)
    for model in versioned_models():
        some = [step for step in steps if type(step.held) is model]
        # Removals first: what comes back may have the place of what was written instead.
        commit.succeed_all([(step.held, {}, True) for step in some if step.kind == REMOVED])
        commit.put_all([(step.held, step.then) for step in some if step.kind != REMOVED and step.then])
    _confirm_as_then(commit, seq)
    back = [step.then for step in steps if step.kind != REMOVED and step.then]
    announce(commit, [row for row in back if row.TEXT])  # the embedder may have forgotten some meanwhile
    return counts


# ---- confirmations ---------------------------------------------------------------------------------


def _given_since(branch: Branch, seq: int) -> Any:
    return Confirmation.objects.filter(branch_id=branch.pk, seq__gt=seq, seq_to=OPEN)


def _taken_since(branch: Branch, seq: int) -> list[Confirmation]:
    """Those that counted then and were taken back since, and not given again."""
    here = Confirmation.objects.filter(branch_id=branch.pk)
    return list(here.filter(seq__lte=seq, seq_to__gt=seq, seq_to__lt=OPEN).order_by("id"))


def with_confirmations(
    counts: dict[str, dict[str, int]], branch: Branch, seq: int
) -> dict[str, dict[str, int]]:
    for kind, number in (
        (REMOVED, _given_since(branch, seq).count()),
        (BROUGHT_BACK, len(_taken_since(branch, seq))),
    ):
        if number:
            counts[kind] = {**counts.get(kind, {}), "confirmation": number}
    return counts


def _confirm_as_then(commit: CommitWriter, seq: int) -> None:
    commit.beside += _given_since(commit.branch, seq).update(seq_to=commit.seq)
    again = [
        Confirmation(uid=old.uid, branch_id=old.branch_id, seq=commit.seq, source=old.source, at=commit.at)
        for old in _taken_since(commit.branch, seq)
    ]
    Confirmation.objects.bulk_create(again)
    commit.beside += len(again)

"""Restoring a branch to an earlier point of itself by one new commit; the history keeps everything."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from memory.engines.embedding.enqueue import enqueue_missing
from memory.engines.support.batches import batched
from memory.engines.versions.commits import CommitWriter
from memory.engines.versions.kinds import versioned_models
from memory.engines.versions.lookup import nearest_versions
from memory.models import OPEN, Branch, BranchedModel, Confirmation

BATCH_SIZE = 500
BROUGHT_BACK, CHANGED, REMOVED = "brought_back", "changed", "removed"
KINDS = (BROUGHT_BACK, CHANGED, REMOVED)


@dataclass(frozen=True)
class Step:
    """Restore step of one memory: the branch's version now, and its version then, if any."""

    kind: str
    current: BranchedModel
    then: BranchedModel | None


@dataclass(frozen=True)
class BranchPlan:
    """Plan of a restore for one branch. ``counts`` is kind -> type of memory -> number."""

    name: str
    head: int
    seq: int
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    archive: bool = False
    unarchive: bool = False

    @property
    def empty(self) -> bool:
        return not (self.counts or self.archive or self.unarchive)


def restore_plan(branch: Branch, seq: int, **moves: bool) -> BranchPlan:
    counts = with_confirmations(count_steps(restore_steps(branch, seq)), branch, seq)
    return BranchPlan(branch.name, branch.head, seq, counts, **moves)


def count_steps(steps: Iterable[Step]) -> dict[str, dict[str, int]]:
    """Count steps: kind -> type -> number, without zeros."""
    found: dict[str, Counter] = {kind: Counter() for kind in KINDS}
    for step in steps:
        found[step.kind][type(step.current)._meta.model_name] += 1
    return {kind: dict(sorted(counts.items())) for kind, counts in found.items() if counts}


def restore_steps(branch: Branch, seq: int) -> Iterator[Step]:
    """Yield the differences of the branch from itself at ``seq``, memory by memory.

    What the ancestors show cannot have changed, so only the branch's own versions since then are read.
    """
    for model in versioned_models():
        own = model._base_manager.filter(branch=branch)
        since = list(own.filter(seq_from__gt=seq, seq_to=OPEN).order_by("uid"))
        for current in batched(since, BATCH_SIZE):
            then = nearest_versions(branch.lineage(seq), model, [row.uid for row in current])
            yield from (step for row in current if (step := build_step(row, then.get(row.uid))))


def build_step(current: BranchedModel, then: BranchedModel | None) -> Step | None:
    gone = then is None or then.deleted
    if current.deleted and gone:
        return None
    if gone:
        return Step(REMOVED, current, then)
    if current.deleted:
        return Step(BROUGHT_BACK, current, then)
    assert then is not None
    return None if current.content_values() == then.content_values() else Step(CHANGED, current, then)


def go_back(commit: CommitWriter, seq: int) -> dict[str, dict[str, int]]:
    """Restore in the running commit; return the counts in the form of ``count_steps``."""
    steps = list(restore_steps(commit.branch, seq))
    counts = with_confirmations(count_steps(steps), commit.branch, seq)
    for model in versioned_models():
        batch = [step for step in steps if type(step.current) is model]
        # Removals first: a restored memory may need the slot of one that was written later.
        commit.add_versions([(step.current, {}, True) for step in batch if step.kind == REMOVED])
        commit.restore_versions(
            [(step.current, step.then) for step in batch if step.kind != REMOVED and step.then]
        )
    _confirm_as_then(commit, seq)
    back = [step.then for step in steps if step.kind != REMOVED and step.then]
    # Some texts may lack a vector of the present model.
    enqueue_missing(commit, [row for row in back if row.TEXT])
    return counts


# ---- confirmations ---------------------------------------------------------------------------------


def _given_since(branch: Branch, seq: int) -> Any:
    return Confirmation.objects.filter(branch_id=branch.pk, seq__gt=seq, seq_to=OPEN)


def _taken_since(branch: Branch, seq: int) -> list[Confirmation]:
    """Return the confirmations valid at ``seq``, withdrawn since and not renewed."""
    confirmations = Confirmation.objects.filter(branch_id=branch.pk)
    return list(confirmations.filter(seq__lte=seq, seq_to__gt=seq, seq_to__lt=OPEN).order_by("id"))


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
    commit.side_rows += _given_since(commit.branch, seq).update(seq_to=commit.seq)
    again = [
        Confirmation(uid=old.uid, branch_id=old.branch_id, seq=commit.seq, source=old.source, at=commit.at)
        for old in _taken_since(commit.branch, seq)
    ]
    Confirmation.objects.bulk_create(again)
    commit.side_rows += len(again)

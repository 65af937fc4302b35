"""What a plan writes on the target, as versions with their place in the version graph."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any
from uuid import UUID

from memory.engines.embedding.enqueue import enqueue_missing
from memory.engines.facts.batch import FactBatch
from memory.engines.merging.changes import RANK, load_nearest
from memory.engines.merging.fields import complete_content
from memory.engines.merging.matching import take_over
from memory.engines.merging.plan import FullPlan, PlanItem
from memory.engines.versions.commits import CommitWriter
from memory.engines.versions.kinds import models_by_kind
from memory.models import BranchedModel, Confirmation, Fact, FactAssessment


def write_plan(commit: CommitWriter, plan: FullPlan) -> None:
    """Write what a plan applies and what was decided. Nothing is written for a plan without it."""
    fresh: list[BranchedModel] = []
    for model in models_by_kind().values():
        pairs = [build_version(item) for item in plan.of_model(model) if item.is_written]
        fresh += commit.merge_versions(pairs)
    changed = _change_others(commit, plan)
    _add_new(commit, plan.written)
    _move_verdicts(commit, plan)
    _confirm_facts(commit, plan)
    _enqueue_texts(commit, plan, [*fresh, *changed, *plan.written])
    commit.targets += [str(item.uid) for item in plan.items if item.model is Fact and item.is_written]


def build_version(item: PlanItem) -> tuple[Any, Any]:
    """Return the target's version, if any, and the one that follows it."""
    if item.merged is None:
        return item.ours, _copy_theirs(item)
    row: Any = item.model(uid=item.uid, **item.merged)
    row.deleted = item.removes
    row.vid = None
    row.prev_vid = item.ours.vid if item.ours is not None else None
    row.merged_vid = item.theirs.vid
    row.version = _next_version(item)
    return item.ours, row


def _copy_theirs(item: PlanItem) -> Any:
    row = copy(item.theirs)
    row.version = _next_version(item)
    return row


def _next_version(item: PlanItem) -> int:
    return max(item.theirs.version, item.ours.version + 1 if item.ours is not None else 1)


def _change_others(commit: CommitWriter, plan: FullPlan) -> list[BranchedModel]:
    return [commit.change_row(old, **content) for old, content in list_changed_others(plan)]


def list_changed_others(plan: FullPlan) -> list[tuple[Any, dict[str, Any]]]:
    """Return the target's memories that stand for others, each with the content that all of them bring."""
    stood_for: dict[UUID, list[PlanItem]] = {}
    for item in plan.items:
        if item.other is not None and item.other_content and item.is_written:
            stood_for.setdefault(item.other.uid, []).append(item)
    found = []
    for items in stood_for.values():
        row = copy(items[0].other)
        for item in items:
            for name, value in take_over(item, row).items():
                setattr(row, name, value)
        found.append((items[0].other, complete_content(row, row.content_values())))
    return found


def _add_new(commit: CommitWriter, rows: Sequence[BranchedModel]) -> None:
    """Write rows beside those of the source. Their ids may derive from others: a revert left a tombstone."""
    for model in models_by_kind().values():
        batch = [row for row in rows if type(row) is model]
        former = load_nearest(model, commit.lineage, [row.uid for row in batch])
        shown = {uid for uid, row in former.items() if not row.deleted}
        pairs = [(former.get(row.uid), row) for row in batch if row.uid not in shown]
        for old, row in pairs:
            row.prev_vid, row.version = (old.vid, old.version + 1) if old else (None, 1)
        commit.merge_versions(pairs)


def _move_verdicts(commit: CommitWriter, plan: FullPlan) -> None:
    """Write the verdicts that facts of the same text bring, where they are weightier than the target's."""
    known = load_nearest(FactAssessment, commit.lineage, [fact.uid for fact, _ in plan.moved_verdicts])
    contents = {uid: row.content_values() for uid, row in choose_moved(plan, known).items()}
    commit.add_rows([FactAssessment(uid=uid, **one) for uid, one in contents.items() if uid not in known])
    for uid, one in contents.items():
        if uid in known:  # the merge itself may have written it just now
            commit.change_row(known[uid], **one)


def choose_moved(plan: FullPlan, known: Mapping[UUID, Any]) -> dict[UUID, Any]:
    """Return the verdicts that take the place of those that facts of the target have."""
    kept: dict[UUID, Any] = {}
    for fact, verdict in plan.moved_verdicts:
        if _prevails(verdict, kept.get(fact.uid, known.get(fact.uid))):
            kept[fact.uid] = verdict
    return kept


def _prevails(verdict: Any, own: Any) -> bool:
    """Return whether a verdict takes the place of the one that a fact has, if any."""
    if own is None or own.deleted or own.judged_hash != verdict.judged_hash:
        return True
    return RANK.index(verdict.status) > RANK.index(own.status)


def _confirm_facts(commit: CommitWriter, plan: FullPlan) -> None:
    for row in plan.confirmations:
        row.branch_id, row.seq, row.at = commit.branch.pk, commit.seq, commit.at
    Confirmation.objects.bulk_create(plan.confirmations)
    commit.side_rows += len(plan.confirmations)


def _enqueue_texts(commit: CommitWriter, plan: FullPlan, rows: Sequence[BranchedModel]) -> None:
    """Queue texts without a vector, and the comparison of facts that the plan could not compare."""
    unchecked = set(plan.unchecked) | {row.uid for row in plan.written}
    for model in models_by_kind().values():
        kept = [row for row in rows if type(row) is model and not row.deleted]
        if model is Fact:
            compared = [row for row in kept if isinstance(row, Fact) and row.uid in unchecked]
            FactBatch.enqueue_embedding(commit, compared)
            kept = [row for row in kept if row.uid not in unchecked]
        if model.TEXT and kept:
            enqueue_missing(commit, kept)

"""Each memory that the source changed, compared with the target's version by the version graph."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from memory.db.querysets import Lineage
from memory.engines.merging.agreed import History
from memory.engines.merging.contents import describe_agreed, merge_versions
from memory.engines.merging.fields import CONFLICT as FIELD_CONFLICT
from memory.engines.merging.fields import DELETED as DELETED_FIELD
from memory.engines.merging.histories import Pairs, load_histories
from memory.engines.merging.plan import (
    APPLIED,
    CHANGED,
    COMBINED,
    CONFLICT,
    DELETED,
    EDITED,
    IDENTICAL,
    NEW,
    REMOVED,
    REVERTED,
    SAME,
    MergePoints,
    PlanItem,
)
from memory.engines.support.batches import batched
from memory.engines.versions.graph import Pasts, VersionGraph
from memory.engines.versions.kinds import models_by_kind
from memory.engines.versions.lookup import nearest_versions
from memory.models import BranchedModel

BATCH_SIZE = 500
Rows = dict[UUID, Any]


def list_changes(points: MergePoints) -> list[PlanItem]:
    """Return what the source changed since the common ancestor and the target has not in its past."""
    return [item for model in models_by_kind().values() for item in compare_model(model, points)]


def compare_model(model: type[BranchedModel], points: MergePoints) -> list[PlanItem]:
    touched = list_touched(model, points)
    theirs = load_nearest(model, points.source_lineage, touched)
    ours = load_nearest(model, points.target_lineage, touched)
    found = [_describe_new(model, row) for uid, row in theirs.items() if uid not in ours]
    moved = {uid: row for uid, row in theirs.items() if uid in ours and row.vid != ours[uid].vid}
    direct = {uid for uid, row in moved.items() if _follows(row, ours[uid])}
    found += [_describe_change(model, ours[uid], moved[uid]) for uid in direct]
    found += compare_diverged(model, ours, {uid: row for uid, row in moved.items() if uid not in direct})
    return sorted((item for item in found if item is not None), key=lambda item: item.uid)


def list_touched(model: type[BranchedModel], points: MergePoints) -> list[UUID]:
    """Return the memories of which the source has versions since the common ancestor."""
    found: set[UUID] = set()
    for branch, after, until in points.list_ranges():
        rows = model._base_manager.filter(branch=branch, seq_from__gt=after, seq_from__lte=until)
        found |= set(rows.values_list("uid", flat=True))
    return sorted(found)


def is_touched(model: type[BranchedModel], points: MergePoints, uid: UUID) -> bool:
    """Return whether the source has versions of a memory since the common ancestor."""
    rows = model._base_manager.filter(uid=uid)
    return any(
        rows.filter(branch=branch, seq_from__gt=after, seq_from__lte=until).exists()
        for branch, after, until in points.list_ranges()
    )


def load_nearest(model: type[BranchedModel], lineage: Lineage, uids: Sequence[UUID]) -> Rows:
    """Return the version of each memory that a lineage has, tombstones included."""
    found: Rows = {}
    for batch in batched(uids, BATCH_SIZE):
        found |= nearest_versions(lineage, model, batch)
    return found


def _follows(row: BranchedModel, other: BranchedModel) -> bool:
    """Return whether a version was made directly from another one, which most were."""
    return other.vid in (row.prev_vid, row.merged_vid)


def _describe_new(model: type[BranchedModel], row: BranchedModel) -> PlanItem | None:
    """Return the item of a memory that the target never had; none for one that was removed again."""
    return None if row.deleted else PlanItem(model, row.uid, APPLIED, NEW, theirs=row)


def _describe_change(model: type[BranchedModel], ours: Any, theirs: Any) -> PlanItem:
    """Return the item of a version that was made from the target's."""
    reason = REMOVED if theirs.deleted else NEW if ours.deleted else CHANGED
    return PlanItem(model, theirs.uid, APPLIED, reason, ours=ours, theirs=theirs, base=ours)


# ---- versions of which neither follows the other directly ----------------------------------------------


def compare_diverged(model: type[BranchedModel], ours: Rows, theirs: Rows) -> list[PlanItem]:
    """Compare pairs of versions by the version graph."""
    graph = VersionGraph.load(model, list(theirs))
    items, pasts, parted = [], {uid: Pasts(graph) for uid in theirs}, {}
    for uid, row in theirs.items():
        if pasts[uid].knows(row.vid, ours[uid].vid):
            items.append(_describe_change(model, ours[uid], row))
        elif not pasts[uid].knows(ours[uid].vid, row.vid):
            parted[uid] = (ours[uid], row)
    for batch in batched(list(parted), BATCH_SIZE):
        items += compare_parted(model, {uid: parted[uid] for uid in batch}, pasts)
    return items


def compare_parted(model: type[BranchedModel], pairs: Pairs, pasts: Mapping[UUID, Pasts]) -> list[PlanItem]:
    """Compare pairs of versions, neither of which is in the past of the other."""
    items, settle = [], SETTLEMENTS.get(model.KIND.name, settle_parted)
    for uid, history in load_histories(model, pairs, pasts).items():
        base = find_base(history, *pairs[uid])
        items.append(PlanItem(model, uid, CONFLICT, EDITED, *pairs[uid], base=base))
        settle(items[-1], history)
    return items


def find_base(history: History, ours: Any, theirs: Any) -> Any:
    """Return a nearest common version of two; a deletion is none."""
    vid = history.pasts.find_base(ours.vid, theirs.vid)
    row = None if vid is None else history.rows[vid]
    return None if row is None or row.deleted else row


def settle_parted(item: PlanItem, history: History) -> None:
    """Settle what becomes of two versions that were changed independently."""
    if item.ours.deleted and item.theirs.deleted:
        item.outcome, item.reason, item.removes = IDENTICAL, SAME, True
        item.merged = item.ours.content_values()
    elif item.removed:
        _merge_deletion(item, history)
    else:
        _merge_content(item, history)


def _merge_deletion(item: PlanItem, history: History) -> None:
    """Settle whether a memory is there that one side has deleted; its content is that of the other one."""
    ours, theirs = item.ours, item.theirs
    if history.list_reverted(ours.vid, theirs.vid):
        item.reason = REVERTED
        return
    is_deleted = history.merge_field(ours.vid, theirs.vid, DELETED_FIELD).value
    if is_deleted is FIELD_CONFLICT:
        item.reason = DELETED
    elif is_deleted == ours.deleted:
        item.outcome, item.reason, item.removes = IDENTICAL, SAME, ours.deleted
        item.merged = ours.content_values()
    else:
        item.outcome, item.reason, item.removes = APPLIED, REMOVED if is_deleted else NEW, theirs.deleted
        item.merged = theirs.content_values()


def _merge_content(item: PlanItem, history: History) -> None:
    merged = merge_versions(history, item.ours.vid, item.theirs.vid)
    item.merged, item.for_source, item.conflicting = merged.content, merged.for_source, merged.conflicting
    if item.base is not None:
        item.agreed = describe_agreed(item.base, merged.agreed, history.rules)
        item.agreed_vids = merged.agreed_vids if item.agreed else frozenset()
    if merged.is_reverted:
        item.reason = REVERTED
    elif not merged.conflicts:
        same = merged.content == item.ours.content_values()
        item.outcome, item.reason = (IDENTICAL, SAME) if same else (APPLIED, COMBINED)


# ---- verdicts ------------------------------------------------------------------------------------------

# A verdict that refuses goes before one that confirms, and that before a guess.
RANK = ("unverified", "plausible", "verified", "invalidated")


def settle_verdicts(item: PlanItem, history: History) -> None:
    """Settle which of two verdicts on one fact stays: the weightier one, of two texts the later one."""
    kept = choose_verdict(item.ours, item.theirs)
    item.merged, item.removes = kept.content_values(), kept.deleted
    if kept is item.ours:
        item.outcome, item.reason = IDENTICAL, SAME
    elif history.list_reverted(item.ours.vid, item.theirs.vid):
        item.reason = REVERTED
    else:
        item.outcome, item.reason = APPLIED, COMBINED


def choose_verdict(ours: Any, theirs: Any) -> Any:
    """Return the verdict that stays: for one text the weightier, see RANK."""
    if ours.deleted != theirs.deleted:
        return theirs if ours.deleted else ours
    if ours.judged_hash != theirs.judged_hash:
        return max(ours, theirs, key=lambda row: (row.at, row is ours))
    return theirs if RANK.index(theirs.status) > RANK.index(ours.status) else ours


SETTLEMENTS: dict[str, Callable[[PlanItem, History], None]] = {"verdict": settle_verdicts}

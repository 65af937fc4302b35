"""Each memory that the source changed, compared with the target's version by the version graph."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from memory.db.querysets import Lineage
from memory.db.raw_select import fetch_instances
from memory.db.united import list_written, read_together
from memory.engines.merging import plan
from memory.engines.merging.agreed import History
from memory.engines.merging.contents import describe_agreed, merge_versions
from memory.engines.merging.fields import CONFLICT as FIELD_CONFLICT
from memory.engines.merging.fields import DELETED as DELETED_FIELD
from memory.engines.merging.fields import get_rules
from memory.engines.merging.plan import MergePoints, PlanItem
from memory.engines.support.batches import batched
from memory.engines.versions.commits import MERGE, REVERT
from memory.engines.versions.graph import Pasts, Point, VersionGraph
from memory.engines.versions.kinds import models_by_kind
from memory.engines.versions.lookup import nearest_versions, plan_nearest
from memory.models import BranchedModel, Commit, Fact

BATCH_SIZE = 500
MAX_TOGETHER = 100  # memories whose versions are read at once on both sides
Rows = dict[UUID, Any]
Pairs = Mapping[UUID, tuple[Any, Any]]  # the target's version and the source's, by memory


def list_changes(points: MergePoints) -> list[PlanItem]:
    """Return what the source changed since the common ancestor and the target has not in its past."""
    touched = list_touched(points)
    if sum(map(len, touched.values())) <= MAX_TOGETHER:
        ends = (points.source_lineage[0], points.target_lineage[0])
        pairs = [(model, uids, end) for model, uids in touched.items() for end in ends]
        read_together(one for model, uids, end in pairs for one in plan_nearest(end, model, uids))
    return [item for model, uids in touched.items() for item in compare_model(model, uids, points)]


def compare_model(model: type[BranchedModel], touched: Sequence[UUID], points: MergePoints) -> list[PlanItem]:
    theirs = load_nearest(model, points.source_lineage, touched)
    ours = load_nearest(model, points.target_lineage, touched)
    found = [_describe_new(model, row) for uid, row in theirs.items() if uid not in ours]
    moved = {uid: row for uid, row in theirs.items() if uid in ours and row.vid != ours[uid].vid}
    direct = {uid for uid, row in moved.items() if _follows(row, ours[uid])}
    found += [_describe_change(model, ours[uid], moved[uid]) for uid in direct]
    found += compare_diverged(model, ours, {uid: row for uid, row in moved.items() if uid not in direct})
    return sorted((item for item in found if item is not None), key=lambda item: item.uid)


def list_touched(points: MergePoints) -> dict[type[BranchedModel], list[UUID]]:
    """Return the memories of each kind of which the source has versions since the common ancestor."""
    models = [*models_by_kind().values()]
    found = list_written(models, points.list_ranges())
    return {model: sorted(found.get(model, ())) for model in models}


def is_touched(model: type[BranchedModel], points: MergePoints, uid: UUID) -> bool:
    """Return whether the source has versions of a memory since the common ancestor."""
    rows = model._base_manager.filter(uid=uid)
    return any(
        rows.filter(branch=branch, seq_from__gt=after, seq_from__lte=until).exists()
        for branch, after, until in points.list_ranges()
    )


def load_nearest(model: type[BranchedModel], lineage: Lineage, uids: Sequence[UUID]) -> Rows:
    """Return the version of each memory that a lineage has, tombstones included."""
    return nearest_versions(lineage, model, uids)


def _follows(row: BranchedModel, other: BranchedModel) -> bool:
    """Return whether a version was made directly from another one, which most were."""
    return other.vid in (row.prev_vid, row.merged_vid)


def _describe_new(model: type[BranchedModel], row: BranchedModel) -> PlanItem | None:
    """Return the item of a memory that the target never had; none for one that was removed again."""
    return None if row.deleted else PlanItem(model, row.uid, plan.APPLIED, plan.NEW, theirs=row)


def _describe_change(model: type[BranchedModel], ours: Any, theirs: Any) -> PlanItem:
    """Return the item of a version that was made from the target's."""
    reason = plan.REMOVED if theirs.deleted else plan.NEW if ours.deleted else plan.CHANGED
    return PlanItem(model, theirs.uid, plan.APPLIED, reason, ours=ours, theirs=theirs, base=ours)


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
        items.append(PlanItem(model, uid, plan.CONFLICT, plan.EDITED, *pairs[uid], base=base))
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
        item.outcome, item.reason, item.removes = plan.IDENTICAL, plan.SAME, True
        item.merged = item.ours.content_values()
    elif item.removed:
        _merge_deletion(item, history)
    else:
        _merge_content(item, history)


def _merge_deletion(item: PlanItem, history: History) -> None:
    """Settle whether a memory is there that one side has deleted; its content is that of the other one."""
    ours, theirs = item.ours, item.theirs
    if history.list_reverted(ours.vid, theirs.vid):
        item.reason = plan.REVERTED
        return
    is_deleted = history.merge_field(ours.vid, theirs.vid, DELETED_FIELD).value
    if is_deleted is FIELD_CONFLICT:
        item.reason = plan.DELETED
    elif is_deleted == ours.deleted:
        item.outcome, item.reason, item.removes = plan.IDENTICAL, plan.SAME, ours.deleted
        item.merged = ours.content_values()
    else:
        item.outcome, item.reason, item.removes = (
            plan.APPLIED,
            plan.REMOVED if is_deleted else plan.NEW,
            theirs.deleted,
        )
        item.merged = theirs.content_values()


def _merge_content(item: PlanItem, history: History) -> None:
    merged = merge_versions(history, item.ours.vid, item.theirs.vid)
    item.merged, item.for_source, item.conflicting = merged.content, merged.for_source, merged.conflicting
    if item.base is not None:
        item.agreed = describe_agreed(item.base, merged.agreed, history.rules)
        item.agreed_vids = merged.agreed_vids if item.agreed else frozenset()
    if merged.is_reverted:
        item.reason = plan.REVERTED
    elif merged.conflicts and item.base is None and item.model is Fact and item.theirs.path:
        item.reason = plan.SAME_KEY
    elif not merged.conflicts:
        same = merged.content == item.ours.content_values()
        item.outcome, item.reason = (plan.IDENTICAL, plan.SAME) if same else (plan.APPLIED, plan.COMBINED)


# ---- verdicts ------------------------------------------------------------------------------------------

# A verdict that refuses goes before one that confirms, and that before a guess.
RANK = ("unverified", "plausible", "verified", "invalidated")


def settle_verdicts(item: PlanItem, history: History) -> None:
    """Settle which of two verdicts on one fact stays: the weightier one, of two texts the later one."""
    kept = choose_verdict(item.ours, item.theirs)
    item.merged, item.removes = kept.content_values(), kept.deleted
    if kept is item.ours:
        item.outcome, item.reason = plan.IDENTICAL, plan.SAME
    elif history.list_reverted(item.ours.vid, item.theirs.vid):
        item.reason = plan.REVERTED
    else:
        item.outcome, item.reason = plan.APPLIED, plan.COMBINED


def choose_verdict(ours: Any, theirs: Any) -> Any:
    """Return the verdict that stays: for one text the weightier, see RANK."""
    if ours.deleted != theirs.deleted:
        return theirs if ours.deleted else ours
    if ours.judged_hash != theirs.judged_hash:
        return max(ours, theirs, key=lambda row: (row.at, row is ours))
    return theirs if RANK.index(theirs.status) > RANK.index(ours.status) else ours


SETTLEMENTS: dict[str, Callable[[PlanItem, History], None]] = {"verdict": settle_verdicts}


# ---- histories ---------------------------------------------------------------------------------------


class Versions(dict[int, Any]):
    """Versions of one memory by vid; one that is missing is read when it is needed, which is rare."""

    def __init__(self, rows: Iterable[BranchedModel]) -> None:
        super().__init__((row.vid, row) for row in rows)

    def __missing__(self, vid: int) -> Any:
        known = next(iter(self.values()))
        self[vid] = type(known)._base_manager.filter(uid=known.uid, vid=vid)[0]
        return self[vid]


def load_histories(
    model: type[BranchedModel], pairs: Pairs, pasts: Mapping[UUID, Pasts]
) -> dict[UUID, History]:
    """Return the history of each pair of versions."""
    reverts = find_reverts(model, pairs, pasts)
    vids = {uid: list_needed(model, pasts[uid], pair) for uid, pair in pairs.items()}
    for uid, undone in reverts.items():
        vids[uid] |= {*undone, *undone.values()}
    rows: dict[UUID, list[Any]] = {uid: list(pair) for uid, pair in pairs.items()}
    known = {row.vid for pair in pairs.values() for row in pair}
    # Most versions are still where they were written first, as the row of that number.
    origins = set().union(*vids.values()) - known
    for row in fetch_instances(model._base_manager.all(), "rid", sorted(origins)):
        rows[row.uid].append(row)
    rules = get_rules(model)
    return {uid: History(pasts[uid], Versions(rows[uid]), rules, reverts.get(uid, {})) for uid in pairs}


def list_needed(model: type[BranchedModel], past: Pasts, pair: tuple[Any, Any]) -> set[int]:
    """Return the versions that are read to merge a pair; of what counts, every one."""
    vids = pair[0].vid, pair[1].vid
    fork = past.find_fork(*vids)
    if fork is not None and not model.KIND.counters:
        return {fork}
    region = past.find_region([vids])
    found = past.list_turns(region)
    return found | set(past.list_vids(region)) if model.KIND.counters else found


# ---- reverts of merges ---------------------------------------------------------------------------------


def find_reverts(
    model: type[BranchedModel], pairs: Pairs, pasts: Mapping[UUID, Pasts]
) -> dict[UUID, dict[int, int]]:
    """Return the versions that took a merge back and that one side of a pair alone has in its past, with the
    version that each took back.
    """
    made: dict[Point, list[tuple[UUID, int]]] = {}
    for uid, (ours, theirs) in pairs.items():
        past = pasts[uid]
        for vid in past.list_vids(past.get_past(ours.vid) ^ past.get_past(theirs.vid)):
            if point := past.graph.get_point(vid):
                made.setdefault(point, []).append((uid, vid))
    undone = find_undone_merges(load_reverts(made))
    reverts = {(point, uid): vid for point in undone for uid, vid in made[point]}
    found: dict[UUID, dict[int, int]] = {}
    for row in _load_replaced(model, reverts):
        key = (row.branch_id, row.seq_to), row.uid
        found.setdefault(row.uid, {})[reverts[key]] = row.vid
    return found


def _load_replaced(model: type[BranchedModel], keys: Iterable[tuple[Point, UUID]]) -> Iterator[Any]:
    """Yield the versions that were replaced at some points."""
    left = set(keys)
    for batch in batched(sorted(left), BATCH_SIZE):
        points, uids = zip(*batch, strict=True)
        rows = model._base_manager.filter(uid__in=set(uids), seq_to__in={seq for _branch, seq in points})
        yield from (row for row in rows if ((row.branch_id, row.seq_to), row.uid) in left)


def find_undone_merges(reverts: dict[Point, Commit]) -> set[Point]:
    """Return the reverts that took a merge back, at first or again after a revert had brought it back."""
    found: set[Point] = set()
    waiting, undoes = {key: one.reverts for key, one in reverts.items()}, True
    while waiting:
        undone = Commit.objects.in_bulk({pk for pk in waiting.values() if pk})
        commits = {key: undone[pk] for key, pk in waiting.items() if pk in undone}
        found |= {key for key, one in commits.items() if undoes and one.kind == MERGE}
        waiting = {key: one.reverts for key, one in commits.items() if one.kind == REVERT}
        undoes = not undoes
    return found


def load_reverts(points: Iterable[Point]) -> dict[Point, Commit]:
    """Return the reverts among the commits at these points."""
    found: dict[Point, Commit] = {}
    for batch in batched(list(points), BATCH_SIZE):
        found |= Commit.objects.filter(kind=REVERT).that_made(batch)
    return found

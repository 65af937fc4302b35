"""What belongs to another memory: it comes along with it, waits for it, or stops its removal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from memory.db.expressions import ActiveOnLineage
from memory.db.plain_filters import IsBeyond
from memory.db.raw_select import fetch_where, select_by_key
from memory.engines.facts.assessment import list_sources
from memory.engines.facts.batch import get_source
from memory.engines.merging.changes import load_nearest
from memory.engines.merging.matching import draft_row
from memory.engines.merging.plan import (
    APPLIED,
    BOTH,
    COMBINED,
    CONFLICT,
    DELETED,
    ERASED,
    IDENTICAL,
    NOT_PICKED,
    OWNER_MISSING,
    OWNER_REMOVED,
    REJECTED,
    REMOVED,
    REVERTED,
    SAME,
    SAME_TEXT,
    SIMILAR,
    TARGET,
    FullPlan,
    MergePoints,
    PlanItem,
)
from memory.engines.support.batches import batched
from memory.engines.versions.graph import VersionGraph
from memory.engines.versions.kinds import models_by_kind, versioned_models
from memory.models import BranchedModel, Confirmation, Fact, FactAssessment
from memory.models.facts import build_copy_uid

BATCH_SIZE = 500
Key = tuple[str, UUID]


# ---- edits against a removal ---------------------------------------------------------------------------


def keep_extended(plan: FullPlan) -> None:
    """Make a conflict of each removal of a memory that the target has judged, linked or extended since."""
    removed = {item.key: item for item in plan.items if _removes_shown(item)}
    # Parts first: one that the merge removes too extends nothing.
    for part in sorted(versioned_models(), key=lambda model: -model.KIND.rank) if removed else ():
        _hold_extended(removed, _find_extended(plan.points, part, removed))
    _hold_extended(
        removed, {("fact", uid) for uid in _list_confirmed(plan.points, {uid for _, uid in removed})}
    )


def _removes_shown(item: PlanItem) -> bool:
    return item.outcome == APPLIED and item.reason == REMOVED and not item.ours.deleted


def _hold_extended(removed: dict[Key, PlanItem], keys: set[Key]) -> None:
    for item in (removed.pop(key) for key in keys & removed.keys()):
        item.outcome, item.reason = CONFLICT, DELETED


def _find_extended(
    points: MergePoints, part: type[BranchedModel], removed: Mapping[Key, PlanItem]
) -> set[Key]:
    """Return the owners of what the target has added of one kind of parts, and keeps."""
    found: set[Key] = set()
    for column in part.OWNERS:
        for batch in batched([uid for _kind, uid in removed], BATCH_SIZE):
            rows = _load_added(points, part, {f"{column}__in": batch})
            kept = [row for row in rows if (part.KIND.name, row.uid) not in removed]
            found |= {key for row in kept for key in row.owner_keys()}
    return found


def _list_confirmed(points: MergePoints, uids: set[UUID]) -> Iterator[UUID]:
    """Yield the facts that were confirmed on the target since the common ancestor, as the source was not."""
    known = list_sources(uids, points.source_lineage)
    for branch, after, until in points.reversed().list_ranges():
        rows = Confirmation.objects.filter(
            ActiveOnLineage(points.target_lineage), branch_id=branch, seq__gt=after, seq__lte=until
        )
        pairs = select_by_key(rows, ("uid", "source"), "uid", sorted(uids))
        yield from (uid for uid, source in pairs if (uid, source) not in known)


def _load_added(points: MergePoints, part: type[BranchedModel], owners: Mapping[str, Any]) -> list[Any]:
    """Return parts that the target has since the common ancestor and the source never had."""
    rows: list[Any] = []
    for branch, after, until in points.reversed().list_ranges():
        own = part._base_manager.filter(branch=branch, seq_from__gt=after, seq_from__lte=until, **owners)
        rows += own.filter(seq_to__gt=until, deleted=False)
    known = load_nearest(part, points.source_lineage, [row.uid for row in rows])
    graph = VersionGraph.load(part, list(known))
    return [row for row in rows if row.uid not in known or not graph.is_ancestor(row.vid, known[row.uid].vid)]


# ---- parts and statements ------------------------------------------------------------------------------


def settle_parts(plan: FullPlan) -> None:
    """Reject what belongs to a memory that the target will not show; let what was reverted with it follow."""
    items, shown = plan.index_items(), _load_shown_owners(plan)
    fresh = {(row.KIND.name, row.uid) for row in plan.written}
    for item in sorted(plan.items, key=lambda item: item.model.KIND.rank):
        if not item.model.OWNERS or item.outcome not in (APPLIED, CONFLICT):
            continue
        owners = [key for key in draft_row(item).owner_keys() if key not in fresh]
        if item.reason == REVERTED and any(_is_conflict(items.get(key)) for key in owners):
            _follow_owner(item, [items[key] for key in owners if key in items])
        elif item.arrives and not _is_kept(item):
            _reject_unowned(item, owners, items, shown)
    _reject_joined(plan)


def _is_kept(item: PlanItem) -> bool:
    """Return whether it was decided that the target goes on to show a part: without a version of the merge
    that would be asked again.
    """
    return item.outcome == CONFLICT and not item.ours.deleted


def _reject_joined(plan: FullPlan) -> None:
    """Reject each edge with the one in whose place it was to arrive."""
    for item in plan.items:
        if item.joined is not None and item.joined.outcome == REJECTED:
            item.reject(item.joined.reason)


def reject_orphans(plan: FullPlan) -> None:
    """Reject conflicts about what the target cannot show: its owner is neither there nor in conflict."""
    items = plan.index_items()
    conflicts = [item for item in plan.with_outcome(CONFLICT) if item.model.OWNERS and item.ours.deleted]
    shown = _load_shown_owners(plan) if conflicts else set()
    for item in conflicts:
        owners = [_follow_key(plan, key) for key in item.theirs.owner_keys()]
        is_undecided = any(_is_conflict(items.get(key)) for key in owners)
        if not is_undecided:
            _reject_unowned(item, owners, items, shown)


def _follow_key(plan: FullPlan, key: Key) -> Key:
    """Return the owner that stands on the target for one that it has under another id."""
    kind, uid = key
    return (kind, plan.stand_ins[uid].uid) if kind == Fact.KIND.name and uid in plan.stand_ins else key


def _reject_unowned(
    item: PlanItem, owners: Iterable[Key], items: Mapping[Key, PlanItem], shown: set[Key]
) -> None:
    """Reject a part when the target does not show what it belongs to; that may arrive later, or never."""
    missing = [key for key in owners if not _is_shown(key, items, shown)]
    if missing:
        waits = any(_may_arrive(items.get(key)) for key in missing)
        item.reject(OWNER_MISSING if waits else OWNER_REMOVED)


def _may_arrive(item: PlanItem | None) -> bool:
    """Return whether a memory that the target does not show after the merge may come with a later one."""
    if item is None:
        return False
    return item.is_open or (item.outcome == REJECTED and item.reason not in (ERASED, OWNER_REMOVED))


def _is_conflict(item: PlanItem | None) -> bool:
    return item is not None and item.outcome == CONFLICT


def _is_shown(key: Key, items: Mapping[Key, PlanItem], shown: set[Key]) -> bool:
    """Return whether the target shows a memory after the merge."""
    item = items.get(key)
    if item is None or item.outcome == REJECTED or item.is_open:
        return key in shown
    if item.outcome == IDENTICAL:
        return not item.removes
    return item.arrives


def _follow_owner(item: PlanItem, owners: Sequence[PlanItem]) -> None:
    """Settle what a revert took with its owner as the owner is settled."""
    if any(owner.is_open for owner in owners):
        item.reject(OWNER_MISSING)
    elif all(owner.arrives for owner in owners if _is_conflict(owner)):
        item.outcome, item.reason, item.removes = APPLIED, COMBINED, item.theirs.deleted
        item.merged = item.theirs.content_values()
    else:
        item.outcome, item.reason, item.removes = IDENTICAL, SAME, item.ours.deleted
        item.merged = item.ours.content_values()


def _load_shown_owners(plan: FullPlan) -> set[Key]:
    """Return the owners named in the plan that the target shows now."""
    named: dict[str, set[UUID]] = {}
    for item in plan.items:
        if item.model.OWNERS:
            for kind, uid in map(partial(_follow_key, plan), draft_row(item).owner_keys()):
                named.setdefault(kind, set()).add(uid)
    lineage, models = plan.points.target_lineage, models_by_kind()
    return {
        (kind, uid)
        for kind, uids in named.items()
        for uid, row in load_nearest(models[kind], lineage, sorted(uids)).items()
        if not row.deleted
    }


# ---- verdicts ------------------------------------------------------------------------------------------


def fit_verdicts(plan: FullPlan) -> None:
    """Of two verdicts on different texts keep the one on the text that the target will have."""
    parted = [
        item for item in plan.of_model(FactAssessment) if item.ours is not None and item.merged is not None
    ]
    parted = [item for item in parted if item.ours.judged_hash != item.theirs.judged_hash]
    parted = [item for item in parted if item.reason != SAME_TEXT]
    facts = load_nearest(Fact, plan.points.target_lineage, [item.uid for item in parted])
    items = plan.index_items()
    for item in parted:
        planned = items.get(("fact", item.uid))
        fact = draft_row(planned) if planned is not None and planned.arrives else facts.get(item.uid)
        kept = item.theirs if fact is not None and item.theirs.judged_hash == fact.judged_hash else item.ours
        item.merged, item.removes = kept.content_values(), kept.deleted
        if item.outcome != CONFLICT:
            item.outcome, item.reason = (IDENTICAL, SAME) if kept is item.ours else (APPLIED, COMBINED)


def move_verdicts(plan: FullPlan) -> None:
    """Let the target's facts take over the verdicts on facts that they stand for."""
    items = plan.index_items()
    for item in [*plan.of_model(FactAssessment)]:
        fact = plan.stand_ins.get(item.uid)
        if fact is None or item.theirs.deleted or item.reason in (NOT_PICKED, ERASED):
            continue
        item.outcome, item.reason, item.removes = IDENTICAL, SAME_TEXT, True
        item.merged = item.theirs.content_values()
        planned = items.get(("fact", fact.uid))
        row = draft_row(planned) if planned is not None and planned.arrives else fact
        if row.judged_hash == item.theirs.judged_hash:
            plan.moved_verdicts.append((fact, item.theirs))


def copy_verdicts(plan: FullPlan) -> None:
    """Give a fact that is kept as another one beside the target's the verdict that it has on the source."""
    items = [item for item in plan.of_model(Fact) if item.decision and item.decision.choice == BOTH]
    items = [item for item in items if item.reason not in SIMILAR]
    verdicts = load_nearest(FactAssessment, plan.points.source_lineage, [item.uid for item in items])
    for item in items:
        verdict = verdicts.get(item.uid)
        if verdict is not None and not verdict.deleted and verdict.judged_hash == item.theirs.judged_hash:
            copy_uid = build_copy_uid(item.uid, item.theirs.vid)
            plan.written.append(FactAssessment(uid=copy_uid, **verdict.content_values()))


# ---- confirmations -------------------------------------------------------------------------------------


def list_missing_confirmations(plan: FullPlan) -> list[Confirmation]:
    """Return the source's confirmations, not saved, that the target's facts do not have."""
    offered = [(row.uid, row.source) for row in load_confirmations(plan)]
    for item in plan.of_model(Fact):
        source = get_source(item.theirs) if item.reason == SAME_TEXT and item.other else ""
        if source and source != get_source(item.other):
            offered.append((item.uid, source))
    if plan.picked is not None:
        offered = [(uid, source) for uid, source in offered if uid in plan.picked]
    found = [(_follow_key(plan, ("fact", uid))[1], source) for uid, source in offered]
    known = _list_known(plan, {uid for uid, _ in found})
    kept = _drop_unshown(plan, [pair for pair in dict.fromkeys(found) if pair not in known])
    return [Confirmation(uid=uid, source=source) for uid, source in kept]


def _list_known(plan: FullPlan, uids: set[UUID]) -> set[tuple[UUID, str]]:
    """Return (fact id, source) of the target's confirmations, those included that a revert withdrew.

    Withdrawn ones come back with a fact whose revert is settled for the source.
    """
    lineage = plan.points.target_lineage
    items = plan.index_items()
    returning = {uid for kind, uid in items if kind == "fact" and _is_returning(items[kind, uid])}
    found = list_sources(uids, lineage)
    for branch, limit in lineage:
        rows = Confirmation.objects.filter(branch_id=branch, seq__lte=limit)
        found |= set(select_by_key(rows, ("uid", "source"), "uid", sorted(uids - returning)))
    return found


def _is_returning(item: PlanItem) -> bool:
    is_kept = item.decision is not None and item.decision.choice == TARGET
    return item.reason == REVERTED and item.outcome == CONFLICT and item.arrives and not is_kept


def load_confirmations(plan: FullPlan) -> list[Confirmation]:
    """Return the source's confirmations since the common ancestor, which are read once for a plan."""
    if plan.offered is None:
        plan.offered = []
        for branch, after, until in plan.points.list_ranges():  # which end where the source's lineage does
            later = IsBeyond(Confirmation, "seq", after, False)
            plan.offered += fetch_where(Confirmation, [ActiveOnLineage([(branch, until)]), later])
    return plan.offered


def _drop_unshown(plan: FullPlan, pairs: Sequence[tuple[UUID, str]]) -> list[tuple[UUID, str]]:
    """Leave out the confirmations of facts that the target does not show after the merge."""
    items = plan.index_items()
    rows = load_nearest(Fact, plan.points.target_lineage, sorted({uid for uid, _ in pairs}))
    shown = {("fact", uid) for uid, row in rows.items() if not row.deleted}
    return [(uid, source) for uid, source in pairs if _is_shown(("fact", uid), items, shown)]

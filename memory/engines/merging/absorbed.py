"""Facts that the target has under another id since an earlier merge, and those that stand for them there.

What the source says of such a fact later goes to the one that stands for it.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from copy import copy
from uuid import UUID

from django.db.models import Q

from memory.db.querysets import Lineage
from memory.engines.facts.known_texts import KnownTexts
from memory.engines.facts.supersession import CURRENT
from memory.engines.merging.changes import load_nearest
from memory.engines.merging.owners import load_confirmations
from memory.engines.merging.plan import FullPlan, PlanItem
from memory.engines.support.batches import batched
from memory.engines.versions.graph import Point
from memory.engines.versions.repositories import name_repositories
from memory.models import Fact

BATCH_SIZE = 500
MAX_STEPS = 16  # a fact that stands for another one may have been absorbed in turn


def find_stand_ins(plan: FullPlan) -> dict[UUID, Fact]:
    """Return what stands for each absorbed fact of which the source says something, without changing it."""
    return _follow(plan, _list_named(plan) - {item.uid for item in plan.of_model(Fact)}, {})


def add_stand_ins(plan: FullPlan) -> None:
    """Add what stands for the absorbed facts that stay closed, or are closed, by what this merge settles."""
    closed = {item.uid: _build_tombstone(plan, item) for item in plan.of_model(Fact) if _is_closed(item)}
    named = (_list_named(plan) & closed.keys()) - plan.stand_ins.keys() if closed else set()
    if named:
        plan.stand_ins = plan.stand_ins | _follow(plan, named, closed)


def _is_closed(item: PlanItem) -> bool:
    return item.is_written and (item.removes or (item.merged is None and item.theirs.deleted))


def _build_tombstone(plan: FullPlan, item: PlanItem) -> Fact:
    """Return the deletion that the merge writes, not saved, as if it were the target's last commit."""
    row: Fact = copy(item.theirs)
    row.branch_id, row.seq_from, row.deleted = plan.points.target.pk, plan.points.target_seq, True
    if item.merged is not None:
        row.prev_vid, row.merged_vid = item.ours.vid if item.ours is not None else None, item.theirs.vid
    return row


def _follow(plan: FullPlan, uids: set[UUID], closed: Mapping[UUID, Fact]) -> dict[UUID, Fact]:
    """Return the fact that stands for each of some on the target, where these are closed besides."""
    found: dict[UUID, Fact] = {}
    waiting = {uid: uid for uid in uids}
    for _ in range(MAX_STEPS):
        rows = load_nearest(Fact, plan.points.target_lineage, sorted(set(waiting.values())))
        rows |= {uid: closed[uid] for uid in waiting.values() if uid in closed}
        found |= {
            uid: rows[last]
            for uid, last in waiting.items()
            if last != uid and last in rows and not rows[last].deleted
        }
        absorbing = _find_absorbing(plan, [row for row in rows.values() if row.deleted], closed.keys())
        waiting = {uid: absorbing[last] for uid, last in waiting.items() if last in absorbing}
        if not waiting:
            break
    return found


def _list_named(plan: FullPlan) -> set[UUID]:
    """Return the facts that have links, a verdict or confirmations of the source."""
    keys = {key for item in plan.items if item.model.OWNERS for key in item.theirs.owner_keys()}
    named = {uid for kind, uid in keys if kind == Fact.KIND.name}
    return named | {row.uid for row in load_confirmations(plan)}


def _find_absorbing(plan: FullPlan, tombstones: Iterable[Fact], closed: Set[UUID]) -> dict[UUID, UUID]:
    """Return the fact of the same text beside which each of these was closed."""
    by_point: dict[Point, list[Fact]] = {}
    for row in _select_absorbed(plan.points.target_lineage, tombstones):
        by_point.setdefault((row.branch_id, row.seq_from), []).append(row)
    found: dict[UUID, UUID] = {}
    for point, rows in by_point.items():
        known = _load_known(plan, point, rows, closed)
        found |= {row.uid: one.uid for row in rows if (one := known.find(row)) is not None}
    return found


def _select_absorbed(lineage: Lineage, tombstones: Iterable[Fact]) -> list[Fact]:
    """Return those that a merge made of a fact which the target never had; of a later one the first.

    The revert of a merge's revert brings them back: it follows them as the other parent. Where a merge found
    that both sides deleted it since, or that the source left it alone, it follows them as the one before it.
    """
    rows = [row for row in tombstones if row.merged_vid is not None]
    deletions = {row.vid: row for row in _load_deletions(lineage, rows)}
    closed = {vid for vid, row in deletions.items() if row.prev_vid is None and row.merged_vid is not None}
    found: dict[UUID, Fact] = {}
    for row in rows:
        last: Fact | None = row
        while last is not None and last.prev_vid is not None and last.merged_vid not in closed:
            last = deletions.get(last.prev_vid)
        if last is not None and last.merged_vid is not None and _is_within(lineage, last):
            found[row.uid] = last
    return list(found.values())


def _load_deletions(lineage: Lineage, rows: Iterable[Fact]) -> Iterator[Fact]:
    """Yield the deletions of facts, each as the lineage has it where it has it."""
    for batch in batched([row.uid for row in rows if row.prev_vid is not None], BATCH_SIZE):
        deletions = Fact._base_manager.filter(uid__in=batch, deleted=True)
        yield from sorted(deletions, key=lambda row: _is_within(lineage, row))


def _is_within(lineage: Lineage, row: Fact) -> bool:
    return any(row.branch_id == branch and row.seq_from <= limit for branch, limit in lineage)


def _load_known(plan: FullPlan, point: Point, rows: list[Fact], closed: Set[UUID]) -> KnownTexts:
    """Return the current facts of these texts at a commit of the target's lineage, those closed since aside."""
    at = rows[0].updated_at
    facts = Fact.objects.in_lineage(_cut_lineage(plan.points.target_lineage, point))
    facts = facts.filter(~Q(expires_at__lte=at), status__in=CURRENT)
    found: list[Fact] = []
    for batch in batched(sorted({row.norm_hash for row in rows}), BATCH_SIZE):
        found += [row for row in facts.filter(norm_hash__in=batch).fetch_all() if row.uid not in closed]
    name_repositories(rows, plan.points.project_id)
    known = KnownTexts(at)
    for row in name_repositories(sorted(found, key=lambda row: row.uid), plan.points.project_id):
        known.add(row)
    return known


def _cut_lineage(lineage: Lineage, point: Point) -> Lineage:
    """Return a lineage as it was at a commit of one of its branches."""
    branch, seq = point
    start = [one for one, _limit in lineage].index(branch)
    return [(branch, seq), *lineage[start + 1 :]]

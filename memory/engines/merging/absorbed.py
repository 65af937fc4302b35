"""Facts that the target has under another id since an earlier merge, and those that stand for them there.

What the source says of such a fact later goes to the one that stands for it.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from memory.db.querysets import Lineage
from memory.db.raw_select import fetch_instances
from memory.engines.facts.known_texts import KnownTexts
from memory.engines.facts.links import CURRENT
from memory.engines.merging.changes import load_nearest
from memory.engines.merging.owners import load_confirmations
from memory.engines.merging.plan import FullPlan, PlanItem
from memory.engines.merging.writes import build_version
from memory.engines.versions.graph import Point
from memory.engines.versions.repositories import name_repositories
from memory.models import Fact

MAX_STEPS = 16  # a fact that stands for another one may have been absorbed in turn


def find_stand_ins(plan: FullPlan) -> dict[UUID, Fact]:
    """Return what stands for each absorbed fact of which the source says something, without changing it."""
    named = _list_named(plan) - {item.uid for item in plan.of_model(Fact)}
    return _follow(plan, {uid: uid for uid in named}, {})


def add_stand_ins(plan: FullPlan) -> None:
    """Add what stands for the absorbed facts that stay closed, or are closed, by what this merge settles.

    What stood for one until now may be closed too: what stands for that stands for both.
    """
    written = [item for item in plan.of_model(Fact) if item.is_written]
    closed = {item.uid for item in written if item.removes or (item.merged is None and item.theirs.deleted)}
    standing = {uid: plan.stand_ins[uid].uid if uid in plan.stand_ins else uid for uid in _list_named(plan)}
    waiting = {uid: last for uid, last in standing.items() if last in closed}
    if waiting:
        settled = {item.uid: _build_settled(plan, item) for item in written}
        plan.stand_ins = plan.stand_ins | _follow(plan, waiting, settled)


def _build_settled(plan: FullPlan, item: PlanItem) -> Fact:
    """Return the version that the merge will write, with the point at which it will be."""
    row: Fact = build_version(item)[1]
    row.branch_id, row.seq_from = _next_point(plan)
    row.updated_at = plan.points.target.head_at
    return row


def _next_point(plan: FullPlan) -> Point:
    return plan.points.target.pk, plan.points.target_seq + 1


def _follow(plan: FullPlan, waiting: dict[UUID, UUID], settled: Mapping[UUID, Fact]) -> dict[UUID, Fact]:
    """Return the fact that stands for each of some on the target, where it shows these settled ones too.

    The way begins at the fact that each of them is known by there.
    """
    found: dict[UUID, Fact] = {}
    for _ in range(MAX_STEPS):
        rows = load_nearest(Fact, plan.points.target_lineage, sorted(set(waiting.values())))
        rows |= {uid: settled[uid] for uid in waiting.values() if uid in settled}
        found |= {
            uid: rows[last]
            for uid, last in waiting.items()
            if last != uid and last in rows and not rows[last].deleted
        }
        absorbing = _find_absorbing(plan, [row for row in rows.values() if row.deleted], settled)
        waiting = {uid: absorbing[last] for uid, last in waiting.items() if last in absorbing}
        if not waiting:
            break
    return found


def _list_named(plan: FullPlan) -> set[UUID]:
    """Return the facts that have links, a verdict or confirmations of the source."""
    keys = {key for item in plan.items if item.model.OWNERS for key in item.theirs.owner_keys()}
    named = {uid for kind, uid in keys if kind == Fact.KIND.name}
    return named | {row.uid for row in load_confirmations(plan)}


def _find_absorbing(
    plan: FullPlan, tombstones: Iterable[Fact], settled: Mapping[UUID, Fact]
) -> dict[UUID, UUID]:
    """Return the fact of the same text beside which each of these was closed."""
    by_point: dict[Point, list[Fact]] = {}
    for row in _select_absorbed([_next_point(plan), *plan.points.target_lineage[1:]], tombstones):
        by_point.setdefault((row.branch_id, row.seq_from), []).append(row)
    found: dict[UUID, UUID] = {}
    for point, rows in by_point.items():
        known = _load_known(plan, point, rows, settled if point == _next_point(plan) else {})
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
    uids = [row.uid for row in rows if row.prev_vid is not None]
    deletions = fetch_instances(Fact._base_manager.filter(deleted=True), "uid", uids)
    yield from sorted(deletions, key=lambda row: _is_within(lineage, row))


def _is_within(lineage: Lineage, row: Fact) -> bool:
    return any(row.branch_id == branch and row.seq_from <= limit for branch, limit in lineage)


def _load_known(plan: FullPlan, point: Point, rows: list[Fact], settled: Mapping[UUID, Fact]) -> KnownTexts:
    """Return the facts of these texts that were current at a commit of the target, or are as settled.

    Behind them come those that were current before it: a merge may replace or edit what absorbs others.
    """
    at, hashes = rows[0].updated_at, {row.norm_hash for row in rows}
    after = [row for row in settled.values() if _is_current(row, at) and row.norm_hash in hashes]
    after += [row for row in _load_current(plan, point, at, hashes) if row.uid not in settled]
    before = _load_current(plan, (point[0], point[1] - 1), at, hashes)
    name_repositories(rows, plan.points.project_id)
    known = KnownTexts(at)
    for found in (after, before):
        for row in name_repositories(sorted(found, key=lambda row: row.uid), plan.points.project_id):
            known.add(row)
    return known


def _load_current(plan: FullPlan, point: Point, at: datetime, hashes: Iterable[str]) -> list[Fact]:
    facts = Fact.objects.in_lineage(_cut_lineage(plan.points.target_lineage, point))
    facts = facts.filter(~Q(expires_at__lte=at), status__in=CURRENT)
    return facts.fetch_by_key("norm_hash", sorted(hashes))


def _is_current(row: Fact, at: datetime) -> bool:
    is_over = row.expires_at is not None and row.expires_at <= at
    return not row.deleted and row.status in CURRENT and not is_over


def _cut_lineage(lineage: Lineage, point: Point) -> Lineage:
    """Return a lineage as it was at a commit of one of its branches."""
    branch, seq = point
    start = [one for one, _limit in lineage].index(branch)
    return [(branch, min(seq, lineage[start][1])), *lineage[start + 1 :]]

"""Memories of the source that the target has under another id: equal texts, equal edges, taken numbers."""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from memory.db.querysets import Lineage
from memory.engines.facts.known_texts import KnownTexts
from memory.engines.facts.links import CURRENT
from memory.engines.merging.contents import merge_unrelated
from memory.engines.merging.plan import (
    APPLIED,
    COMBINED,
    IDENTICAL,
    NEW,
    SAME,
    SAME_EDGE,
    SAME_TEXT,
    FullPlan,
    PlanItem,
)
from memory.engines.support.batches import batched
from memory.engines.versions.kinds import models_by_kind
from memory.engines.versions.repositories import is_elsewhere, name_repositories
from memory.models import BranchedModel, Fact

BATCH_SIZE = 500
KEPT_TOGETHER = ("confidence", "tags")  # what a fact takes over from another of the same text


def absorb_item(item: PlanItem, reason: str, other: Any) -> None:
    """Mark a memory as one that the target has under another id: its own id is closed there."""
    item.outcome, item.reason, item.other = IDENTICAL, reason, other
    kept = item.ours if item.ours is not None else item.theirs
    item.merged = kept.content_values()
    item.removes = item.ours is None or item.ours.deleted


# ---- the last copy -------------------------------------------------------------------------------------


def keep_last_copies(plan: FullPlan) -> None:
    """Keep what the source closed for a copy that the target closed in turn: one of the two must stay.

    Three branches that merge in a circle come to this: each closed the copy that another one kept.
    """
    models: list[type[BranchedModel]] = [Fact, *list_edge_models()]
    for model in models:
        for batch in batched([item for item in plan.of_model(model) if _closes_copy(item)], BATCH_SIZE):
            for item in _find_last_copies(plan, model, batch):
                item.outcome, item.reason, item.merged = IDENTICAL, SAME, item.ours.content_values()


def _find_last_copies(
    plan: FullPlan, model: type[BranchedModel], items: Sequence[PlanItem]
) -> Iterator[PlanItem]:
    """Yield those of which the source shows a copy that does not arrive, while the target has no other."""
    on_source = _load_copies(plan, model, plan.points.source_lineage, items)
    on_target = _load_copies(plan, model, plan.points.target_lineage, items)
    own = {row.uid: row for row in on_target}
    arriving = {item.uid for item in plan.of_model(model) if item.outcome in (APPLIED, IDENTICAL)}
    removed = {item.uid for item in plan.of_model(model) if item.theirs.deleted}
    for item in [item for item in items if item.uid in own]:
        kept = {row.uid for row in on_source if _says_same(row, own[item.uid])}
        left = {row.uid for row in on_target if _says_same(row, own[item.uid])} - removed
        if kept and not kept & arriving and not left:
            yield item


def list_edge_models() -> list[type[BranchedModel]]:
    return [m for m in models_by_kind().values() if m.KIND.identity and not m.KIND.numbered]


def _closes_copy(item: PlanItem) -> bool:
    """Return whether the source closed, beside another one, a memory that the target shows."""
    shown = item.ours is not None and not item.ours.deleted
    return item.outcome == APPLIED and shown and item.theirs.deleted and item.theirs.merged_vid is not None


def _load_copies(
    plan: FullPlan, model: type[BranchedModel], lineage: Lineage, items: Sequence[PlanItem]
) -> list[Any]:
    """Return the shown memories of a lineage that may say the same as the target's of these items."""
    name = "norm_hash" if model is Fact else model.KIND.identity[0]
    values = {getattr(item.ours, name) for item in items}
    rows: list[Any] = model.objects.in_lineage(lineage).filter(**{f"{name}__in": sorted(values)}).fetch_all()
    if model is not Fact:
        return rows
    return [row for row in name_repositories(rows, plan.points.project_id) if row.status in CURRENT]


def _says_same(one: Any, two: Any) -> bool:
    if isinstance(one, Fact):
        return one.norm_hash == two.norm_hash and not is_elsewhere(one.repository, two.repository)
    return bool(one.identity() == two.identity())


# ---- equal texts ---------------------------------------------------------------------------------------


def match_equal_texts(plan: FullPlan) -> dict[UUID, Fact]:
    """Absorb new facts whose text is on the target already; return the target's fact of each."""
    items = [item for item in plan.of_model(Fact) if item.outcome == APPLIED and item.reason == NEW]
    items = [item for item in items if item.ours is None and item.theirs.status in CURRENT]
    known = _load_equal_texts(plan, items)
    matched = {item.uid: found for item in items if (found := known.find(item.theirs)) is not None}
    for item in items:
        if found := matched.get(item.uid):
            absorb_item(item, SAME_TEXT, found)
            item.other_content = _take_over(found, item.theirs, KEPT_TOGETHER)
    return matched


def _load_equal_texts(plan: FullPlan, items: Sequence[PlanItem]) -> KnownTexts:
    """Return the target's current facts with these texts which the source neither shows nor changes."""
    facts = Fact.objects.in_lineage(plan.points.target_lineage).filter(~Q(expires_at__lte=timezone.now()))
    hashes = {item.theirs.norm_hash for item in items}
    found = facts.filter(status__in=CURRENT).fetch_by_key("norm_hash", sorted(hashes))
    shared = {item.uid for item in plan.of_model(Fact)} | _shown_on_source(plan, [row.uid for row in found])
    known = KnownTexts(plan.points.target.head_at)
    name_repositories([item.theirs for item in items], plan.points.project_id)
    for row in name_repositories(sorted(found, key=lambda row: row.uid), plan.points.project_id):
        if row.uid not in shared:
            known.add(row)
    return known


def _shown_on_source(plan: FullPlan, uids: Sequence[UUID]) -> set[UUID]:
    facts = Fact.objects.in_lineage(plan.points.source_lineage)
    return {uid for (uid,) in facts.select_by_key(("uid",), "uid", uids)}


def take_over(item: PlanItem, other: Any) -> dict[str, Any]:
    """Return what changes of ``other``, the memory that stands for an item, or that its decision changes."""
    if item.outcome != IDENTICAL:  # a decision on two facts that are nearly equal
        return item.other_content
    return _take_over(other, item.theirs, KEPT_TOGETHER if item.reason == SAME_TEXT else ())


def _take_over(ours: Any, theirs: Any, names: Iterable[str] = ()) -> dict[str, Any]:
    """Return the fields of ``ours`` that change when it takes over those of another memory."""
    merged = merge_unrelated(ours, theirs)
    free = set(names or merged.content) - set(merged.conflicts)
    return {name: merged.content[name] for name in free if merged.content[name] != getattr(ours, name)}


# ---- equal edges ---------------------------------------------------------------------------------------


def match_edges(plan: FullPlan) -> None:
    """Absorb relations and links that the target has already; links follow absorbed facts."""
    for model in list_edge_models():
        items = [item for item in plan.of_model(model) if _takes_place(item)]
        for item in items:
            _follow_absorbed(item, plan.stand_ins)
        _absorb_known_edges(plan, model, items)


def _takes_place(item: PlanItem) -> bool:
    """Return whether a memory arrives without a decision, or by one where the target shows none of its id."""
    is_shown = item.ours is not None and not item.ours.deleted
    return item.arrives and (item.outcome == APPLIED or not is_shown)


def _follow_absorbed(item: PlanItem, stand_ins: Mapping[UUID, Fact]) -> None:
    """Move an edge from an absorbed fact to the one that stands for it on the target."""
    draft = draft_row(item)
    ends = {name: getattr(draft, name) for name in item.model.KIND.identity}
    moved = {name: stand_ins[end].uid for name, end in ends.items() if end in stand_ins}
    if moved:
        _combine(item, {**draft.content_values(), **moved})


def _combine(item: PlanItem, content: dict[str, Any]) -> None:
    """Set the content of what arrives; a conflict keeps the reason by which it was decided."""
    item.merged = content
    if item.outcome == APPLIED:
        item.reason = COMBINED


def _absorb_known_edges(plan: FullPlan, model: type[BranchedModel], items: Sequence[PlanItem]) -> None:
    drafts = {item.uid: draft_row(item) for item in items}
    planned = {item.uid for item in plan.of_model(model)}
    found: dict[str, Any] = load_edges(plan, model, list(drafts.values()))
    known = {identity: row for identity, row in found.items() if row.uid not in planned}
    arriving: dict[str, PlanItem] = {}
    for item in items:
        draft = drafts[item.uid]
        other = known.get(draft.identity())
        if other is not None or _joins_itself(draft):
            absorb_item(item, SAME_EDGE, other)
            item.other_content = _take_over(other, item.theirs) if other is not None else {}
        elif (first := arriving.setdefault(draft.identity(), item)) is not item:
            absorb_item(item, SAME_EDGE, None)
            item.joined = first
            _extend_edge(first, item.theirs)


def _extend_edge(item: PlanItem, theirs: Any) -> None:
    """Let an edge that arrives take over another one that arrives in its place."""
    draft = draft_row(item)
    _combine(item, {**draft.content_values(), **_take_over(draft, theirs)})


def draft_row(item: PlanItem) -> Any:
    """Return an unsaved row with the content that the target would get."""
    content = item.merged if item.merged is not None else item.theirs.content_values()
    return item.model(uid=item.uid, **content)


def _joins_itself(row: Any) -> bool:
    return hasattr(row, "from_id") and row.from_id == row.to_id


def load_edges(plan: FullPlan, model: type[BranchedModel], drafts: Sequence[Any]) -> dict[str, Any]:
    """Return the edges that the target shows in the places of these, by identity."""
    first, identities = model.KIND.identity[0], {row.identity() for row in drafts}
    rows: Any = model.objects.in_lineage(plan.points.target_lineage)
    shown = rows.fetch_by_key(first, sorted({getattr(row, first) for row in drafts}))
    return {row.identity(): row for row in shown if row.identity() in identities}


# ---- numbered parts ------------------------------------------------------------------------------------


@dataclass
class _Thread:
    """The parts of one owner, of which the target numbers some as the source numbers others."""

    owner: UUID
    items: list[PlanItem] = field(default_factory=list)

    @property
    def added(self) -> list[PlanItem]:
        return [item for item in self.items if item.ours is None or item.ours.deleted]


def fork_tails(plan: FullPlan) -> None:
    """Make the source's tail a fork where both sides appended to one conversation."""
    for model in models_by_kind().values():
        if model.KIND.numbered:
            for thread in _group_by_owner(plan, model):
                _fork_thread(plan, model, thread)


def _group_by_owner(plan: FullPlan, model: type[BranchedModel]) -> list[_Thread]:
    column = model.KIND.identity[0]
    threads: dict[UUID, _Thread] = {}
    for item in plan.of_model(model):
        if _takes_place(item):
            owner = getattr(item.theirs, column)
            threads.setdefault(owner, _Thread(owner)).items.append(item)
    return list(threads.values())


def _fork_thread(plan: FullPlan, model: type[BranchedModel], thread: _Thread) -> None:
    column, number = model.KIND.identity
    owner_model = models_by_kind()[model.OWNERS[column]]
    fork = find_fork(plan, model, thread)
    shown = dict(_load_numbers(plan, model, thread.owner))
    moved = {item.uid: getattr(draft_row(item), number) for item in thread.items}
    changed = {item.uid for item in plan.of_model(model) if item.outcome == APPLIED}
    kept = {uid: n for uid, n in shown.items() if uid not in changed}
    collide = len({*kept.values(), *moved.values()}) < len(kept) + len(moved)
    if not fork and not collide:
        return
    for item in thread.items:
        if item.uid in shown:  # it keeps the target's number
            _combine(item, {**draft_row(item).content_values(), number: shown[item.uid]})
    _move_tail(plan, owner_model, column, thread)


def _load_numbers(plan: FullPlan, model: type[BranchedModel], owner: UUID) -> list[tuple]:
    rows = model.objects.in_lineage(plan.points.target_lineage)
    column, number = model.KIND.identity
    return rows.filter(**{column: owner}).gather_values("uid", number)


def find_fork(plan: FullPlan, model: type[BranchedModel], thread: _Thread) -> UUID | None:
    """Return the fork that an earlier merge made of this conversation's tail, if the target shows it."""
    uid, _last = find_tail(plan, model, thread.owner)
    if uid is None:
        return None
    column = model.KIND.identity[0]
    owners = models_by_kind()[model.OWNERS[column]].objects.in_lineage(plan.points.target_lineage)
    fork = build_fork_id(thread.owner, uid)
    return fork if owners.filter(uid=fork).gather_values("uid") else None


def find_tail(plan: FullPlan, model: type[BranchedModel], owner: UUID) -> tuple[UUID | None, UUID | None]:
    """Return the source's first part that the target has not under this owner, and the last common one."""
    column, number = model.KIND.identity
    common = {uid for uid, _ in _load_numbers(plan, model, owner)}
    rows = model.objects.in_lineage(plan.points.source_lineage)
    last: UUID | None = None
    for _n, uid in sorted(rows.filter(**{column: owner}).gather_values(number, "uid")):
        if uid not in common:
            return uid, last
        last = uid
    return None, last


def build_fork_id(owner: UUID, first: UUID) -> UUID:
    """Return the id of a fork, the same for all that is appended to the tail later."""
    return uuid.uuid5(owner, f"fork:{first.hex}")


def _move_tail(plan: FullPlan, owner_model: Any, column: str, thread: _Thread) -> None:
    tail = thread.added
    if not tail:
        return
    first, last = find_tail(plan, tail[0].model, thread.owner)
    assert first is not None
    fork = build_fork_id(thread.owner, first)
    for item in tail:
        _combine(item, {**item.theirs.content_values(), column: fork})
    if not owner_model.objects.in_lineage(plan.points.target_lineage).filter(uid=fork).gather_values("uid"):
        plan.written.append(_build_fork(plan, owner_model, thread.owner, fork, last))


def _build_fork(plan: FullPlan, owner_model: Any, owner: UUID, fork: UUID, last: UUID | None) -> Any:
    # What the source has deleted since, without the parts that others had added, the target may show still.
    lineages = plan.points.source_lineage, plan.points.target_lineage
    shown = (owner_model.objects.in_lineage(one).filter(uid=owner).fetch_all() for one in lineages)
    row = next(row for rows in shown for row in rows)
    origin = dict(zip(owner_model.KIND.fork_columns, (owner, last), strict=True))
    return owner_model(uid=fork, **{**row.content_values(), **origin})

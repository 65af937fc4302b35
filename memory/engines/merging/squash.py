"""The strategy squash: one fact of the new ones of a source, linked to each."""

import uuid
from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from django.utils import timezone

from memory.engines.facts.assessment import searchable_rows
from memory.engines.facts.rules import clean_update, compute_essence
from memory.engines.merging.plan import APPLIED, NEW, SQUASHED, FullPlan, MergePoints, PlanItem
from memory.engines.support.batches import batched
from memory.engines.versions.repositories import find_repositories
from memory.models import Fact, FactLink

LINE_MARK = "- "
SHARED = ("visibility", "valid_from", "valid_until", "expires_at")  # of all parts of a squashed fact
BATCH_SIZE = 500


def squash_facts(plan: FullPlan) -> None:
    """Make one fact of the new ones that a search of the source finds, which arrive archived: linked to each,
    and no surer than the least. Those for other readers, of another repository or of another time are apart:
    what stands alone, or is not found, arrives as it is.
    """
    items = [item for item in plan.of_model(Fact) if item.outcome == APPLIED and item.reason == NEW]
    items = [item for item in items if item.ours is None and item.theirs.status in Fact.SEARCHED]
    for group in group_items(plan.points, items):
        if len(group) > 1:
            _squash_group(plan, group)


def group_items(points: MergePoints, items: Sequence[PlanItem]) -> list[list[PlanItem]]:
    """Return the items that a search of the source finds, by who may read them, where and when they hold."""
    lineage, found = points.source.lineage(points.source_seq), set[UUID]()
    for batch in batched([item.uid for item in items], BATCH_SIZE):
        rows = searchable_rows(lineage, timezone.now()).filter(uid__in=batch).fetch_all()
        found |= {row.uid for row in rows}
    shown = [item for item in items if item.uid in found]
    repositories = find_repositories(points.project_id, [item.theirs for item in shown])
    groups: dict[tuple, list[PlanItem]] = {}
    for item, repository in zip(shown, repositories, strict=True):
        bounds = [getattr(item.theirs, name) for name in SHARED]
        groups.setdefault((repository, *bounds), []).append(item)
    return list(groups.values())


def _squash_group(plan: FullPlan, items: Sequence[PlanItem]) -> None:
    for item in items:
        archived = {"status": Fact.Status.ARCHIVED, "held_status": item.theirs.status}
        item.merged, item.reason = {**item.theirs.content_values(), **archived}, SQUASHED
    (repository,) = set(find_repositories(plan.points.project_id, [item.theirs for item in items]))
    fact = _build_squashed([item.theirs for item in items], repository)
    links = [_build_source_link(fact, item.theirs) for item in items]
    plan.written += [fact, *links]


def _build_squashed(facts: Sequence[Fact], repository: str) -> Fact:
    text = "\n".join(f"{LINE_MARK}{fact.essence}" for fact in facts)
    key = uuid.uuid5(facts[0].uid, ":".join(str(fact.vid) for fact in facts))
    content = clean_update({"fact_text": text})
    fact = Fact(
        uid=key,
        essence=compute_essence(facts[0].essence),
        category=Counter(fact.category for fact in facts).most_common(1)[0][0],
        confidence=min(fact.confidence for fact in facts),
        source_type=Fact.SourceType.MERGE,
        tags=sorted({tag for fact in facts for tag in fact.tags}),
        repository=repository,
        **{name: getattr(facts[0], name) for name in SHARED},
        **content,
    )
    fact.compute_hashes()
    return fact


def _build_source_link(fact: Fact, source: Fact) -> FactLink:
    return FactLink(from_id=fact.uid, to_id=source.uid, link_type=FactLink.Type.CONSOLIDATED_FROM)

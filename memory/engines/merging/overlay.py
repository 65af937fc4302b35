"""The result of a plan as an overlay of its target, so that it can be searched before anything is merged."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from django.utils import timezone

from memory.db.querysets import Lineage
from memory.engines.facts.assessment import Assessment, Verdict, count_confirmations
from memory.engines.merging.changes import load_nearest
from memory.engines.merging.plan import FullPlan
from memory.engines.merging.writes import build_version, choose_moved, list_changed_others
from memory.engines.search.overlay import Change, Overlay
from memory.models import Fact, FactAssessment

Stored = dict[
    str, tuple[int, Lineage]
]  # hash of a text -> a row that has it, and a lineage that shows the row


def build_overlay(plan: FullPlan) -> Overlay:
    """Return the overlay of a plan: its facts, and those of the target that are judged or confirmed by it."""
    facts, verdicts = list_facts(plan), load_verdicts_after(plan)
    confirmed = Counter(row.uid for row in plan.confirmations)
    facts |= load_judged(plan, (verdicts.keys() | confirmed.keys()) - facts.keys())
    shown = [fact for fact in facts.values() if fact is not None]
    assessments = assess_facts(plan, [fact.uid for fact in shown], verdicts, confirmed)
    stored = index_texts(plan)
    changes = [
        Change(_number_row(fact, -place), assessments[fact.uid], *stored.get(fact.content_hash, (None, ())))
        for place, fact in enumerate(shown, 1)
    ]
    return Overlay(plan.points.project_id, frozenset(facts), tuple(changes))


def list_facts(plan: FullPlan) -> dict[UUID, Fact | None]:
    """Return the facts that the merge writes, as the target will show them; None where it removes one."""
    facts: dict[UUID, Fact | None] = {}
    for item in plan.of_model(Fact):
        if item.is_written:
            _old, row = build_version(item)
            facts[item.uid] = None if row.deleted else row
    for old, content in list_changed_others(plan):
        if isinstance(old, Fact):
            facts[old.uid] = Fact(uid=old.uid, **content)
    return facts | {row.uid: row for row in plan.written if isinstance(row, Fact)}


def load_verdicts_after(plan: FullPlan) -> dict[UUID, FactAssessment | None]:
    """Return the verdicts that the merge writes, by the id of their fact; None where it removes one."""
    found: dict[UUID, Any] = {}
    for item in plan.of_model(FactAssessment):
        if item.is_written:
            _old, row = build_version(item)
            found[item.uid] = None if row.deleted else row
    found |= {row.uid: row for row in plan.written if isinstance(row, FactAssessment)}
    moved = [fact.uid for fact, _ in plan.moved_verdicts]
    known = load_nearest(FactAssessment, plan.points.target_lineage, moved)
    return found | choose_moved(plan, {**known, **found})


def load_judged(plan: FullPlan, uids: Iterable[UUID]) -> dict[UUID, Fact]:
    """Return the facts that the target shows, as they are."""
    rows = load_nearest(Fact, plan.points.target_lineage, sorted(uids))
    return {uid: row for uid, row in rows.items() if not row.deleted}


def assess_facts(
    plan: FullPlan,
    uids: list[UUID],
    verdicts: Mapping[UUID, FactAssessment | None],
    confirmed: Mapping[UUID, int],
) -> dict[UUID, Assessment]:
    """Return the assessment of each fact after the merge."""
    lineage = plan.points.target_lineage
    own = {uid: row for uid, row in load_nearest(FactAssessment, lineage, uids).items() if not row.deleted}
    after, counts = {**own, **verdicts}, count_confirmations(uids, lineage)
    return {
        uid: Assessment(_read_verdict(after.get(uid)), counts[uid] + confirmed.get(uid, 0)) for uid in uids
    }


def _read_verdict(row: FactAssessment | None) -> Verdict | None:
    return None if row is None else Verdict(*(getattr(row, name) for name in Verdict._fields))


def index_texts(plan: FullPlan) -> Stored:
    """Return a stored row for each text of the plan's facts."""
    found: Stored = {}
    for row, lineage in _list_rows(plan):
        if not row.deleted:
            found.setdefault(row.content_hash, (row.rid, lineage))
    judged = load_judged(plan, {row.uid for row in plan.confirmations} | _list_judged(plan))
    for row in judged.values():
        found.setdefault(row.content_hash, (row.rid, plan.points.target_lineage))
    return found


def _list_judged(plan: FullPlan) -> set[UUID]:
    moved = {fact.uid for fact, _ in plan.moved_verdicts}
    return moved | {item.uid for item in plan.of_model(FactAssessment)}


def _list_rows(plan: FullPlan) -> Iterator[tuple[Fact, Lineage]]:
    source, target = plan.points.source_lineage, plan.points.target_lineage
    for item in plan.of_model(Fact):
        sides = ((item.theirs, source), (item.ours, target), (item.other, target))
        yield from ((row, lineage) for row, lineage in sides if row is not None)


def _number_row(fact: Fact, rid: int) -> Fact:
    """Return a copy of a fact under a row id that no row has."""
    copy = Fact(uid=fact.uid, **fact.content_values())
    copy.rid, copy.created_at = rid, fact.created_at or timezone.now()
    return copy

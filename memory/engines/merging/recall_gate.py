"""Recall gate: the saved questions put to the result of a plan, before anything is merged.

The ranks are remembered by each process for a minute, so that the page, the checks and the merge share them.
Under the locks of a merge whose branches moved meanwhile, those of the check before are taken: questions are
put outside of transactions, as providers are asked.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Max
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from memory.actors import Actor
from memory.db.querysets import Lineage
from memory.db.raw_select import fetch_each, plan_last
from memory.engines.evaluation.asking import Place, ask_questions
from memory.engines.evaluation.figures import LOST, Result, summarise
from memory.engines.facts.assessment import Assessment, Verdict, count_confirmations
from memory.engines.fields.questions import DEFAULT_K
from memory.engines.merging.changes import load_nearest
from memory.engines.merging.gates import FAILED, PASSED, WARNING, GateResult, build_result
from memory.engines.merging.pairs import build_key
from memory.engines.merging.plan import FullPlan, MergePoints
from memory.engines.merging.strategies import MergeOptions
from memory.engines.merging.writes import build_version, choose_moved, list_changed_others
from memory.engines.search.overlay import Change, Overlay
from memory.engines.search.ranked import get_recipe
from memory.engines.support.timed_cache import TimedCache
from memory.engines.versions.policies import Policy
from memory.models import Fact, FactAssessment
from memory.models.questions import Question

MAX_ASKED = 200  # the newest questions of a project
MAX_CHANGES = 10_000  # facts that a merge exchanges; more are not searched
CACHE_SIZE = 32
MAX_NAMED = 3  # questions that a result names
NAMED_CHARACTERS = 100
CACHE_SECONDS = 60.0  # facts expire and get their vectors, without a commit
Key = tuple[Hashable, ...]
Stored = dict[
    str, tuple[int, Lineage]
]  # hash of a text -> a row that has it, and a lineage that shows the row


@dataclass(frozen=True)
class MergeRecall:
    """The ranks of the saved questions before a merge and after it; ``left`` were not put."""

    results: tuple[Result, ...] = ()
    left: int = 0
    changes: int = 0
    k: int = DEFAULT_K

    @property
    def hurt(self) -> list[UUID]:
        """Return the questions of which the merge takes an expected fact out of the first k."""
        return [one.question for one in self.results if one.describe_change(self.k) == LOST]

    @property
    def scored(self) -> int:
        """Return how many questions count."""
        return sum(one.is_scored for one in self.results)

    @property
    def by_words(self) -> int:
        """Return how many were put by their words alone, as the embedder did not answer."""
        return sum(one.by_words for one in self.results)

    @property
    def is_measured(self) -> bool:
        return self.changes <= MAX_CHANGES

    @property
    def figures(self) -> dict:
        return summarise(self.results, self.k)


recalls: TimedCache[MergeRecall] = TimedCache(CACHE_SIZE, CACHE_SECONDS)


def check_recall(name: str, plan: FullPlan, options: MergeOptions, policy: Policy) -> GateResult:
    """Fail when the merge takes a fact out of the first ten that a saved question expects there."""
    recall = measure_recall(plan.points, options, lambda: plan)
    if recall.hurt:
        return report_hurt(name, recall, plan)
    return report_unmeasured(name, recall) or report_passed(name, recall)


def report_hurt(name: str, recall: MergeRecall, plan: FullPlan) -> GateResult:
    names = name_questions(recall.hurt, plan)
    text = (
        _("Saved questions that would no longer find what they expect: {count}. {names}")
        if names
        else _(
            "Saved questions that would no longer find what they expect: {count}."
            " They were saved on other branches: the tab Recall shows those that you may read."
        )
    )
    return build_result(name, FAILED, text, recall.hurt, "tab=recall", names=names)


def report_unmeasured(name: str, recall: MergeRecall) -> GateResult | None:
    """Warn of what was not measured; None where all was."""
    if not recall.is_measured:
        text = _(
            "The saved questions were not put to the merge, and nothing is stopped: it changes {count} facts,"
            " more than {most}."
        )
        return build_result(name, WARNING, text, count=recall.changes, most=MAX_CHANGES)
    if recall.by_words:
        text = _(
            "No question loses what it expects, but the embedder did not answer: {by_words} of {count}"
            " questions were put by their words alone, to both sides."
        )
        return build_result(
            name, WARNING, text, link="tab=recall", by_words=recall.by_words, count=recall.scored
        )
    if recall.left:
        text = _(
            "No question loses what it expects, of the newest {count}; older ones were not put, and stop"
            " nothing: {left}."
        )
        return build_result(name, WARNING, text, link="tab=recall", count=recall.scored, left=recall.left)
    return None


def report_passed(name: str, recall: MergeRecall) -> GateResult:
    if not recall.results:
        return build_result(name, PASSED, _("No question is saved that the merge could hurt."))
    text = _("Saved questions that find what they expect as before: {count}.")
    return build_result(name, PASSED, text, link="tab=recall", count=recall.scored)


def name_questions(ids: Sequence[UUID], plan: FullPlan) -> str:
    """Return the first of these questions that were saved on one of the two branches."""
    branches = (plan.points.source.name, plan.points.target.name)
    texts = (
        Question.objects.filter(pk__in=ids, branch__in=branches).order_by("pk").values_list("text", flat=True)
    )
    return " · ".join(" ".join(text.split())[:NAMED_CHARACTERS] for text in texts[:MAX_NAMED])


def measure_recall(points: MergePoints, options: MergeOptions, load: Callable[[], FullPlan]) -> MergeRecall:
    """Return the ranks of the saved questions on the target, and on what the merge would make of it. The
    plan is loaded only where ranks are measured.
    """
    if not fetch_each([plan_last(Question, ("id",), 1, project=points.project_id)]):
        return MergeRecall()
    rows = Question.objects.filter(project=points.project_id).order_by("-pk")
    count = rows.count()
    questions = list(rows[:MAX_ASKED])[::-1]
    key = build_recall_key(points, options, questions)
    latest: Key = ("latest", points.source.pk, points.target.pk)
    known = recalls.get(key) or (recalls.get(latest) if in_transaction() else None)
    if known is None:
        known = _measure(load(), questions, count - len(questions))
        recalls.put(key, known)
        recalls.put(latest, known)
    return known


def in_transaction() -> bool:
    return transaction.get_connection().in_atomic_block


def build_recall_key(points: MergePoints, options: MergeOptions, questions: Sequence[Question]) -> Key:
    """Return what the ranks depend on."""
    stamps = tuple((one.pk, one.updated_at) for one in questions)
    return (*build_key(points), options.strategy, options.ids, options.decisions, stamps)


def stamp_questions(project_id: UUID) -> Hashable:
    """Return what changes with each question that is saved, changed or removed."""
    rows = Question.objects.filter(project=project_id)
    return tuple(rows.aggregate(Count("pk"), Max("updated_at")).values())


def _measure(plan: FullPlan, questions: Sequence[Question], left: int) -> MergeRecall:
    overlay = build_overlay(plan)
    changes = len(overlay.hidden | {change.fact.uid for change in overlay.changes})
    if not changes or changes > MAX_CHANGES:
        return MergeRecall(changes=changes)
    actor = build_actor(plan.points.project_id)
    place, before = (build_place(plan, one, actor) for one in (overlay, None))
    return MergeRecall(tuple(ask_questions(questions, place, before, actor, DEFAULT_K)), left, changes)


def build_place(plan: FullPlan, overlay: Overlay | None, actor: Actor) -> Place:
    return Place(plan.points.target.name, get_recipe(actor, ""), plan.points.target_seq, overlay)


def build_actor(project_id: UUID) -> Actor:
    """Return who puts the questions: nobody's session, so that no repository is preferred."""
    return Actor(project_id, "system", scopes=frozenset({"read"}), surface="gate")


# ---- the overlay -------------------------------------------------------------------------------------


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

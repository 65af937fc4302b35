"""Near duplicates and contradictions between the facts that a merge brings and those of its target."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

import numpy as np
from django.utils import timezone

from memory.db.backend import Ranked, get_backend
from memory.db.querysets import Lineage
from memory.db.raw_select import Statement, fetch_each, plan_equal, select_by_key
from memory.engines.embedding.engine import load_vectors
from memory.engines.embedding.models import searched_provider
from memory.engines.embedding.unread import find_by_words, list_unread
from memory.engines.facts.assessment import load_verdicts, searchable_rows
from memory.engines.merging.changes import load_nearest
from memory.engines.merging.plan import APPLIED, CONFLICT, NEW, FullPlan, MergePoints, PlanItem
from memory.engines.support.batches import batched
from memory.engines.support.similarity import Comparison, compare_claims, get_thresholds
from memory.engines.support.timed_cache import TimedCache
from memory.engines.versions.erased import count_erasures
from memory.engines.versions.pair_answers import get_pair_answers
from memory.engines.versions.repositories import find_repositories, is_elsewhere
from memory.exceptions import ProviderUnavailable
from memory.models import Commit, Fact, FactAssessment
from memory.models.end_users import is_of_another

BATCH_SIZE = 1000  # facts compared at once: their vectors are in memory
NEIGHBOURS = (8, 64)  # looked at for a fact; more where none of the nearest ones makes a pair
Key = tuple[Hashable, ...]
CACHE_SIZE = 64  # comparisons that a process remembers; each has ids alone
CACHE_SECONDS = 60.0  # facts expire, and providers come back


class Kind(StrEnum):
    NEAR_DUPLICATE = "near_duplicate"
    CONTESTED = "contested"


class Reason(StrEnum):
    """Why some facts were not compared."""

    NONE = ""
    EMBEDDER_OFF = "embedder_off"
    EMBEDDER_UNAVAILABLE = "embedder_unavailable"
    VECTORS_PENDING = "vectors_pending"


KINDS = {Comparison.SAME_CLAIM: Kind.NEAR_DUPLICATE, Comparison.CONTRADICTION: Kind.CONTESTED}


@dataclass(frozen=True)
class Pair:
    """An arriving fact and the nearest one of the target that it repeats or contradicts."""

    uid: UUID
    other_uid: UUID
    cosine: float
    kind: Kind


@dataclass(frozen=True)
class Pairs:
    """Pairs by arriving fact, and the facts that were not compared, with the reason."""

    found: dict[UUID, Pair] = field(default_factory=dict)
    unchecked: list[UUID] = field(default_factory=list)
    reason: Reason = Reason.NONE


class Text(NamedTuple):
    """What decides whether two facts are a pair."""

    uid: UUID
    kind: str
    fact_text: str
    content_hash: str
    norm_hash: str
    parent_id: UUID | None
    repository: str
    session_id: str
    user_id: str
    app_id: str


def find_pairs(
    facts: Sequence[Fact], *, source: Lineage, target: Lineage, project_id: UUID, exclude: Collection[UUID]
) -> Pairs:
    """Find the pair of each arriving fact with the nearest fact of the target that it repeats or contradicts.

    Only facts that a search finds by default are compared, and arriving proposals. ``exclude`` are facts of
    the target that the merge itself changes or removes. Facts of equal texts, of two repositories, a fact and
    the one that it replaces, and pairs that a curator kept on either side make none.

    In a transaction every vector of the target is read from the database: call it before.
    """
    with get_backend().snapshot():
        now = timezone.now()
        compared = filter_compared(facts, source, now)
        if not compared:
            return Pairs()
        try:
            provider = searched_provider(project_id)
        except ProviderUnavailable:
            return Pairs(unchecked=[fact.uid for fact in compared], reason=Reason.EMBEDDER_UNAVAILABLE)
        if provider is None:
            return Pairs(unchecked=[fact.uid for fact in compared], reason=Reason.EMBEDDER_OFF)
        finder = PairFinder(provider.model, source, target, project_id, frozenset(exclude), now)
        return finder.find_pairs(compared)


def filter_compared(facts: Sequence[Fact], source: Lineage, now: datetime) -> list[Fact]:
    """Return the facts that a search on their branch finds by default, and its proposals."""
    # Items may well resemble one another: what stands under two keys is two facts.
    current = [fact for fact in facts if fact.path is None and is_current(fact, now)]
    verdicts = load_verdicts([fact.uid for fact in current], source)
    invalid = {
        (uid, verdict.judged_hash)
        for uid, verdict in verdicts.items()
        if verdict.status == FactAssessment.Status.INVALIDATED
    }
    return [fact for fact in current if (fact.uid, fact.judged_hash) not in invalid]


def is_current(fact: Fact, now: datetime) -> bool:
    return fact.status in Fact.COMPARED and not any(
        at and at <= now for at in (fact.expires_at, fact.valid_until)
    )


class PairFinder:
    """A comparison with the target's facts by one embedding model."""

    def __init__(
        self,
        model: str,
        source: Lineage,
        target: Lineage,
        project_id: UUID,
        exclude: frozenset[UUID],
        now: datetime,
    ) -> None:
        self.model, self.project_id, self.exclude = model, project_id, exclude
        self.rows = searchable_rows(target, now)
        # Both sides may have a branch in common, seen up to different points.
        self.points: dict[int, int] = defaultdict(int)
        for branch, limit in (*source, *target):
            self.points[branch] = max(self.points[branch], limit)

    def find_pairs(self, facts: Sequence[Fact]) -> Pairs:
        """Return the pairs of the facts that have a vector, or none for good."""
        found: dict[UUID, Pair] = {}
        unchecked: list[UUID] = []
        for batch in batched(facts, BATCH_SIZE):
            hashes = list({fact.content_hash for fact in batch})
            vectors, _ = load_vectors(self.project_id, self.model, hashes)
            unread = list_unread(self.project_id, self.model, hashes)
            unchecked += [fact.uid for fact in batch if fact.content_hash not in vectors.keys() | unread]
            found |= self._pair_texts(self._list_texts(batch, vectors), vectors)
            found |= self._pair_words(self._list_texts(batch, unread))
        return Pairs(found, unchecked, Reason.VECTORS_PENDING if unchecked else Reason.NONE)

    def _list_texts(self, facts: Iterable[Fact], hashes: Collection[str]) -> list[Text]:
        chosen = [fact for fact in facts if fact.content_hash in hashes]
        texts = [Text(*(getattr(fact, name) for name in Text._fields)) for fact in chosen]
        return name_repositories(texts, self.project_id)

    def _pair_words(self, texts: Sequence[Text]) -> dict[UUID, Pair]:
        """Return the pairs of texts that the model cannot read, by the words that they share."""
        near = {text.content_hash: find_by_words(self.rows, text.fact_text, NEIGHBOURS[0]) for text in texts}
        return self._choose_pairs(texts, near) if texts else {}

    def _pair_texts(self, texts: Sequence[Text], vectors: Mapping[str, np.ndarray]) -> dict[UUID, Pair]:
        found: dict[UUID, Pair] = {}
        for k in NEIGHBOURS:
            near = self._match_texts(texts, vectors, k)
            found |= self._choose_pairs(texts, near)
            texts = [text for text in texts if text.uid not in found and len(near[text.content_hash]) == k]
        return found

    def _match_texts(
        self, texts: Iterable[Text], vectors: Mapping[str, np.ndarray], k: int
    ) -> dict[str, Ranked]:
        """Return the nearest rows of the target by the hash of a text."""
        by_size = defaultdict[int, dict[str, np.ndarray]](dict)  # a model may have changed its dimensions
        for text in texts:
            vector = vectors[text.content_hash]
            by_size[len(vector)][text.content_hash] = vector
        near: dict[str, Ranked] = {}
        for same in by_size.values():
            matrix, floor = np.stack(list(same.values())), get_thresholds(self.model).near
            ranked = self.rows.match_vectors(matrix, floor, k, self.model, self.project_id)
            near |= zip(same, ranked, strict=True)
        return near

    def _choose_pairs(self, texts: Sequence[Text], near: Mapping[str, Ranked]) -> dict[UUID, Pair]:
        """Return the first pair of each text among the nearest rows."""
        others = read_texts({rid for ranked in near.values() for rid, _ in ranked}, self.project_id)
        possible = [
            (text, others[rid], cosine)
            for text in texts
            for rid, cosine in near[text.content_hash]
            if others[rid].uid not in self.exclude and may_pair(text, others[rid])
        ]
        compared = {(text.uid, other.uid) for text, other, _ in possible}
        kept = get_pair_answers().find_kept(compared, self.points)
        found: dict[UUID, Pair] = {}
        for text, other, cosine in possible:
            if text.uid in found or (text.uid, other.uid) in kept:
                continue
            if kind := KINDS.get(compare_claims(text.fact_text, other.fact_text)):
                found[text.uid] = Pair(text.uid, other.uid, cosine, kind)
        return found


def may_pair(text: Text, other: Text) -> bool:
    """Return whether the texts differ, neither replaces the other, they are not of two repositories or
    end users, and neither is a reflection, which is like its members by design.
    """
    if Fact.Kind.REFLECTION in (text.kind, other.kind) or is_of_another(text, other):
        return False
    replaces = other.uid == text.parent_id or other.parent_id == text.uid
    differ = other.uid != text.uid and other.norm_hash != text.norm_hash
    return differ and not replaces and not is_elsewhere(other.repository, text.repository)


def read_texts(rids: Collection[int], project_id: UUID) -> dict[int, Text]:
    """Return the texts of rows by row id."""
    rows = select_by_key(Fact._base_manager.all(), ("rid", *Text._fields), "rid", rids)
    texts = name_repositories([Text(*values) for _, *values in rows], project_id)
    return {rid: text for (rid, *_), text in zip(rows, texts, strict=True)}


def name_repositories(texts: Sequence[Text], project_id: UUID) -> list[Text]:
    """Set the repository of each text that names none to that of its session."""
    repositories = find_repositories(project_id, texts)
    return [text._replace(repository=name) for text, name in zip(texts, repositories, strict=True)]


# ---- conflicts of two memories -----------------------------------------------------------------------


@dataclass(frozen=True)
class Compared:
    """The pairs of new facts, and which facts were compared at all."""

    pairs: Pairs = field(default_factory=Pairs)
    uids: frozenset[UUID] = frozenset()


# Comparisons of this process by the points of their plans, which pages, decisions and the merge share.
# Versions do not change, but by an erasure, so one stays true; one that lacks vectors is not kept.
comparisons: TimedCache[Compared] = TimedCache(CACHE_SIZE, CACHE_SECONDS)


def build_key(points: MergePoints) -> Key:
    """Return what a comparison depends on: the commits at both points, and the erasures.

    A restored store may have other commits at the same seqs.
    """
    return (*points.key, *sorted(fetch_each(plan_commits(points))), count_erasures(points.project_id))


def plan_commits(points: MergePoints) -> list[Statement]:
    """Return the statements that read the commits at both points."""
    ends = ((points.source.pk, points.source_seq), (points.target.pk, points.target_seq))
    each = (plan_equal(Commit, ("branch", "id"), branch=[branch], seq=[seq]) for branch, seq in ends)
    return [one for statements in each for one in statements]


def compare_items(points: MergePoints, items: Sequence[PlanItem]) -> Compared:
    """Return how the facts that are new on the source compare with those of the target."""
    key = build_key(points)
    if (compared := comparisons.get(key)) is None:
        compared = _compare(points, items)
        if not compared.pairs.unchecked:
            comparisons.put(key, compared)
    return compared


def _compare(points: MergePoints, items: Sequence[PlanItem]) -> Compared:
    facts = [item.theirs for item in items if item.model is Fact and is_new(item)]
    pairs = find_pairs(
        facts,
        source=points.source_lineage,
        target=points.target_lineage,
        project_id=points.project_id,
        exclude={item.uid for item in items if item.model is Fact} | _list_refuted(points, items),
    )
    return Compared(pairs, frozenset(fact.uid for fact in facts))


def _list_refuted(points: MergePoints, items: Sequence[PlanItem]) -> set[UUID]:
    """Return the facts of the target that are judged to be wrong once the merge is done."""
    arriving = [item.theirs for item in items if item.model is FactAssessment and item.outcome == APPLIED]
    wrong = [row for row in arriving if row.status == FactAssessment.Status.INVALIDATED and not row.deleted]
    facts = load_nearest(Fact, points.target_lineage, [row.uid for row in wrong])
    return {row.uid for row in wrong if row.uid in facts and facts[row.uid].judged_hash == row.judged_hash}


def is_new(item: PlanItem) -> bool:
    return item.outcome == APPLIED and item.reason == NEW and item.ours is None


def mark_similar(plan: FullPlan, compared: Compared) -> None:
    """Make a conflict of each new fact that has a pair; what was not compared is listed as unchecked."""
    items = [item for item in plan.of_model(Fact) if is_new(item)]
    found = compared.pairs.found
    uids = sorted({found[item.uid].other_uid for item in items if item.uid in found})
    others = load_nearest(Fact, plan.points.target_lineage, uids)
    for item in items:
        pair = found.get(item.uid)
        other = others.get(pair.other_uid) if pair else None
        if pair and other is not None and not other.deleted:
            item.outcome, item.reason = CONFLICT, str(pair.kind)
            item.other, item.score = other, pair.cosine
    missing = set(compared.pairs.unchecked) | {item.uid for item in items if item.uid not in compared.uids}
    plan.unchecked = [item.uid for item in items if item.uid in missing and item.outcome == APPLIED]
    plan.unchecked_reason = str(compared.pairs.reason)

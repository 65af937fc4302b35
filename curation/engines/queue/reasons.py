"""Why a fact waits for a curator, in the order of what a decision is worth."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from uuid import UUID

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from curation.engines.verification.ratings import guess_verdict
from curation.models import ReviewItem, Verification
from memory.db.querysets import Lineage
from memory.engines.facts.filters import FactFilter
from memory.models import Branch, Fact, FactAssessment, FactUse

EXPIRING_DAYS = 14  # a fact that ends within so many days waits
# What no person and no judge has said anything of.
UNJUDGED = (FactAssessment.Status.UNVERIFIED.value, FactAssessment.Status.PLAUSIBLE.value)
IDLE_DAYS = 30  # a fact that nobody recalled for so many whole days in UTC since it was written waits


class Reason(StrEnum):
    """Reasons, what is worth most first: somebody waits, then memory says two things, then it is unsure."""

    PROPOSED = "proposed"
    CONTESTED = "contested"
    NEAR_DUPLICATE = "near_duplicate"
    DISAGREEMENT = "disagreement"
    EXPIRING = "expiring"
    UNVERIFIED = "unverified"
    NEVER_RECALLED = "never_recalled"


WORTH = tuple(Reason)


@dataclass(frozen=True)
class Cause:
    """A reason with what it says of one fact: when it ends, or the rating that the heuristic contradicts."""

    reason: Reason
    at: datetime | None = None
    rating: Verification | None = None
    heuristic: str = ""  # the verdict that it would give


@dataclass(frozen=True)
class Scope:
    """The branch whose queue is read, which facts are meant, and the time that counts as now."""

    branch: Branch
    filters: FactFilter
    now: datetime

    @classmethod
    def from_branch(cls, branch: Branch, filters: FactFilter | None = None) -> "Scope":
        return cls(branch, filters or FactFilter(), timezone.now())

    @property
    def lineage(self) -> Lineage:
        return self.branch.lineage()

    @property
    def expires_until(self) -> datetime:
        return self.now + timedelta(days=EXPIRING_DAYS)

    @property
    def idle_since(self) -> datetime:
        return find_idle_time(self.now)


def find_causes(facts: Sequence[Fact], scope: Scope) -> dict[UUID, list[Cause]]:
    """Return why each fact waits, what is worth most first; the facts have their derived fields."""
    uids = [fact.uid for fact in facts]
    kinds, ratings = find_open_kinds(uids, scope), find_disagreeing(facts, scope)
    return {
        fact.uid: sorted(
            _list_causes(fact, kinds[fact.uid], ratings.get(fact.uid), scope),
            key=lambda cause: WORTH.index(cause.reason),
        )
        for fact in facts
    }


def find_open_kinds(uids: Collection[UUID], scope: Scope) -> dict[UUID, set[str]]:
    """Return the kinds of open questions about each fact as the newer one of two."""
    items = ReviewItem.objects.filter(
        branch=scope.branch, status=ReviewItem.Status.OPEN, fact_id__in=list(uids)
    )
    rows = list(items.order_by().values_list("fact_id", "kind", "other_id"))
    if scope.branch.masked:  # a question about what is in quarantine waits for the release
        others = Fact.objects.in_lineage(scope.lineage).filter(uid__in={other for *_, other in rows})
        shown = {fact.uid for fact in others.fetch_all()}
        rows = [row for row in rows if row[2] in shown]
    found = defaultdict[UUID, set[str]](set)
    for uid, kind, _other in rows:
        found[uid].add(kind)
    return found


def find_disagreeing(facts: Sequence[Fact], scope: Scope) -> dict[UUID, Verification]:
    """Return the newest rating of each fact's present text where the heuristic says otherwise."""
    hashes = {fact.uid: fact.judged_hash for fact in facts}
    rows = Verification.objects.filter(
        branch=scope.branch, fact_id__in=list(hashes), latest=True, disagrees=True
    )
    return {row.fact_id: row for row in rows if row.judged_hash == hashes[row.fact_id]}


def _list_causes(
    fact: Fact, kinds: Collection[str], rating: Verification | None, scope: Scope
) -> Iterator[Cause]:
    if fact.status == Fact.Status.CREATED:
        yield Cause(Reason.PROPOSED)
    for kind in kinds:
        yield Cause(Reason(kind))
    if fact.status not in Fact.SEARCHED or is_settled(fact):
        return
    if rating is not None:
        yield Cause(Reason.DISAGREEMENT, rating=rating, heuristic=guess_verdict(fact))
    if end := find_end(fact, scope):
        yield Cause(Reason.EXPIRING, at=end)
    if fact.verification_status in UNJUDGED:
        yield Cause(Reason.UNVERIFIED)
    if not fact.access_count and not fact.pinned and fact.created_at < scope.idle_since:
        yield Cause(Reason.NEVER_RECALLED, at=fact.created_at)


def is_settled(fact: Fact) -> bool:
    """Return whether a person has judged what the fact says now: it waits for nothing but a question."""
    return (
        fact.verification_method == FactAssessment.Method.HUMAN
        and fact.verification_status != FactAssessment.Status.UNVERIFIED
    )


def find_idle_time(now: datetime) -> datetime:
    """Return the time before which a fact was written that may be idle: the beginning of a day in UTC."""
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day - timedelta(days=IDLE_DAYS)


def build_never_recalled(lineage: Lineage, idle_since: datetime) -> Q:
    """Return the condition that a fact is not new, and that nobody recalled, judged or pinned it."""
    used = Exists(FactUse.objects.filter(uid=OuterRef("uid"), access_count__gt=0))
    return Q(created_at__lt=idle_since, pinned=False) & ~Q(used) & ~is_settled_q(lineage)


def is_settled_q(lineage: Lineage) -> Q:
    """Return the condition that a person has judged what a fact says now."""
    verdicts = FactAssessment.objects.in_lineage(lineage).rows()
    settled = verdicts.filter(uid=OuterRef("uid"), judged_hash=OuterRef("judged_hash"))
    settled = settled.filter(method=FactAssessment.Method.HUMAN)
    return Q(Exists(settled.exclude(status=FactAssessment.Status.UNVERIFIED)))


def find_end(fact: Fact, scope: Scope) -> datetime | None:
    """Return when a fact ends, if that is soon."""
    ends = [at for at in (fact.expires_at, fact.valid_until) if at and at > scope.now]
    return min((at for at in ends if at <= scope.expires_until), default=None)

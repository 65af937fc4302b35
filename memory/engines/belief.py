"""What stands beside a fact's history: verdict, confirmations, use, embedding. Attached page by page."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from memory.db.expressions import Judged, Seen
from memory.db.querysets import Lineage
from memory.db.reading import picked
from memory.engines import cleaning as c
from memory.engines.embedding import state_of
from memory.models import Branch, Confirmation, Fact, FactAssessment, FactUse

CHUNK = 500
USE = ("uid", "access_count", "last_accessed_at")


class Verdict(NamedTuple):
    """A verdict on a fact. It counts while the fact's judged_hash is the same."""

    uid: UUID
    judged_hash: str
    status: str
    method: str
    reason: str
    by: str
    at: datetime


class Belief(NamedTuple):
    """What the lineage shows beside one fact."""

    verdict: Verdict | None = None
    confirmations: int = 0

    def counting(self, judged_hash: str) -> Verdict | None:
        """The verdict, unless it is on another text, essence or category than the fact has now."""
        return self.verdict if self.verdict and self.verdict.judged_hash == judged_hash else None


NOTHING = Belief()


def attach(facts: Sequence[Fact], lineage: Lineage, project_id: UUID) -> Sequence[Fact]:
    """Sets the derived fields of each fact: a fixed number of queries for a page, however many facts."""
    return attach_use(attach_belief(facts, lineage), project_id)


def attach_new(facts: Sequence[Fact], project_id: UUID) -> Sequence[Fact]:
    """The same for facts that were stored a moment ago: nobody has judged, confirmed or used them yet."""
    states = state_of(project_id, {fact.content_hash for fact in facts})
    for fact in facts:
        believe(fact, Belief())
        fact.access_count, fact.last_accessed_at = 0, None
        fact.embedding_state, fact.embedding_model = states[fact.content_hash]
    return facts


def attach_belief(facts: Sequence[Fact], lineage: Lineage) -> Sequence[Fact]:
    """The verdict on each fact and the number of its confirmations, as the lineage shows them."""
    known = beliefs([fact.uid for fact in facts], lineage)
    for fact in facts:
        believe(fact, known[fact.uid])
    return facts


def beliefs(uids: Sequence[UUID], lineage: Lineage) -> Mapping[UUID, Belief]:
    """Verdict and confirmations of each of these facts: two queries for 500 of them."""
    found = defaultdict[UUID, Belief](lambda: NOTHING)
    for start in range(0, len(uids), CHUNK):
        some = uids[start : start + CHUNK]
        given, confirmed = verdicts(some, lineage), confirmations(some, lineage)
        told = given.keys() | confirmed.keys()
        found |= {uid: Belief(given.get(uid), confirmed.get(uid, 0)) for uid in told}
    return found


def believe(fact: Fact, belief: Belief) -> Fact:
    """Sets the fields of a fact that its verdict and confirmations decide."""
    counts = belief.counting(fact.judged_hash)
    fact.verification_status = counts.status if counts else FactAssessment.Status.UNVERIFIED
    fact.verified_at = counts.at if counts else None
    fact.verified_by = counts.by if counts else ""
    fact.verification_method = counts.method if counts else ""
    fact.verification_reason = counts.reason if counts else ""
    fact.confirmation_count = belief.confirmations
    return fact


def attach_use(facts: Sequence[Fact], project_id: UUID) -> Sequence[Fact]:
    """How often each fact was recalled, and whether it is embedded."""
    for start in range(0, len(facts), CHUNK):
        some = facts[start : start + CHUNK]
        used = {uid: use for uid, *use in picked(FactUse.objects.all(), USE, "uid", [f.uid for f in some])}
        states = state_of(project_id, {fact.content_hash for fact in some})
        for fact in some:
            fact.access_count, fact.last_accessed_at = used.get(fact.uid, (0, None))
            fact.embedding_state, fact.embedding_model = states[fact.content_hash]
    return facts


def read_on(branch: Branch, facts: Sequence[Fact]) -> Sequence[Fact]:
    """Facts as a branch shows them: on an archived one every fact reads as archived, stored or not."""
    if branch.archived_at:
        for fact in facts:
            fact.status = Fact.Status.ARCHIVED
    return facts


def assessments(uids: Iterable[UUID], lineage: Lineage) -> dict[UUID, FactAssessment]:
    found = FactAssessment.objects.along(lineage).filter(uid__in=list(uids)).gather()
    return {row.uid: row for row in found}


def verdicts(uids: Iterable[UUID], lineage: Lineage) -> dict[UUID, Verdict]:
    """The same as plain values, for many facts at once."""
    found = FactAssessment.objects.along(lineage).picked(Verdict._fields, "uid", uids)
    return {values[0]: Verdict(*values) for values in found}


def judged(statuses: Sequence[str], lineage: Lineage) -> Judged:
    """A condition: facts whose verdict along the lineage, on what they say now, is one of ``statuses``."""
    return Judged(FactAssessment, statuses, lineage)


def with_verification(status: str, lineage: Lineage) -> Q:
    """A condition: facts with this verification status."""
    known = [FactAssessment.Status.VERIFIED, FactAssessment.Status.INVALIDATED]
    if status in known:
        return Q(judged([status], lineage))
    return ~Q(judged(known, lineage))


def confirmations(uids: Iterable[UUID], lineage: Lineage) -> dict[UUID, int]:
    return Counter(uid for uid, _ in sources(uids, lineage))


def sources(uids: Iterable[UUID], lineage: Lineage) -> set[tuple[UUID, str]]:
    """Who confirmed which of these facts, as pairs."""
    return set(picked(Confirmation.objects.filter(Seen(lineage)), ("uid", "source"), "uid", uids))


def confirmed(uid: UUID, lineage: Lineage) -> list[Confirmation]:
    """When each source first said the same as a fact, the newest first."""
    rows = Confirmation.objects.filter(Seen(lineage), uid=uid).order_by("-at", "-pk")
    return sorted({row.source: row for row in rows}.values(), key=lambda row: row.at, reverse=True)


def time_of(at: Any) -> datetime:
    """By which time a search at this point judges what has expired: the one that is read, else now."""
    return (isinstance(at, datetime) and c.moment("at", at)) or timezone.now()


def searchable_now(now: datetime, lineage: Lineage) -> dict[str, Q]:
    """What a search leaves out unless asked for, by the name of the flag that brings it in."""
    return {
        "expired": ~Q(expires_at__lte=now),
        "outdated": ~Q(valid_until__lte=now),
        "invalidated": ~Q(judged([FactAssessment.Status.INVALIDATED], lineage)),
    }


def left_out(fact: Fact, now: datetime) -> list[str]:
    """The states for which a search leaves out a fact whose derived fields are set, by the same names."""
    states = {
        str(fact.status): fact.status not in Fact.SEARCHED,
        "expired": bool(fact.expires_at and fact.expires_at <= now),
        "outdated": bool(fact.valid_until and fact.valid_until <= now),
        "invalidated": fact.verification_status == FactAssessment.Status.INVALIDATED,
    }
    return [name for name, so in states.items() if so]

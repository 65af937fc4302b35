"""Derived fields of facts: verdict, confirmations, use and embedding state, attached per page."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from memory.db.expressions import ActiveOnLineage, Condition, HasVerdict
from memory.db.plain_filters import EndsAfter, IsNot
from memory.db.querysets import Lineage, VersionedQuerySet
from memory.db.raw_select import Selected, Statement, Values, fetch_each, plan_by_key, plan_equal
from memory.db.united import read_together
from memory.engines.embedding.engine import get_embedding_states, plan_embedding_states
from memory.engines.facts.derived_trust import (
    Verdict,
    cap_verdicts,
    find_capped,
    load_given_verdicts,
    plan_given_verdicts,
    read_given_verdicts,
    sort_ids,
)
from memory.engines.support import validation as c
from memory.engines.versions.repositories import name_repositories
from memory.models import Branch, Confirmation, Fact, FactAssessment, FactUse

USE = ("uid", "access_count", "last_accessed_at")


class Assessment(NamedTuple):
    """Verdict and confirmations of one fact on a lineage."""

    verdict: Verdict | None = None
    confirmations: int = 0

    def get_current_verdict(self, judged_hash: str) -> Verdict | None:
        """Return the verdict, unless the fact's text, essence or category has changed since."""
        return self.verdict if self.verdict and self.verdict.judged_hash == judged_hash else None


NOTHING = Assessment()


def annotate_facts(facts: Sequence[Fact], lineage: Lineage, project_id: UUID) -> Sequence[Fact]:
    """Set the derived fields of each fact, with a fixed number of queries per page."""
    return annotate_usage(attach_belief(facts, lineage), project_id)


def attach_new(facts: Sequence[Fact], project_id: UUID) -> Sequence[Fact]:
    """Set the derived fields of facts just stored, which have no verdicts, confirmations or use yet."""
    states = get_embedding_states(project_id, {fact.content_hash for fact in facts})
    for fact in facts:
        apply_assessment(fact, NOTHING)
        fact.access_count, fact.last_accessed_at = 0, None
        fact.embedding_state, fact.embedding_model = read_embedding(fact, states)
    return facts


def attach_belief(facts: Sequence[Fact], lineage: Lineage) -> Sequence[Fact]:
    """Set each fact's verdict and number of confirmations on the lineage."""
    known = load_assessments([fact.uid for fact in facts], lineage)
    for fact in facts:
        apply_assessment(fact, known[fact.uid] if known else NOTHING)  # an id takes long to look up
    return facts


def load_assessments(
    uids: Sequence[UUID], lineage: Lineage, also: Sequence[Statement] = ()
) -> Mapping[UUID, Assessment]:
    """Return verdict and confirmations of the given facts; what is ``also`` read soon is noted with them."""
    uids = sort_ids(uids)
    judged, sources = plan_given_verdicts(uids, lineage), plan_sources(uids, lineage)
    read_together([*judged, *sources, *also])
    verdicts = cap_verdicts(read_given_verdicts(judged), lineage)
    confirmed = Counter(uid for uid, _ in set(fetch_each(sources)))
    found = defaultdict[UUID, Assessment](lambda: NOTHING)
    for uid in verdicts.keys() | confirmed.keys():
        found[uid] = Assessment(verdicts.get(uid), confirmed.get(uid, 0))
    return found


def plan_assessments(uids: Values, lineage: Lineage) -> list[Statement]:
    """Return the statements of ``load_assessments``, for ``read_together``."""
    requested = uids if isinstance(uids, Selected) else sort_ids(uids)
    return [*plan_given_verdicts(requested, lineage), *plan_sources(requested, lineage)]


def apply_assessment(fact: Fact, belief: Assessment) -> Fact:
    """Set the fields of a fact that derive from its verdict and confirmations."""
    counts = belief.get_current_verdict(fact.judged_hash)
    judged = counts if counts and counts.method != FactAssessment.Method.HEURISTIC else None
    fact.verification_status = counts.status if counts else FactAssessment.Status.UNVERIFIED
    fact.verified_at = judged.at if judged else None
    fact.verified_by = judged.by if judged else ""
    fact.verification_method = counts.method if counts else ""
    fact.verification_reason = counts.reason if counts else ""
    fact.confirmation_count = belief.confirmations
    return fact


def annotate_usage(facts: Sequence[Fact], project_id: UUID) -> Sequence[Fact]:
    """Set each fact's recall count, embedding state, and where it was learned."""
    name_repositories(facts, project_id)
    hashes = {fact.content_hash for fact in facts}
    uses, embedded = plan_uses(fact.uid for fact in facts), plan_embedding_states(project_id, hashes)
    read_together([*uses, *embedded])
    used = {uid: use for uid, *use in fetch_each(uses)}
    states = get_embedding_states(project_id, hashes, embedded)
    for fact in facts:
        fact.access_count, fact.last_accessed_at = used.get(fact.uid, (0, None))
        fact.embedding_state, fact.embedding_model = read_embedding(fact, states)
    return facts


def read_embedding(fact: Fact, states: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
    """Return state and model of a fact's vector; what is not to be embedded has none."""
    return states[fact.content_hash] if fact.embed is None else ("off", "")


def plan_usage(uids: Iterable[UUID], hashes: Iterable[str], project_id: UUID) -> list[Statement]:
    """Return the statements by which ``annotate_usage`` reads use and embedding, for ``read_together``."""
    return [*plan_uses(uids), *plan_embedding_states(project_id, hashes)]


def plan_uses(uids: Iterable[UUID]) -> list[Statement]:
    return plan_equal(FactUse, USE, uid=sort_ids(uids))


def mask_archived(branch: Branch, facts: Sequence[Fact]) -> Sequence[Fact]:
    """Mark facts as archived where the branch is archived, without storing it."""
    if branch.archived_at:
        for fact in facts:
            fact.status = Fact.Status.ARCHIVED
    return facts


def load_own_verdicts(uids: Iterable[UUID], lineage: Lineage) -> dict[UUID, FactAssessment]:
    rows = FactAssessment.objects.in_lineage(lineage).fetch_by_key("uid", uids)
    return {row.uid: row for row in rows}


def load_verdicts(uids: Iterable[UUID], lineage: Lineage) -> dict[UUID, Verdict]:
    """Return verdicts by fact id; those on derived facts only as far as their sources bear them."""
    return cap_verdicts(load_given_verdicts(uids, lineage), lineage)


def has_verdict(statuses: Sequence[str], lineage: Lineage) -> HasVerdict:
    """Return a condition: facts whose verdict on the present text is one of ``statuses`` on the lineage."""
    return HasVerdict(FactAssessment, statuses, lineage)


def with_verification(status: str, lineage: Lineage) -> Q:
    """Return a condition: facts with this verification status."""
    others = [one for one in FactAssessment.Status.values if one != FactAssessment.Status.UNVERIFIED]
    own = Q(has_verdict([status], lineage)) if status in others else ~Q(has_verdict(others, lineage))
    if status == FactAssessment.Status.INVALIDATED:
        return own
    capped = find_capped(lineage)
    lowered = [uid for uid, one in capped.items() if one.stated == status]
    arrived = [uid for uid, one in capped.items() if one.borne == status]
    own &= ~Q(uid__in=lowered) if lowered else Q()
    return own | Q(uid__in=arrived) if arrived else own


def is_unjudged(lineage: Lineage) -> Q:
    """Return a condition: facts that neither a person nor a judge has found to be true or wrong."""
    judged = [FactAssessment.Status.VERIFIED, FactAssessment.Status.INVALIDATED]
    lowered = [uid for uid, one in find_capped(lineage).items() if one.stated in judged]
    waits = ~Q(has_verdict(judged, lineage))
    return waits | Q(uid__in=lowered) if lowered else waits


def count_confirmations(uids: Iterable[UUID], lineage: Lineage) -> dict[UUID, int]:
    return Counter(uid for uid, _ in list_sources(uids, lineage))


def list_sources(uids: Iterable[UUID], lineage: Lineage) -> set[tuple[UUID, str]]:
    """Return (fact id, source) pairs of the given facts' confirmations."""
    return {(uid, source) for uid, source in fetch_each(plan_sources(uids, lineage))}


def plan_sources(uids: Values, lineage: Lineage) -> list[Statement]:
    """Return the statements of ``list_sources``, for ``read_together``."""
    using, columns = Confirmation._base_manager.db, ("uid", "source")
    return plan_by_key(using, Confirmation, columns, ("uid", uids), [ActiveOnLineage(lineage)])


def list_confirmations(uid: UUID, lineage: Lineage) -> list[Confirmation]:
    """Return the first confirmation of a fact by each source, newest first."""
    rows = Confirmation.objects.filter(ActiveOnLineage(lineage), uid=uid).order_by("-at", "-pk")
    return sorted({row.source: row for row in rows}.values(), key=lambda row: row.at, reverse=True)


def parse_expiry_time(at: Any) -> datetime:
    """Return the time at which a search judges expiry: ``at`` when it is a time, else now."""
    return (isinstance(at, datetime) and c.parse_time("at", at)) or timezone.now()


def default_exclusions(now: datetime, lineage: Lineage) -> dict[str, Condition]:
    """Return the default conditions of a search, by the name of the flag that lifts each."""
    return {
        "expired": EndsAfter(Fact, "expires_at", now),
        "outdated": EndsAfter(Fact, "valid_until", now),
        "invalidated": IsNot(has_verdict([FactAssessment.Status.INVALIDATED], lineage)),
    }


def searchable_rows(lineage: Lineage, now: datetime) -> VersionedQuerySet[Fact]:
    """Return the facts that a search finds by default."""
    return Fact.objects.in_lineage(lineage).searchable().filter(*default_exclusions(now, lineage).values())


def exclusion_reasons(fact: Fact, now: datetime) -> list[str]:
    """Return the states that exclude a fact from search by default. Its derived fields must be set."""
    states = {
        str(fact.status): fact.status not in Fact.SEARCHED,
        "expired": bool(fact.expires_at and fact.expires_at <= now),
        "outdated": bool(fact.valid_until and fact.valid_until <= now),
        "invalidated": fact.verification_status == FactAssessment.Status.INVALIDATED,
    }
    return [name for name, so in states.items() if so]

"""Trust of derived facts: none shows more than the weakest of the facts that it was made of.

A fact is made of the facts that its links CONSOLIDATED_FROM and DERIVED_FROM name: squashes, consolidation
and whoever combines facts write them. A verdict of the judge on it, and the heuristic's that it is plausible,
count no more than the weakest source's. A person who verifies the fact itself has read it with its sources:
that verdict counts, until a source, or a source of a source, is found to be wrong later.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from operator import attrgetter
from typing import NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef

from memory.db.expressions import ColumnIn
from memory.db.querysets import Lineage
from memory.db.raw_select import Statement, Values, fetch_each, select_equal
from memory.models import Fact, FactAssessment, FactLink

MAX_DEPTH = 6  # sources of sources
MADE_OF = (FactLink.Type.CONSOLIDATED_FROM, FactLink.Type.DERIVED_FROM)
TO_FACTS = (FactLink.Target.FACT,)
VERIFIED, INVALIDATED = FactAssessment.Status.VERIFIED.value, FactAssessment.Status.INVALIDATED.value
UNVERIFIED, PLAUSIBLE = FactAssessment.Status.UNVERIFIED.value, FactAssessment.Status.PLAUSIBLE.value
POSITIVE = (VERIFIED, PLAUSIBLE)
Method = FactAssessment.Method
LEVELS: dict[str, int] = {Method.HEURISTIC.value: 1, Method.JUDGE.value: 2, Method.HUMAN.value: 3}
REASON = "What it is made of is not verified."


class Verdict(NamedTuple):
    """Verdict on a fact. It counts while the fact's judged_hash is the same."""

    uid: UUID
    judged_hash: str
    status: str
    method: str
    reason: str
    by: str
    at: datetime
    updated_at: datetime  # when it came to the branch: a merge brings it later than it was given


class Capped(NamedTuple):
    """The status of a verdict as it was given, and as the sources of its fact bear it."""

    stated: str
    borne: str


class Source(NamedTuple):
    """What a fact was made of, and since when a link says so."""

    uid: UUID
    at: datetime


class Known(NamedTuple):
    """What of a fact decides on its trust."""

    judged_hash: str
    status: str
    created_at: datetime


def cap_verdicts(verdicts: Mapping[UUID, Verdict], lineage: Lineage) -> dict[UUID, Verdict]:
    """Return verdicts by fact, lowered to the trust of what each fact is made of.

    Facts without a positive verdict cost nothing, others one query for each branch of the lineage; only
    those that are derived cost more.
    """
    positive = [uid for uid, one in verdicts.items() if one.status in POSITIVE]
    sources = load_sources(positive, lineage) if positive else {}
    if not sources:
        return dict(verdicts)
    trust = Trust(verdicts, sources, lineage)
    return {uid: trust.lower(uid, one) if uid in sources else one for uid, one in verdicts.items()}


def find_capped(lineage: Lineage) -> dict[UUID, Capped]:
    """Return the facts whose sources do not bear the verdict on what they say now."""
    positive = FactAssessment._base_manager.filter(uid=OuterRef("from_id"), status__in=POSITIVE)
    links = FactLink.objects.in_lineage(lineage).filter(
        Exists(positive), link_type__in=MADE_OF, to_type=FactLink.Target.FACT
    )
    derived = sorted({uid for (uid,) in links.gather_values("from_id")})
    stated = load_given_verdicts(derived, lineage)
    lower = {
        uid: one for uid, one in cap_verdicts(stated, lineage).items() if one.status != stated[uid].status
    }
    now = load_known(lower, lineage)
    return {
        uid: Capped(stated[uid].status, one.status)
        for uid, one in lower.items()
        if uid in now and now[uid].judged_hash == one.judged_hash
    }


def load_sources(uids: Collection[UUID], lineage: Lineage) -> dict[UUID, list[Source]]:
    """Return what facts are made of, by fact."""
    types, targets = ColumnIn(FactLink, "link_type", MADE_OF), ColumnIn(FactLink, "to_type", TO_FACTS)
    links = FactLink.objects.in_lineage(lineage).filter(types, targets)
    found: dict[UUID, list[Source]] = defaultdict(list)
    for uid, to, at in links.select_by_key(("from_id", "to_id", "created_at"), "from_id", sorted(uids)):
        found[uid].append(Source(to, at))
    return dict(found)


def sort_ids(uids: Iterable[UUID]) -> list[UUID]:
    """Return ids in one order, so that equal sets are equal statements; by number, which is much quicker."""
    return sorted(set(uids), key=attrgetter("int"))


def plan_given_verdicts(uids: Values, lineage: Lineage) -> list[Statement]:
    """Return the statements of ``load_given_verdicts``, for ``read_together``."""
    return FactAssessment.objects.in_lineage(lineage).plan_by_key(Verdict._fields, "uid", uids)


def load_given_verdicts(uids: Iterable[UUID], lineage: Lineage) -> dict[UUID, Verdict]:
    """Return the verdicts on the given facts as they were given, by fact id."""
    return read_given_verdicts(plan_given_verdicts(sort_ids(uids), lineage))


def read_given_verdicts(statements: Iterable[Statement]) -> dict[UUID, Verdict]:
    found = dict[UUID, Verdict]()
    for one in (Verdict(*values) for values in fetch_each(statements)):
        found[one.uid] = one._replace(status=FactAssessment.read_status(one.status, one.method))
    return found


class Trust:
    """The trust in facts, from their verdicts and sources."""

    def __init__(
        self, verdicts: Mapping[UUID, Verdict], sources: Mapping[UUID, list[Source]], lineage: Lineage
    ) -> None:
        self.verdicts, self.sources = dict(verdicts), dict(sources)
        fresh = {one.uid for every in sources.values() for one in every}
        seen = set(sources)
        for _ in range(MAX_DEPTH):
            fresh -= seen
            if not fresh:
                break
            seen |= fresh
            self.verdicts |= load_given_verdicts(fresh, lineage)
            deeper = load_sources(fresh, lineage)
            self.sources |= deeper
            fresh = {one.uid for every in deeper.values() for one in every}
        self.known = load_known(seen, lineage)
        self.absorbed = load_superseded_times(self._list_superseded())

    def lower(self, uid: UUID, verdict: Verdict) -> Verdict:
        """Return a verdict as far as the sources of its fact bear it."""
        own, level = LEVELS[verdict.method], self.measure(uid, frozenset())
        if level >= own:
            return verdict
        if not level:
            return verdict._replace(status=UNVERIFIED, reason=REASON)
        (method,) = (name for name, value in LEVELS.items() if value == level)
        status = FactAssessment.read_status(verdict.status, method)
        return verdict._replace(status=status, method=method, reason=REASON)

    def measure(self, uid: UUID, path: frozenset[UUID]) -> int:
        """Return the trust in a fact, 0 for none; ``path`` are the facts that led to it."""
        verdict, known = self.verdicts.get(uid), self.known.get(uid)
        if verdict is None or known is None or verdict.judged_hash != known.judged_hash:
            return 0
        if verdict.status not in POSITIVE:
            return 0
        level = LEVELS[verdict.method]
        sources = [one for one in self.sources.get(uid, ()) if one.uid not in path | {uid}]
        if verdict.method == Method.HUMAN:
            return 0 if self._has_fallen(uid, verdict.at, path | {uid}) else level
        absorbed = {one.uid for one in sources if self._was_absorbed(uid, one)}
        if any(self._fell_since(one, verdict.at) for one in absorbed):
            return 0
        made = (one.uid for one in sources if one.uid not in absorbed)
        return min([level, *(self.measure(one, path | {uid}) for one in made)])

    def _has_fallen(self, uid: UUID, at: datetime, path: frozenset[UUID]) -> bool:
        """Return whether a source at any depth was found to be wrong after a person's verdict."""
        fresh = [one.uid for one in self.sources.get(uid, ()) if one.uid not in path]
        return any(self._fell_since(one, at) or self._bears_fall(one, at, path) for one in fresh)

    def _fell_since(self, uid: UUID, at: datetime) -> bool:
        verdict = self.verdicts.get(uid)
        return verdict is not None and verdict.status == INVALIDATED and verdict.updated_at > at

    def _bears_fall(self, uid: UUID, at: datetime, path: frozenset[UUID]) -> bool:
        """Return whether a source of a source fell that no person has excused in between."""
        verdict = self.verdicts.get(uid)
        if verdict is not None and verdict.method == Method.HUMAN and self.measure(uid, path):
            return False
        return self._has_fallen(uid, at, path | {uid})

    def _list_superseded(self) -> set[UUID]:
        sources = {one.uid for every in self.sources.values() for one in every} & self.known.keys()
        return {uid for uid in sources if self.known[uid].status == Fact.Status.SUPERSEDED}

    def _was_absorbed(self, uid: UUID, source: Source) -> bool:
        """Return whether a fact only stands for a duplicate that it has superseded: it was there before.

        The commit that supersedes a duplicate also links it. A link that came earlier or later is of a fact
        that was made of another, whatever has taken that one's place.
        """
        known = self.known.get(uid)
        is_older = known is not None and source.at > known.created_at
        return is_older and (source.uid, source.at) in self.absorbed


def load_known(uids: Collection[UUID], lineage: Lineage) -> dict[UUID, Known]:
    rows = Fact.objects.in_lineage(lineage).select_by_key(("uid", *Known._fields), "uid", sorted(uids))
    return {uid: Known(*values) for uid, *values in rows}


def load_superseded_times(uids: Collection[UUID]) -> set[tuple[UUID, datetime]]:
    """Return when each fact was superseded, on any branch."""
    return set(select_equal(Fact, ("uid", "updated_at"), status=[Fact.Status.SUPERSEDED], uid=sorted(uids)))

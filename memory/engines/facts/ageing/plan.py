"""The plan of an ageing: which facts of a branch would go now, each with its reason, and what is kept."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice, starmap
from operator import attrgetter
from uuid import UUID

from django.db.models import Q

from memory.db.expressions import ActiveOnLineage
from memory.db.querysets import VersionedQuerySet
from memory.engines.facts.ageing.kept import KeptFacts, find_blocking, select_own
from memory.engines.facts.ageing.rules import (
    STALE_PRIORITIES,
    AgeingRow,
    AgeingRules,
    Candidate,
    Reason,
    compute_worth,
)
from memory.engines.facts.derived_trust import find_capped
from memory.models import Branch, Confirmation, Fact, FactAssessment, FactUse

UNVERIFIED = FactAssessment.Status.UNVERIFIED.value


class AgeingPlan:
    """What would go from a branch at a time, by the rules. It reads, and writes nothing."""

    def __init__(self, branch: Branch, rules: AgeingRules, now: datetime) -> None:
        self.branch, self.rules, self.now = branch, rules, now
        self.kept_by_uid: dict[UUID, str] = {}  # what would go and is kept, with the code why

    @cached_property
    def blocked_by(self) -> int | None:
        """The number of an open merge request from the branch, while which nothing ages here."""
        return find_blocking(self.branch)

    @cached_property
    def own(self) -> VersionedQuerySet[Fact]:
        return select_own(self.branch)

    @cached_property
    def total(self) -> int:
        return self.own.count()

    @cached_property
    def kept(self) -> KeptFacts:
        return KeptFacts(self.branch, self.now)

    @cached_property
    def candidates(self) -> list[Candidate]:
        """All facts that go, in the order of their reasons."""
        if self.branch.archived_at or self.branch.read_only or self.blocked_by is not None:
            return []
        found = list(self._find_by_time())
        excess = self.total - len(found) - self.rules.budget if self.rules.budget else 0
        if excess > 0:
            found += islice(self._rank_rows({one.uid for one in found}), excess)
        return sorted(found, key=attrgetter("sort_key"))

    def list_next(self, count: int) -> list[Candidate]:
        """Return the facts that the budget would take next, beyond those that go now."""
        return list(islice(self._rank_rows({one.uid for one in self.candidates}), count))

    def _rank_rows(self, gone: set[UUID]) -> Iterator[Candidate]:
        """Yield the facts that neither go already nor are kept, those of the least worth first."""
        rows = {row.uid: row for row in self._all_rows if row.uid not in gone}
        ranked = [self._build_candidate(row, Reason.OVER_BUDGET.value, None) for row in rows.values()]
        for one in sorted(ranked, key=attrgetter("sort_key")):
            if self._is_free(rows[one.uid]):
                yield one

    def _find_by_time(self) -> Iterator[Candidate]:
        for row in self._read_rows(self._old_enough()):
            if (reason := self.rules.find_reason(row, self._find_use(row), self.now)) and self._is_free(row):
                yield self._build_candidate(row, *reason)

    def _old_enough(self) -> Q:
        """Return a condition that lets all facts pass that a reason by time may hold of."""
        old = Q(expires_at__lte=self.now)
        for category, days in self.rules.ttl_days.items():
            old |= Q(category=category, updated_at__lte=self.now - timedelta(days=days))
        if stale := self.rules.stale_after_days:
            old |= Q(priority__in=STALE_PRIORITIES, updated_at__lte=self.now - timedelta(days=stale))
        return old

    def _read_rows(self, condition: Q) -> Iterator[AgeingRow]:
        rows = self.own.filter(condition) if condition else self.own
        return starmap(AgeingRow, rows.gather_values(*AgeingRow._fields))

    @cached_property
    def _all_rows(self) -> list[AgeingRow]:
        return list(self._read_rows(Q()))

    def _is_free(self, row: AgeingRow) -> bool:
        """Return whether nothing keeps a fact; remember what is kept."""
        if code := self.kept.find_code(row):
            self.kept_by_uid[row.uid] = code
        return not code

    def _build_candidate(self, row: AgeingRow, reason: str, since: datetime | None) -> Candidate:
        worth = compute_worth(row, self._find_verdict(row), self._find_use(row), self.now)
        return Candidate(row.uid, row.vid, reason, since, worth)

    # ---- what stands beside the facts ----------------------------------------------------------

    def _find_use(self, row: AgeingRow) -> datetime:
        """Return when a fact was last recalled, changed or stated again."""
        return max(row.updated_at, self._uses.get(row.uid, row.updated_at))

    @cached_property
    def _uses(self) -> dict[UUID, datetime]:
        found = dict(self._list_recalls())
        for uid, at in self._list_confirmations():
            found[uid] = max(at, found.get(uid, at))
        return found

    def _list_recalls(self) -> Iterator[tuple[UUID, datetime]]:
        uses = FactUse.objects.filter(project=self.branch.project_id, access_count__gt=0)
        return uses.values_list("uid", "last_accessed_at").iterator()

    def _list_confirmations(self) -> Iterator[tuple[UUID, datetime]]:
        active = Confirmation.objects.filter(ActiveOnLineage(self.branch.lineage()))
        return active.values_list("uid", "at").iterator()

    def _find_verdict(self, row: AgeingRow) -> str:
        """Return the verdict on what a fact says now, as far as its sources bear it."""
        status, judged = self._verdicts.get(row.uid, (UNVERIFIED, ""))
        return status if judged == row.judged_hash else UNVERIFIED

    @cached_property
    def _verdicts(self) -> dict[UUID, tuple[str, str]]:
        lineage = self.branch.lineage()
        rows = FactAssessment.objects.in_lineage(lineage).gather_values("uid", "status", "judged_hash")
        found = {uid: (status, judged) for uid, status, judged in rows}
        for uid in find_capped(lineage):
            found.pop(uid, None)
        return found

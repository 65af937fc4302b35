"""The plan of an ageing: which facts of a branch would go now, each with its reason, and what is kept."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice, starmap
from operator import attrgetter
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from memory.db.expressions import ActiveOnLineage
from memory.db.querysets import VersionedQuerySet
from memory.engines.facts import rules as fact_rules
from memory.engines.facts.ageing.rules import (
    STALE_PRIORITIES,
    AgeingRow,
    AgeingRules,
    Candidate,
    Reason,
    compute_worth,
)
from memory.engines.facts.derived_trust import Capped, find_capped
from memory.engines.support.batches import batched
from memory.engines.versions.commits import CommitWriter
from memory.engines.versions.graph import VersionGraph
from memory.extensions import load_extensions
from memory.models import (
    OPEN,
    AgedVersion,
    Branch,
    Confirmation,
    Fact,
    FactAssessment,
    FactUse,
    MergeRequest,
    Question,
)

MAX_NAMED = 1000  # facts whose recalls and verdicts are asked for by their ids
UNVERIFIED = FactAssessment.Status.UNVERIFIED.value
VERDICT_COLUMNS = ("uid", "judged_hash", "status", "method")
PINNED, VERIFIED, QUESTION = "pinned", "verified", "question"
MERGE_REQUEST, RESTORED = "merge_request", "restored"
BATCH_SIZE = 500
VERIFIED_DAYS = 180  # that a person's verdict protects a fact
LoadFacts = Callable[[Branch], Iterable[UUID]]
ARCHIVED = Fact.Status.ARCHIVED


class KeptFacts:
    """The facts of a branch that ageing leaves alone."""

    def __init__(self, branch: Branch, now: datetime) -> None:
        self.by_code: dict[str, Collection[UUID]] = {
            RESTORED: load_restored(branch),
            **{code: set(load(branch)) for code, load in list_keepers().items()},
        }
        self.uids = frozenset[UUID]().union(*self.by_code.values())
        self.verified = load_verified(branch, now - timedelta(days=VERIFIED_DAYS))

    def find_code(self, row: AgeingRow | Fact) -> str:
        """Return the code of the first reason to keep a fact; "" for none."""
        if row.pinned:
            return PINNED
        if (row.uid, row.judged_hash) in self.verified:
            return VERIFIED
        if row.uid not in self.uids:
            return ""
        return next((code for code, uids in self.by_code.items() if row.uid in uids))


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
        if self._is_still:
            return []
        excess = self.total - len(self._aged) - self.rules.budget if self.rules.budget else 0
        over = islice(self._list_free(), excess) if excess > 0 else ()
        return sorted([*self._aged, *over], key=attrgetter("sort_key"))

    def list_next(self, count: int) -> list[Candidate]:
        """Return the facts that the budget would take next, beyond those that go now."""
        gone = {one.uid for one in self.candidates}
        return list(islice((one for one in self._list_free() if one.uid not in gone), count))

    @property
    def _is_still(self) -> bool:
        """Whether nothing goes from the branch now, whatever its age."""
        return bool(self.branch.archived_at or self.branch.read_only or self.blocked_by is not None)

    def _list_free(self) -> Iterator[Candidate]:
        """Yield the facts that neither go by time nor are kept, those of the least worth first."""
        return (one for one in self._ranked if self._is_free(self._all_rows[one.uid]))

    @cached_property
    def _ranked(self) -> list[Candidate]:
        """The facts that do not go by time, those of the least worth first."""
        aged = {one.uid for one in self._aged}
        rows = [row for row in self._all_rows.values() if row.uid not in aged]
        known = self._all_adjacent
        ranked = [self._build_candidate(row, known, Reason.OVER_BUDGET.value, None) for row in rows]
        return sorted(ranked, key=attrgetter("sort_key"))

    @cached_property
    def _aged(self) -> list[Candidate]:
        """The facts that go by time, unless something keeps them."""
        return [] if self._is_still else list(self._find_aged())

    def _find_aged(self) -> Iterator[Candidate]:
        if self.rules.budget:  # needs all facts, which are read once
            rows, known = list(self._all_rows.values()), self._all_adjacent
        else:
            rows = self._read_rows(self._old_enough())
            known = self._read_adjacent(rows)
        for row in rows:
            reason = self.rules.find_reason(row, known.find_use(row), self.now)
            if reason and self._is_free(row):
                yield self._build_candidate(row, known, *reason)

    def _old_enough(self) -> Q:
        """Return a condition that lets all facts pass that a reason by time may hold of."""
        old = Q(expires_at__lte=self.now)
        for category, days in self.rules.ttl_days.items():
            old |= Q(category=category, updated_at__lte=self.now - timedelta(days=days))
        if stale := self.rules.stale_after_days:
            old |= Q(priority__in=STALE_PRIORITIES, updated_at__lte=self.now - timedelta(days=stale))
        return old

    def _read_rows(self, condition: Q) -> list[AgeingRow]:
        rows = self.own.filter(condition) if condition else self.own
        return list(starmap(AgeingRow, rows.gather_values(*AgeingRow._fields)))

    @cached_property
    def _all_rows(self) -> dict[UUID, AgeingRow]:
        return {row.uid: row for row in self._read_rows(Q())}

    @cached_property
    def _all_adjacent(self) -> "_Adjacent":
        return self._read_adjacent(list(self._all_rows.values()))

    def _is_free(self, row: AgeingRow) -> bool:
        """Return whether nothing keeps a fact; remember what is kept."""
        if code := self.kept.find_code(row):
            self.kept_by_uid[row.uid] = code
        return not code

    def _build_candidate(
        self, row: AgeingRow, known: "_Adjacent", reason: str, since: datetime | None
    ) -> Candidate:
        worth = compute_worth(row, known.find_verdict(row), known.find_use(row), self.now)
        return Candidate(row.uid, row.vid, reason, since, worth)

    # ---- what stands beside the facts ----------------------------------------------------------

    def _read_adjacent(self, rows: Sequence[AgeingRow]) -> "_Adjacent":
        """Return the recalls, confirmations and verdicts of some facts."""
        lineage, project = self.branch.lineage(), self.branch.project_id
        recalls = narrow(FactUse.objects.filter(project=project, access_count__gt=0), rows)
        uses: dict[UUID, datetime] = dict(recalls.values_list("uid", "last_accessed_at"))
        confirmed = narrow(Confirmation.objects.filter(ActiveOnLineage(lineage)), rows)
        for uid, at in confirmed.values_list("uid", "at"):
            uses[uid] = max(at, uses.get(uid, at))
        judged = narrow(FactAssessment.objects.in_lineage(lineage), rows)
        verdicts = {
            uid: (self._read_verdict(uid, status, method), judged_hash)
            for uid, judged_hash, status, method in judged.gather_values(*VERDICT_COLUMNS)
        }
        return _Adjacent(uses, verdicts)

    def _read_verdict(self, uid: UUID, status: str, method: str) -> str:
        """Return a verdict as far as the sources of its fact bear it."""
        capped = self._capped.get(uid)
        return capped.borne if capped else FactAssessment.read_status(status, method)

    @cached_property
    def _capped(self) -> Mapping[UUID, Capped]:
        """The facts whose sources do not bear the verdict on them."""
        return find_capped(self.branch.lineage())


def narrow(queryset: Any, rows: Sequence[AgeingRow]) -> Any:
    """Return the rows of some facts, or of all where naming the facts would cost more than reading all."""
    return queryset.filter(uid__in=[row.uid for row in rows]) if len(rows) <= MAX_NAMED else queryset


class _Adjacent(NamedTuple):
    """When some facts were last recalled or stated again, and the verdicts on them."""

    uses: Mapping[UUID, datetime]
    verdicts: Mapping[UUID, Sequence[str]]

    def find_use(self, row: AgeingRow) -> datetime:
        """Return when a fact was last recalled, changed or stated again."""
        return max(row.updated_at, self.uses.get(row.uid, row.updated_at))

    def find_verdict(self, row: AgeingRow) -> str:
        """Return the verdict on what a fact says now, as far as its sources bear it."""
        status, judged = self.verdicts.get(row.uid, (UNVERIFIED, ""))
        return status if judged == row.judged_hash else UNVERIFIED


# ---- what is left alone ------------------------------------------------------------------------------


def list_keepers() -> dict[str, LoadFacts]:
    """Return what finds the facts that ageing leaves alone on a branch, by the code of the reason."""
    return {QUESTION: find_expected, MERGE_REQUEST: find_arriving, **load_extensions("kept_facts")}


def find_expected(branch: Branch) -> set[UUID]:
    """Return the facts that the project's saved questions expect."""
    expected = Question.objects.filter(project=branch.project_id).values_list("expected", flat=True)
    return {UUID(uid) for uids in expected for uid in uids}


def find_arriving(branch: Branch) -> set[UUID]:
    """Return the facts that open merge requests into the branch may change."""
    pending = MergeRequest.objects.filter(target=branch, slot__isnull=False)
    rows = Fact._base_manager.filter(branch__in=list(pending.values_list("source", flat=True)), seq_to=OPEN)
    return set(rows.values_list("uid", flat=True))


def find_blocking(branch: Branch) -> int | None:
    """Return the number of an open merge request from the branch, which each commit would send back."""
    pending = MergeRequest.objects.filter(source=branch, slot__isnull=False)
    return pending.order_by("number").values_list("number", flat=True).first()


def select_own(branch: Branch) -> VersionedQuerySet[Fact]:
    """Return the facts in use whose present version is the branch's own."""
    return Fact.objects.in_lineage(branch.mask(branch.lineage()[:1])).searchable()


def load_restored(branch: Branch) -> set[UUID]:
    """Return the facts that ageing has archived before and somebody brought back, here or where a merge
    brought them from: an archived version is in their past.
    """
    aged: Any = AgedVersion.objects.filter(project=branch.project_id)
    if not aged.exists():
        return set()
    own = select_own(branch).filter(Exists(aged.filter(uid=OuterRef("uid"))))
    restored: set[UUID] = set()
    for batch in batched(list(own.gather_values("uid", "vid")), BATCH_SIZE):
        present = dict(batch)
        graph = VersionGraph.load(Fact, list(present))
        archived = aged.filter(uid__in=list(present)).values_list("uid", "vid")
        restored |= {uid for uid, vid in archived if graph.is_ancestor(vid, present[uid])}
    return restored


def load_verified(branch: Branch, since: datetime) -> set[tuple[UUID, str]]:
    """Return the facts that a person verified since then, each with the hash of what was judged."""
    verdicts = FactAssessment.objects.in_lineage(branch.lineage()).filter(
        status=FactAssessment.Status.VERIFIED, method=FactAssessment.Method.HUMAN, at__gt=since
    )
    return set(verdicts.gather_values("uid", "judged_hash"))


# ---- the commit --------------------------------------------------------------------------------------


def archive_candidates(
    commit: CommitWriter, plan: AgeingPlan, chosen: Sequence[Candidate], versions: Mapping[UUID, int]
) -> list[Candidate]:
    """Archive the chosen facts that are as they were when the plan was made; return those.

    ``versions`` are those in which a person saw some of them.
    """
    known = {one.uid: one for one in chosen}
    unchanged = find_unchanged(commit, plan, known)
    facts = [fact for fact in unchanged if fact.version == versions.get(fact.uid, fact.version)]
    contents = [(fact, dict(fact_rules.change_status(fact, ARCHIVED)), False) for fact in facts]
    fresh = commit.add_versions(contents)
    done = [known[fact.uid] for fact in facts]
    store_reasons(commit, fresh, done)
    commit.targets += [str(fact.uid) for fact in facts]
    return done


def find_unchanged(commit: CommitWriter, plan: AgeingPlan, known: dict[UUID, Candidate]) -> Iterator[Fact]:
    """Yield the facts whose versions are those of the plan and that nothing keeps meanwhile."""
    kept = KeptFacts(commit.branch, plan.now)
    for fact in commit.visible_rows(Fact).fetch_by_key("uid", known):
        if fact.vid == known[fact.uid].vid and fact.searchable and not kept.find_code(fact):
            yield fact


def store_reasons(commit: CommitWriter, fresh: Sequence[Fact], done: Sequence[Candidate]) -> None:
    rows = [
        AgedVersion(
            vid=fact.vid,
            project_id=commit.branch.project_id,
            branch=commit.branch,
            seq=commit.seq,
            uid=fact.uid,
            reason=one.reason,
            since=one.since,
            worth=one.worth.total if one.reason == Reason.OVER_BUDGET else None,
        )
        for fact, one in zip(fresh, done, strict=True)
    ]
    AgedVersion.objects.bulk_create(rows, batch_size=BATCH_SIZE)

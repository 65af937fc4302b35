"""What ageing leaves alone, and why."""

from collections.abc import Callable, Collection, Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef

from memory.db.querysets import VersionedQuerySet
from memory.engines.facts.ageing.rules import AgeingRow
from memory.engines.support.batches import batched
from memory.engines.versions.graph import VersionGraph
from memory.models import OPEN, AgedVersion, Branch, Fact, FactAssessment, MergeRequest, Question

PINNED, VERIFIED, QUESTION = "pinned", "verified", "question"
MERGE_REQUEST, RESTORED = "merge_request", "restored"
BATCH_SIZE = 500
VERIFIED_DAYS = 180  # that a person's verdict protects a fact

LoadFacts = Callable[[Branch], Iterable[UUID]]
KEEPERS: dict[str, LoadFacts] = {}


def keep_facts(code: str) -> Callable[[LoadFacts], LoadFacts]:
    """Register a function that returns the facts that ageing leaves alone on a branch, under a code."""

    def register(load: LoadFacts) -> LoadFacts:
        KEEPERS[code] = load
        return load

    return register


@keep_facts(QUESTION)
def find_expected(branch: Branch) -> set[UUID]:
    """Return the facts that the project's saved questions expect."""
    expected = Question.objects.filter(project=branch.project_id).values_list("expected", flat=True)
    return {UUID(uid) for uids in expected for uid in uids}


@keep_facts(MERGE_REQUEST)
def find_arriving(branch: Branch) -> set[UUID]:
    """Return the facts that open merge requests into the branch may change."""
    pending = MergeRequest.objects.filter(target=branch, slot__isnull=False)
    rows = Fact._base_manager.filter(branch__in=list(pending.values_list("source", flat=True)), seq_to=OPEN)
    return set(rows.values_list("uid", flat=True))


def find_blocking(branch: Branch) -> int | None:
    """Return the number of an open merge request from the branch, which each commit would send back."""
    pending = MergeRequest.objects.filter(source=branch, slot__isnull=False)
    return pending.order_by("number").values_list("number", flat=True).first()


class KeptFacts:
    """The facts of a branch that ageing leaves alone."""

    def __init__(self, branch: Branch, now: datetime) -> None:
        self.by_code: dict[str, Collection[UUID]] = {
            RESTORED: load_restored(branch),
            **{code: set(load(branch)) for code, load in KEEPERS.items()},
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

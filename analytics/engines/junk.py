"""Junk: facts in use that are past their end, contradicted, nearly said twice, or rejected."""

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from analytics.engines import tallies
from analytics.engines.answers import Junk
from analytics.engines.ranges import TimeRange
from analytics.engines.scopes import Scope, share
from curation.models import ReviewItem
from memory.db.lineage import hides_quarantined
from memory.db.querysets import VersionedQuerySet
from memory.engines.facts.assessment import annotate_facts, has_verdict
from memory.engines.support import validation as c
from memory.models import Fact, FactAssessment

IN_USE: dict[str, Sequence[Any]] = {"status": sorted(Fact.SEARCHED)}
GROUPS = ("stale", "contradicted", "near_duplicate", "rejected")
Kind, REJECTED = ReviewItem.Kind, FactAssessment.Status.INVALIDATED
MAX_TIMED = 5000  # answers whose median is taken, the newest
Status = ReviewItem.Status


def count_junk(scope: Scope) -> Junk:
    """Count the facts in use, and those that are worth a look."""
    questioned = count_questioned(scope)
    in_use = sum(
        tallies.regroup(scope.tally(tallies.FACT_DAYS), tallies.FACT_DAYS, "status", where=IN_USE).values()
    )
    counts = {
        "stale": len(find_stale(scope)),
        "contradicted": questioned[Kind.CONTESTED],
        "near_duplicate": questioned[Kind.NEAR_DUPLICATE],
        "rejected": len(find_rejected(scope)),
    }
    return Junk(in_use, **counts, shares={name: share(count, in_use) for name, count in counts.items()})


def list_junk(scope: Scope, group: str, limit: int) -> list[Fact]:
    """Return the first facts of a group. Raises Invalid for another group."""
    c.one_of(GROUPS)("junk", group)
    uids = list_uids(scope, group, limit)
    found = Fact.objects.in_lineage(scope.lineage).filter(uid__in=uids).fetch_all()
    return list(annotate_facts(sorted(found, key=lambda one: one.uid), scope.lineage, scope.actor.project_id))


def list_uids(scope: Scope, group: str, limit: int) -> Sequence[UUID]:
    """Return the first facts of a group of junk."""
    kinds = {"contradicted": Kind.CONTESTED, "near_duplicate": Kind.NEAR_DUPLICATE}
    if group in kinds:
        return list_questioned(scope, kinds[group], limit)
    find = find_stale if group == "stale" else find_rejected
    return sorted(find(scope))[:limit]


def find_stale(scope: Scope) -> set[UUID]:
    """Return the facts in use though they are past their end."""
    rows = Fact.objects.in_lineage(scope.lineage).searchable()
    over = [{f"{column}__lte": scope.now} for column in ("expires_at", "valid_until")]
    return {uid for ended in over for (uid,) in rows.filter(**ended).gather_values("uid")}


def find_rejected(scope: Scope) -> set[UUID]:
    """Return the facts in use with the verdict "invalidated" on what they say now."""
    rows = Fact.objects.in_lineage(scope.lineage).searchable().filter(select_rejected(scope))
    return {uid for (uid,) in rows.gather_values("uid")}


def filter_questioned(scope: Scope) -> QuerySet[ReviewItem]:
    """Return the open questions about two facts in use; each counts for the newer one, ``fact_id``."""
    return filter_about(filter_open(scope), Fact.objects.in_lineage(scope.lineage).searchable())


def count_questioned(scope: Scope) -> Counter[str]:
    """Count the facts in use with an open question, by its kind."""
    kinds = filter_questioned(scope).values_list("kind")
    return Counter(dict(kinds.annotate(n=Count("fact_id", distinct=True))))


def list_questioned(scope: Scope, kind: str, limit: int) -> list[UUID]:
    """Return the first facts in use with an open question of a kind."""
    uids = filter_questioned(scope).filter(kind=kind).order_by("fact_id").values_list("fact_id", flat=True)
    return list(uids.distinct()[:limit])


def count_rejected(scope: Scope) -> Counter[str]:
    """Count the facts with the verdict "invalidated" on what they say now, by agent."""
    rejected = tallies.add_up(tallies.FACT_AGENTS, scope.lineage, select_rejected(scope))
    return tallies.regroup(rejected, tallies.FACT_AGENTS, "agent_id")


def select_rejected(scope: Scope) -> Q:
    """Return the condition that a fact has the verdict "invalidated" on what it says now."""
    judged = {"branch__in": [branch for branch, _ in scope.lineage], "status": REJECTED}
    among = FactAssessment._base_manager.filter(**judged).values("uid")  # few, and read first
    return Q(uid__in=among) & Q(has_verdict([REJECTED], scope.lineage))


# ---- decisions ---------------------------------------------------------------------------------------


def count_answers(scope: Scope, span: TimeRange) -> tuple[Counter[str], float | None]:
    """Return the answers of the range by decision, and the hours that half of them took at most."""
    rows = ReviewItem.objects.filter(branch=scope.branch, status=Status.RESOLVED).order_by()
    rows = rows.filter(resolved_at__gte=span.since, resolved_at__lt=min(span.until, scope.now))
    times = rows.order_by("-resolved_at").values_list("created_at", "resolved_at")[:MAX_TIMED]
    hours = [(end - begin).total_seconds() / 3600 for begin, end in times if end]
    decisions = Counter(dict(rows.values_list("resolution").annotate(n=Count("pk"))))
    return decisions, round(median(hours), 2) if hours else None


def count_open(scope: Scope) -> dict[str, int]:
    """Return the questions that are open at the scope's time by kind."""
    rows = filter_open(scope)
    if hides_quarantined(scope.lineage):  # one about what is in quarantine waits for the release
        rows = filter_about(rows, Fact.objects.in_lineage(scope.lineage))
    found = Counter(dict(rows.values_list("kind").annotate(n=Count("pk"))))
    return {kind: found[kind] for kind in ReviewItem.Kind.values}


def filter_open(scope: Scope) -> QuerySet[ReviewItem]:
    rows = ReviewItem.objects.filter(branch=scope.branch, created_at__lte=scope.now).order_by()
    return rows.filter(Q(status=Status.OPEN) | Q(resolved_at__gt=scope.now))


def filter_about(questions: QuerySet[ReviewItem], facts: VersionedQuerySet[Fact]) -> QuerySet[ReviewItem]:
    """Return the questions of which both facts are among the given ones."""
    rows = facts.rows()
    both = [Exists(rows.filter(uid=OuterRef(name))) for name in ("fact_id", "other_id")]
    return questions.filter(*both)

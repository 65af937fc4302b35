"""What curators answered, and the questions that wait for them."""

from collections import Counter
from statistics import median
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from analytics.engines.ranges import TimeRange
from analytics.engines.scopes import Scope
from curation.models import ReviewItem
from memory.db.lineage import MaskedLineage
from memory.db.querysets import VersionedQuerySet
from memory.engines.support.batches import batched
from memory.models import Fact

BATCH_SIZE = 500
MAX_TIMED = 5000  # answers whose median is taken, the newest
Status = ReviewItem.Status


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
    if isinstance(scope.lineage, MaskedLineage):  # one about what is in quarantine waits for the release
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


def filter_uids(facts: VersionedQuerySet[Fact], uids: set[UUID]) -> set[UUID]:
    """Return those of the ids that are among the facts."""
    found: set[UUID] = set()
    for batch in batched(sorted(uids), BATCH_SIZE):
        found |= {uid for (uid,) in facts.select_by_key(("uid",), "uid", batch)}
    return found

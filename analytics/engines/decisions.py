"""What curators answered, and the questions that wait for them."""

from collections import Counter
from statistics import median

from django.db.models import Count

from analytics.engines.ranges import TimeRange
from analytics.engines.scopes import Scope
from curation.models import ReviewItem

MAX_TIMED = 5000  # answers whose median is taken, the newest
Status = ReviewItem.Status


def count_answers(scope: Scope, span: TimeRange) -> tuple[Counter[str], float | None]:
    """Return the answers of the range by decision, and the hours that half of them took at most."""
    rows = ReviewItem.objects.filter(branch=scope.branch, status=Status.RESOLVED).order_by()
    rows = rows.filter(resolved_at__gte=span.since, resolved_at__lt=span.until)
    times = rows.order_by("-resolved_at").values_list("created_at", "resolved_at")[:MAX_TIMED]
    hours = [(end - begin).total_seconds() / 3600 for begin, end in times if end]
    decisions = Counter(dict(rows.values_list("resolution").annotate(n=Count("pk"))))
    return decisions, round(median(hours), 2) if hours else None


def count_open(scope: Scope) -> dict[str, int]:
    """Return the open questions by kind."""
    rows = ReviewItem.objects.filter(branch=scope.branch, status=Status.OPEN).order_by()
    found = dict(rows.values_list("kind").annotate(n=Count("pk")))
    return {kind: found.get(kind, 0) for kind in ReviewItem.Kind.values}

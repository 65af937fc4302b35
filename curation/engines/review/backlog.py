"""How many questions waited at the end of each of the last days."""

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta

from django.core.cache import cache
from django.db.models import Count, Q

from curation.engines.review.review_queue import select_waiting
from curation.models import ReviewItem
from memory.actors import Actor
from memory.models import Branch

TTL_SECONDS = 300  # of the counts of days that are over
OPEN = Q(status=ReviewItem.Status.OPEN)


def count_backlog(*, actor: Actor, until: datetime, days: int, branch: Branch | None = None) -> Sequence[int]:
    """Return how many questions waited as each of the days before that of ``until`` ended, in UTC.

    They are counted again after some minutes. Needs the scope curate.
    """
    actor.require_scope("curate")
    midnight = datetime.combine(until.astimezone(UTC).date(), time.min, UTC)
    ends = [midnight - timedelta(days=back) for back in reversed(range(days))]
    if actor.branch_patterns:
        return count_waiting(actor, ends, branch)
    key = f"backlog:{actor.project_id}:{branch.pk if branch else ''}:{midnight:%Y%m%d}:{days}"
    return cache.get_or_set(key, lambda: count_waiting(actor, ends, branch), TTL_SECONDS) or []


def count_waiting(actor: Actor, times: Sequence[datetime], branch: Branch | None) -> list[int]:
    """Return how many questions waited at each time, the earliest first."""
    items = select_waiting(actor, branch).filter(OPEN | Q(resolved_at__gte=times[0]))
    counts = {
        f"n{place}": Count("pk", filter=Q(created_at__lt=at) & (OPEN | Q(resolved_at__gte=at)))
        for place, at in enumerate(times)
    }
    found = items.aggregate(**counts)
    return [found[name] for name in counts]

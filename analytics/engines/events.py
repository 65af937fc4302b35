"""What happened in a range beside the versions: recalls, runs of consolidation, ratings, sessions."""

from collections import Counter
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Count, Q, QuerySet, Sum

from analytics.engines.answers import HEALTHY_YIELD, Yield
from analytics.engines.ranges import TimeRange
from analytics.engines.scopes import Scope, share
from analytics.engines.tallies import DAY, HOUR, cut_time
from conversations.models import ConsolidationRun
from curation.models import Verification
from memory.models import Commit, RecallLog, Session

MILLISECOND = timedelta(milliseconds=1)  # what the time in an id is exact to
CUT_LENGTH = {"day": DAY, "hour": HOUR}
COUNTED_RUNS = (ConsolidationRun.State.DONE, ConsolidationRun.State.PARTIAL)


def filter_recalls(scope: Scope, span: TimeRange) -> QuerySet[RecallLog]:
    """Return the searches on the branch. Their ids are in the order of time: no other index is needed."""
    until = min(span.until, scope.now + MILLISECOND)
    ends = {"id__gte": first_id(span.since), "id__lt": first_id(until)}
    return RecallLog.objects.filter(
        project=scope.actor.project_id, branch=scope.branch.name, **ends
    ).order_by()


def first_id(at: datetime) -> UUID:
    """Return the lowest id version 7 of a time."""
    return UUID(int=max(0, int(at.timestamp() * 1000)) << 80)


def count_recalls(scope: Scope, span: TimeRange) -> tuple[Counter[str], Counter[str]]:
    """Return the searches and those that found nothing, by period; of each range they are counted once."""
    if span not in scope.recalls:
        scope.recalls[span] = group_recalls(scope, span)
    return scope.recalls[span]


def group_recalls(scope: Scope, span: TimeRange) -> tuple[Counter[str], Counter[str]]:
    period = cut_time("at", CUT_LENGTH[span.granularity])
    rows = (
        filter_recalls(scope, span)
        .values_list(period)
        .annotate(n=Count("pk"), missed=Count("pk", filter=Q(fact_ids=[])))
    )
    found = list(rows)
    return Counter({day: n for day, n, _ in found}), Counter({day: missed for day, _, missed in found})


def measure_yield(scope: Scope, span: TimeRange) -> Yield:
    """Return what was learned of sessions on the branch; a run that was undone made nothing.

    Runs of other levels read facts, every night the same ones.
    """
    sums = (
        filter_runs(scope, span)
        .filter(level=ConsolidationRun.Level.SESSION, state__in=COUNTED_RUNS)
        .aggregate(
            runs=Count("pk"),
            messages=Sum("messages"),
            observations=Sum("observations"),
            created=Sum("created"),
        )
    )
    read = (sums["messages"] or 0) + (sums["observations"] or 0)
    created, (low, high) = sums["created"] or 0, HEALTHY_YIELD
    rate = share(created, read)
    return Yield(sums["runs"], read, created, rate, None if rate is None else low <= rate <= high)


def filter_runs(scope: Scope, span: TimeRange) -> QuerySet[ConsolidationRun]:
    runs = ConsolidationRun.objects.filter(branch=scope.branch).order_by()
    return runs.filter(started_at__gte=span.since, started_at__lt=min(span.until, scope.now))


def count_model_tokens(scope: Scope, span: TimeRange) -> dict[str, int]:
    """Return the tokens that judge and consolidation read and wrote."""
    judged = Verification.objects.filter(branch=scope.branch, calls__gt=0)
    judged = judged.filter(created_at__gte=span.since, created_at__lt=min(span.until, scope.now))
    found: dict[str, int] = {}
    for name, rows in (("judge", judged), ("consolidation", filter_runs(scope, span))):
        sums = rows.order_by().aggregate(read=Sum("input_tokens"), written=Sum("output_tokens"))
        found |= {f"{name}_input": sums["read"] or 0, f"{name}_output": sums["written"] or 0}
    return found


def count_commits(scope: Scope, span: TimeRange) -> dict[str, int]:
    """Return the commits of the branch itself, and the agents that made them.

    A point before the fork is one of the branch that it was forked from.
    """
    branch, limit = scope.lineage[0]
    commits = Commit.objects.filter(branch=branch, at__gte=span.since, at__lt=span.until)
    commits = commits.filter(seq__lte=limit).order_by()
    agents = commits.exclude(agent_id="").values("agent_id").distinct().count()
    return {"commits": commits.count(), "agents": agents}


def filter_sessions(scope: Scope) -> QuerySet[Session]:
    """Return the sessions of the branch that no quarantine hides."""
    return Session.objects.filter(
        branch=scope.branch, hidden=False, deleted_at=None, started_at__lte=scope.now
    ).order_by()

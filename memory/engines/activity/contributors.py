"""Contributors of a day, counted from the commits without reading any memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Max, QuerySet, Subquery
from django.utils import timezone

from memory.actors import Actor
from memory.engines.versions.branch_access import filter_allowed_branches
from memory.models import Branch, Commit

MAX_MAKERS = 20  # per day
AGENT = "key"
SYSTEM = "system"  # sweeps and other background work, which is nobody's
MAX_SPANS = 120  # bars of a strip
MAX_LEVELS = 3  # of a lineage that are counted: the branch and its nearest ancestors
TTL_SECONDS = 60


@dataclass(frozen=True)
class Work:
    """Commits by one agent or person."""

    kind: str  # key for agents and their keys; user, local
    label: str
    commits: int
    last: datetime


class TodayEngine:
    def list_contributors(self, *, actor: Actor, since: datetime, until: datetime) -> list[Work]:
        """Return the contributors on the branches that the actor may use, most commits first; at most 20.

        Each name appears once for people, once for keys and agents, once for the command line.
        """
        actor.require_scope("read")
        rows = filter_usable(actor).filter(at__gte=since, at__lte=until).exclude(actor_kind=SYSTEM)
        groups = rows.order_by().values("actor_kind", "actor_label", "agent_id")
        counted = groups.annotate(n=Count("pk"), last=Max("at"))
        by_name: dict[tuple[str, str], list[Any]] = {}
        for row in counted:
            by_name.setdefault(_get_contributor(row), []).append(row)
        work = [_sum_up(*name, batch) for name, batch in by_name.items()]
        return sorted(work, key=lambda one: (one.commits, one.last), reverse=True)[:MAX_MAKERS]


def _get_contributor(row: Any) -> tuple[str, str]:
    """Return the kind of who made the commit, and the name to display."""
    return AGENT if row["agent_id"] else row["actor_kind"], row["agent_id"] or row["actor_label"]


def _sum_up(kind: str, label: str, rows: list[Any]) -> Work:
    return Work(kind, label, sum(row["n"] for row in rows), max(row["last"] for row in rows))


def filter_usable(actor: Actor) -> QuerySet[Commit]:
    return filter_allowed_branches(Commit.objects.filter(branch__project=actor.project_id), actor)


# ---- the calendar ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Span:
    """Some days, of which ``until`` is the last, and the commits of these days."""

    until: date
    commits: int


def load_calendar(branch: Branch) -> Sequence[Span]:
    """Return the spans from a branch's first commit until today, kept for a minute.

    A branch that is forked shows the commits of its ancestors until then.
    """
    key = f"calendar:{branch.pk}"
    found: Sequence[Span] | None = cache.get(key)
    if found is None:
        found = count_spans(branch)
        if len(found) > 1:  # of a first day everything is seen at once
            cache.set(key, found, TTL_SECONDS)
    return found


def count_spans(branch: Branch) -> list[Span]:
    """Count by the numbers of commits, which have no gaps: each bar costs one look into an index."""
    lineage = list(branch.lineage())[:MAX_LEVELS]
    first = Commit.objects.filter(branch=lineage[-1][0], seq=1).values_list("at", flat=True).first()
    if first is None:
        first = branch.created_at
    ends = list_ends(first.astimezone(UTC).date(), timezone.now().astimezone(UTC).date())
    totals = [0, *count_until(lineage, ends)]
    return [
        Span(end, max(after - before, 0)) for end, (before, after) in zip(ends, pairwise(totals), strict=True)
    ]


def list_ends(first: date, last: date) -> list[date]:
    """Return the last days of at most 120 spans of equal length, of which the last ends today."""
    days = max((last - first).days + 1, 1)
    step = -(-days // MAX_SPANS)
    count = -(-days // step)
    return [last - timedelta(days=step * back) for back in reversed(range(count))]


def count_until(lineage: Sequence[tuple[int, int]], ends: Sequence[date]) -> list[int]:
    """Return how many commits a lineage has until the end of each day, with one query."""
    names = [(place, level) for place in range(len(ends)) for level in range(len(lineage))]
    found: dict[str, Any] = {}
    for place, level in names:
        branch, limit = lineage[level]
        until = datetime.combine(ends[place], time.max, UTC)
        commits = Commit.objects.filter(branch=branch, seq__lte=limit, at__lte=until)
        found[f"n{place}_{level}"] = Subquery(commits.order_by("-at").values("seq")[:1])
    (row,) = Branch.objects.filter(pk=lineage[0][0]).values_list(*found.values())
    numbers = dict(zip(names, row, strict=True))
    return [sum(numbers[place, level] or 0 for level in range(len(lineage))) for place in range(len(ends))]

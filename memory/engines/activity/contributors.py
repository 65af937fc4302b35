"""Contributors of a day, counted from the commits without reading any memory."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, QuerySet, Sum

from memory.actors import Actor
from memory.models import Branch, Commit

MAX_MAKERS = 20  # per day
SYSTEM = "system"  # sweeps and other background work, which is nobody's


@dataclass(frozen=True)
class Work:
    """Changes by one agent or person; the counts include versions, verdicts and links."""

    is_agent: bool
    label: str
    commits: int
    added: int
    changed: int
    removed: int
    last: datetime


class TodayEngine:
    def list_contributors(self, *, actor: Actor, since: datetime, until: datetime) -> list[Work]:
        """Return the contributors on the branches that the actor may use, most additions first; at most 20.

        Each name appears once, across all its keys and surfaces. Background work is left out.
        """
        actor.require_scope("read")
        rows = filter_usable(actor).filter(at__gte=since, at__lte=until).exclude(actor_kind=SYSTEM)
        groups = rows.order_by().values("actor_kind", "actor_label", "agent_id")
        counted = groups.annotate(
            n=Count("pk"), new=Sum("added"), other=Sum("changed"), gone=Sum("removed"), last=Max("at")
        )
        by_name: dict[tuple[bool, str], list[Any]] = {}
        for row in counted:
            by_name.setdefault(_get_contributor(row), []).append(row)
        work = [_sum_up(*name, batch) for name, batch in by_name.items()]
        return sorted(work, key=lambda one: (one.added, one.last), reverse=True)[:MAX_MAKERS]


def _get_contributor(row: Any) -> tuple[bool, str]:
    """Return whether an agent made the commit, and the name to display."""
    return bool(row["agent_id"]) or row["actor_kind"] == "key", row["agent_id"] or row["actor_label"]


def _sum_up(is_agent: bool, label: str, rows: list[Any]) -> Work:
    commits, added, changed, removed = (
        sum(row[name] for row in rows) for name in ("n", "new", "other", "gone")
    )
    return Work(is_agent, label, commits, added, changed, removed, max(row["last"] for row in rows))


def filter_usable(actor: Actor) -> QuerySet[Commit]:
    commits = Commit.objects.filter(branch__project=actor.project_id)
    if not actor.branch_patterns:
        return commits
    names = Branch.objects.filter(project=actor.project_id).values_list("pk", "name")
    return commits.filter(branch__in=[pk for pk, name in names if actor.may_use(name)])

"""What came in during a day, and who brought it: from the commits, so that no memory is read."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, QuerySet, Sum

from memory.actors import Actor
from memory.models import Branch, Commit

MOST = 20  # makers of a day


@dataclass(frozen=True)
class Work:
    """What one agent or person changed; counts are of versions, verdicts and links included."""

    kind: str  # as Actor.kind
    label: str
    agent_id: str
    commits: int
    added: int
    changed: int
    removed: int
    last: datetime


class TodayEngine:
    def work(self, *, actor: Actor, since: datetime, until: datetime) -> list[Work]:
        """Who worked on the branches that the actor may use, the most added first; at most 20."""
        actor.require("read")
        rows = _usable(actor).filter(at__gte=since, at__lte=until)
        groups = rows.order_by().values("actor_kind", "actor_label", "agent_id")
        counted = groups.annotate(
            n=Count("pk"), new=Sum("added"), other=Sum("changed"), gone=Sum("removed"), last=Max("at")
        )
        return [
            Work(row["actor_kind"], row["actor_label"], row["agent_id"], row["n"], row["new"], row["other"],
                 row["gone"], row["last"])
            for row in counted.order_by("-new", "-last")[:MOST]
        ]  # fmt: skip


def _usable(actor: Actor) -> QuerySet[Commit]:
    commits = Commit.objects.filter(branch__project=actor.project_id)
    if not actor.branch_patterns:
        return commits
    names = Branch.objects.filter(project=actor.project_id).values_list("pk", "name")
    return commits.filter(branch__in=[pk for pk, name in names if actor.may_use(name)])

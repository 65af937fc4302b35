"""What a branch holds, and who works on it: counts only, no text."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, OuterRef

from memory.models import Branch, Fact, FactAssessment, FactLink, Session


@dataclass(frozen=True)
class BranchStats:
    """``ahead``: its own commits; ``behind``: those of the parent since it left. Both 0 where none are."""

    branch: Branch
    facts: dict[str, int]  # by status
    verification: dict[str, int]  # by verdict on what the facts say now
    links: int
    ahead: int
    behind: int
    children: int
    sessions: int
    agents: int
    last_activity: datetime


def stats_of(branch: Branch) -> BranchStats:
    rows = Fact.objects.on(branch).order_by().values_list("status").annotate(n=Count("pk"))
    facts = {status.value: 0 for status in Fact.Status} | dict(rows)
    parent = branch.parent
    return BranchStats(
        branch,
        facts=facts,
        verification=_verification(branch, sum(facts.values())),
        links=FactLink.objects.on(branch).count(),
        ahead=branch.head,
        behind=parent.head - branch.fork_seq if parent else 0,
        children=branch.children.live().count(),
        sessions=Session.objects.filter(branch=branch).count(),
        agents=branch.commits.exclude(agent_id="").values("agent_id").distinct().count(),
        last_activity=branch.head_at,
    )


def _verification(branch: Branch, facts: int) -> dict[str, int]:
    """Counted from the verdicts, which are fewer than the facts."""
    on_now = Fact.objects.on(branch).rows().filter(uid=OuterRef("uid"), judged_hash=OuterRef("judged_hash"))
    verdicts = FactAssessment.objects.on(branch).filter(Exists(on_now)).order_by()
    known = {status.value: 0 for status in FactAssessment.Status}
    known |= dict(verdicts.values_list("status").annotate(n=Count("pk")))
    known["unverified"] = facts - known["verified"] - known["invalidated"]
    return known

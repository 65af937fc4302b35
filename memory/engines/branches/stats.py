"""What a branch holds, and who works on it: counts only, no text."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, OuterRef, Q

from memory.db.querysets import Lineage, VersionedQuerySet
from memory.models import Branch, Fact, FactAssessment, FactLink, Session

Rows = Callable[[Lineage], VersionedQuerySet]


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
    lineage, parent = branch.lineage(), branch.parent
    facts = {status.value: 0 for status in Fact.Status} | _tally(Fact.objects.along, "status", lineage)
    return BranchStats(
        branch,
        facts=facts,
        verification=_verification(lineage, sum(facts.values())),
        links=sum(_tally(FactLink.objects.along, "link_type", lineage).values()),
        ahead=branch.head,
        behind=parent.head - branch.fork_seq if parent else 0,
        children=branch.children.live().count(),
        sessions=Session.objects.filter(branch=branch).count(),
        agents=branch.commits.exclude(agent_id="").values("agent_id").distinct().count(),
        last_activity=branch.head_at,
    )


def _verification(lineage: Lineage, facts: int) -> dict[str, int]:
    """Counted from the verdicts, which are fewer than the facts."""
    known = {status.value: 0 for status in FactAssessment.Status} | _tally(_verdicts, "status", lineage)
    known["unverified"] = facts - known["verified"] - known["invalidated"]
    return known


def _verdicts(lineage: Lineage) -> VersionedQuerySet:
    """The verdicts on what the facts say now."""
    on_now = Fact.objects.along(lineage).rows()
    on_now = on_now.filter(uid=OuterRef("uid"), judged_hash=OuterRef("judged_hash"))
    return FactAssessment.objects.along(lineage).filter(Exists(on_now))


def _tally(rows: Rows, column: str, lineage: Lineage) -> Counter[str]:
    """How many rows have each value: those of the parent, but for what the branch speaks about itself.

    A row of the parent is then not asked whether the branch hides it: few of many are hidden.
    """
    if len(lineage) == 1:
        return _whole(rows(lineage), column)
    own, *parents = lineage
    spoken = _spoken(*own)
    before, now = (rows(point).filter(spoken).gather_values(column) for point in (parents, lineage))
    return _tally(rows, column, parents) - _each(before) + _each(now)


def _whole(rows: VersionedQuerySet, column: str) -> Counter[str]:
    """By one count for each value: in groups every row would be sorted first."""
    known = [value for value, _name in rows.model._meta.get_field(column).choices]
    return Counter(rows.aggregate(**{value: Count("pk", filter=Q(**{column: value})) for value in known}))


def _each(values: list[tuple]) -> Counter[str]:
    return Counter(value for (value,) in values)


def _spoken(branch: int, limit: int) -> Q:
    """A condition: what the branch itself says something about."""
    some = [
        model.objects.all_versions().filter(branch=branch, seq_from__lte=limit).values("uid")
        for model in (Fact, FactAssessment, FactLink)
    ]
    return Q(uid__in=some[0].union(*some[1:], all=True))

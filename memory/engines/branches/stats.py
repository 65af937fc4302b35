"""Statistics of a branch: its content and its contributors. Counts only, no text."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product

from django.db.models import Count, Exists, OuterRef, Q

from memory.db.lineage import take_parents
from memory.db.querysets import Lineage, VersionedQuerySet
from memory.engines.facts.derived_trust import find_capped
from memory.models import Branch, Fact, FactAssessment, FactLink, Session

Rows = Callable[[Lineage], VersionedQuerySet]
Verdict = FactAssessment.Status
COUNTED = (Verdict.VERIFIED, Verdict.PLAUSIBLE, Verdict.INVALIDATED)  # the rest is unverified


@dataclass(frozen=True)
class BranchStats:
    """Statistics of a branch. ``ahead``: its own commits that the parent has not; ``behind``: the reverse."""

    branch: Branch
    facts: dict[str, int]  # by status
    verification: dict[str, int]  # by verdict on the facts' present text
    links: int
    ahead: int
    behind: int
    children: int
    sessions: int
    agents: int
    last_activity: datetime


def count_stats(branch: Branch) -> BranchStats:
    """Return the statistics of a branch whose distances are known."""
    lineage = branch.lineage()
    facts = {status.value: 0 for status in Fact.Status} | tally_values(
        Fact.objects.in_lineage, "status", lineage
    )
    return BranchStats(
        branch,
        facts=facts,
        verification=count_verification(lineage, sum(facts.values())),
        links=sum(tally_values(FactLink.objects.in_lineage, "link_type", lineage).values()),
        ahead=branch.ahead,
        behind=branch.behind,
        children=branch.children.live().count(),
        sessions=Session.objects.filter(branch=branch, hidden=False, deleted_at=None).count(),
        agents=branch.commits.exclude(agent_id="").values("agent_id").distinct().count(),
        last_activity=branch.head_at,
    )


def count_verification(
    lineage: Lineage, facts: int, verdicts: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Count so many facts by their verdict: one on what they say now, that their sources bear.

    Verdicts are counted, since they are fewer than the facts; ``verdicts`` are their counts where known.
    """
    found = Counter(sum_groups(tally_verdicts(lineage), 0) if verdicts is None else verdicts)
    for stated, borne in find_capped(lineage).values():
        found[stated] -= 1
        found[borne] += 1
    counts = {status.value: found[status] for status in COUNTED}
    return {**counts, Verdict.UNVERIFIED.value: facts - sum(counts.values())}


def load_verdicts(lineage: Lineage) -> VersionedQuerySet:
    """Return the verdicts on the facts' present text."""
    on_now = Fact.objects.in_lineage(lineage).rows()
    on_now = on_now.filter(uid=OuterRef("uid"), judged_hash=OuterRef("judged_hash"))
    return FactAssessment.objects.in_lineage(lineage).filter(Exists(on_now))


def tally_verdicts(lineage: Lineage) -> Counter[tuple[str, ...]]:
    """Count the verdicts on the facts' present text by status and method."""
    found: Counter[tuple[str, ...]] = Counter()
    for (status, method), count in tally_groups(load_verdicts, ("status", "method"), lineage).items():
        found[FactAssessment.read_status(status, method), method] += count
    return found


def tally_values(rows: Rows, column: str, lineage: Lineage) -> Counter[str]:
    """Count the rows by the values of a column."""
    return sum_groups(tally_groups(rows, (column,), lineage), 0)


def sum_groups(groups: Mapping[tuple[str, ...], int], place: int) -> Counter[str]:
    """Return counts of groups by one of their columns."""
    found: Counter[str] = Counter()
    for values, count in groups.items():
        found[values[place]] += count
    return found


def tally_groups(rows: Rows, columns: Sequence[str], lineage: Lineage) -> Counter[tuple[str, ...]]:
    """Count the rows by values: the parent's counts, corrected for the memories that the branch itself
    changed.

    This avoids a visibility check for each row of the parent: few of many are hidden.
    """
    if len(lineage) == 1:
        return count_groups(rows(lineage), columns)
    parents = take_parents(lineage)
    spoken = own_rows_condition(*lineage[0])
    before, now = (rows(point).filter(spoken).gather_values(*columns) for point in (parents, lineage))
    return tally_groups(rows, columns, parents) - Counter(before) + Counter(now)


def count_groups(rows: VersionedQuerySet, columns: Sequence[str]) -> Counter[tuple[str, ...]]:
    """Count the rows of each choice in one pass: GROUP BY would sort every row first."""
    choices = [[value for value, _ in rows.model._meta.get_field(name).choices] for name in columns]
    groups = {f"group_{place}": values for place, values in enumerate(product(*choices))}
    filters = {name: Q(**dict(zip(columns, values, strict=True))) for name, values in groups.items()}
    counts = rows.aggregate(**{name: Count("pk", filter=only) for name, only in filters.items()})
    return Counter({values: counts[name] for name, values in groups.items()})


def own_rows_condition(branch: int, limit: int) -> Q:
    """Return a condition on the memories that the branch itself changed."""
    batch = [
        model.objects.all_versions().filter(branch=branch, seq_from__lte=limit).values("uid")
        for model in (Fact, FactAssessment, FactLink)
    ]
    return Q(uid__in=batch[0].union(*batch[1:], all=True))

"""Tallies: how many memories a branch shows, by the values of some columns.

The rows of a branch are grouped by the database. Those of a child are its parent's, corrected for the
memories that it changed itself: few of many, so that no row of the parent is looked at twice.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.db.models import Count, F, Q, QuerySet, Sum

from conversations.models import Conversation, Message
from memory.db.expressions import DAY, HOUR, cut_time
from memory.db.lineage import take_own, take_parents
from memory.db.querysets import Lineage, VersionedQuerySet
from memory.engines.branches.stats import load_verdicts
from memory.models import Fact, FactAssessment, Observation, Relation

Tally = Counter[tuple[Any, ...]]
# Columns that are worked out: the beginning of a time.
TIMES = {"day": ("created_at", DAY), "hour": ("created_at", HOUR), "judged": ("at", DAY)}


@dataclass(frozen=True)
class Measure:
    """What is tallied: memories of a model by columns, or the sum of one column of them."""

    model: Any  # of versions
    columns: tuple[str, ...]
    summed: str = ""
    sources: tuple[Any, ...] = ()  # other models whose changes count

    def select_rows(self, lineage: Lineage) -> VersionedQuerySet:
        if self.model is FactAssessment:
            return load_verdicts(lineage)
        return cast(VersionedQuerySet, self.model.objects.in_lineage(lineage))

    def list_changed(self, branch: int, after: int, until: int) -> Q:
        """Return a condition on the memories that a branch itself changed in some of its commits."""
        span = {"branch": branch, "seq_from__gt": after, "seq_from__lte": until}
        written = [model._base_manager.filter(**span).values("uid") for model in (self.model, *self.sources)]
        return Q(uid__in=written[0].union(*written[1:], all=True) if self.sources else written[0])

    @property
    def is_additive(self) -> bool:
        """Return whether each version counts by itself, whatever other memories say at a point."""
        return not self.sources

    @property
    def counted(self) -> Any:
        """Return what the memories of a group add up to."""
        return Sum(self.summed) if self.summed else Count("pk")

    @property
    def groups(self) -> dict[str, Any]:
        """Return the expression of each column, under a name that no column has."""
        expressions = (self._build_time(name) if name in TIMES else F(name) for name in self.columns)
        return {f"group_{position}": expression for position, expression in enumerate(expressions)}

    def _build_time(self, name: str) -> Any:
        column, letters = TIMES[name]
        return cut_time(column, letters)


FACTS = Measure(Fact, ("status", "category", "agent_id"))
# Of few facts: those of all are in the others.
FACT_STATES, FACT_AGENTS = Measure(Fact, ("status",)), Measure(Fact, ("agent_id",))
FACT_DAYS, FACT_HOURS = Measure(Fact, ("day", "status", "pinned")), Measure(Fact, ("hour",))
VERDICTS = Measure(FactAssessment, ("status", "method", "judged"), sources=(Fact,))
MESSAGES, MESSAGE_HOURS = Measure(Message, ("day", "role")), Measure(Message, ("hour",))
MESSAGE_TOKENS = Measure(Message, ("role",), "token_count")
CONVERSATIONS = Measure(Conversation, ("status", "agent_id"))
CONVERSATION_DAYS, CONVERSATION_HOURS = Measure(Conversation, ("day",)), Measure(Conversation, ("hour",))
OBSERVATIONS = Measure(Observation, ("observation_type", "outcome", "agent_id", "tool_name"))
OBSERVATION_DAYS, OBSERVATION_HOURS = Measure(Observation, ("day",)), Measure(Observation, ("hour",))
RELATIONS = Measure(Relation, ("relation_type",))


def tally_rows(measure: Measure, lineage: Lineage, condition: Q | None = None) -> Tally:
    """Return the tally of what a lineage shows, of the rows that meet a condition if one is given."""
    if len(lineage) == 1:
        rows = measure.select_rows(lineage).filter(condition or Q())
        return group_values(measure, rows.prefer_start_index())
    return extend_tally(measure, tally_rows(measure, take_parents(lineage), condition), lineage, condition)


def extend_tally(measure: Measure, inherited: Tally, lineage: Lineage, condition: Q | None = None) -> Tally:
    """Return the tally of a child, of which the parent's is known."""
    own, limit = lineage[0]
    changed = measure.list_changed(own, 0, limit)
    if not measure.is_additive:
        return correct_tally(measure, inherited, take_parents(lineage), lineage, changed, condition)
    found = Counter(inherited)
    found.subtract(add_up(measure, take_parents(lineage), changed, condition))
    found.update(add_up(measure, take_own(lineage), condition or Q()))
    return Counter({key: count for key, count in found.items() if count})


def group_written(measure: Measure, column: str, branch: int, after: int, until: int) -> Tally:
    """Return the tally of the versions of a branch whose seq in a column lies between two commits."""
    span = {"branch": branch, f"{column}__gt": after, f"{column}__lte": until}
    return group_values(measure, measure.model._base_manager.filter(**span, deleted=False))


def group_values(measure: Measure, rows: QuerySet) -> Tally:
    """Return the tally of rows, which the database groups."""
    grouped = rows.order_by().annotate(**measure.groups).values_list(*measure.groups)
    return Counter({tuple(key): count or 0 for *key, count in grouped.annotate(counted=measure.counted)})


def move_tally(measure: Measure, tally: Tally, branch: int, before: int, now: int) -> Tally:
    """Return a tally of one commit of a branch without a parent as that of another one, later or earlier.

    Each version counts from the commit that wrote it to the one that closed it.
    """
    span = sorted((before, now))
    begun, ended = (group_written(measure, column, branch, *span) for column in ("seq_from", "seq_to"))
    found = Counter(tally)
    found.update(begun if now > before else ended)
    found.subtract(ended if now > before else begun)
    return Counter({key: count for key, count in found.items() if count})


def correct_tally(
    measure: Measure, tally: Tally, before: Lineage, now: Lineage, changed: Q, condition: Q | None = None
) -> Tally:
    """Return a tally of one point as that of another one, between which only some memories changed."""
    found = Counter(tally)
    found.subtract(add_up(measure, before, changed, condition))
    found.update(add_up(measure, now, changed, condition))
    return Counter({key: count for key, count in found.items() if count})


def add_up(measure: Measure, lineage: Lineage, among: Q, condition: Q | None = None) -> Tally:
    """Return the tally of the memories that an index finds, on each branch of a lineage by itself."""
    rows = measure.select_rows(lineage).filter(among)
    rows = rows.filter(condition) if condition else rows
    found: Tally = Counter()
    for *key, count in rows.gather_groups(measure.counted, **measure.groups):
        found[tuple(key)] += count or 0
    return found


def regroup(
    tally: Tally, measure: Measure, *names: str, where: Mapping[str, Sequence[Any]] | None = None
) -> Counter:
    """Return a tally by fewer columns, of the groups with given values: one column is a key by itself."""
    indexes = [measure.columns.index(name) for name in names]
    conditions = [(measure.columns.index(name), frozenset(values)) for name, values in (where or {}).items()]
    found: Counter[Any] = Counter()
    for key, count in tally.items():
        if all(key[index] in values for index, values in conditions):
            part = tuple(key[index] for index in indexes)
            found[part[0] if len(part) == 1 else part] += count
    return found

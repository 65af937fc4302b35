"""Where the queue finds what waits: for each reason a list that is read in portions, by an index.

No source counts, or reads more than a bounded number of rows: where few of many rows wait, a portion may be
empty and say where to go on.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q, QuerySet

from curation.engines.queue.reasons import Reason, Scope, build_never_recalled
from curation.models import ReviewItem, Verification
from memory.db.expressions import IndexCondition
from memory.db.querysets import VersionedQuerySet
from memory.engines.facts.assessment import is_unjudged
from memory.engines.support import validation as c
from memory.engines.support.pagination import NOT_OURS, parse_count, parse_cursor_id
from memory.exceptions import Invalid
from memory.models import OPEN, Fact
from memory.models.facts import PROPOSED_INDEX

WINDOWS = (500, 20_000)  # versions that one look goes through: the second where the first found too few
ENDS = ("expires_at", "valid_until")


class Portion(NamedTuple):
    """Candidates of one reason in their order, the questions that they come with, and where to go on.

    ``next`` is "" at the end.
    """

    facts: Sequence[Fact]
    next: str
    items: Sequence[ReviewItem] = ()


Read = Callable[[Scope, str, int], Portion]


# ---- proposals, questions, ratings: few rows of their own ------------------------------------------------


def read_proposals(scope: Scope, after: str, limit: int) -> Portion:
    """Read the proposals of the branch itself, newest first."""
    rows = Fact._base_manager.filter(IndexCondition(PROPOSED_INDEX), seq_to=OPEN, deleted=False)
    uids, follows = take_ids(rows.filter(branch=scope.branch), "uid", after, limit)
    return Portion(load_facts(uids, scope), follows)


def read_questions(kind: str) -> Read:
    """Return the source of the open questions of one kind, newest first."""

    def read(scope: Scope, after: str, limit: int) -> Portion:
        items = ReviewItem.objects.filter(branch=scope.branch, status=ReviewItem.Status.OPEN, kind=kind)
        ids, follows = take_ids(items, "id", after, limit)
        found = {item.pk: item for item in items.select_related("branch").filter(pk__in=ids)}
        return Portion([], follows, [found[pk] for pk in ids if pk in found])

    return read


def read_disagreements(scope: Scope, after: str, limit: int) -> Portion:
    """Read the facts that the judge rated otherwise than the heuristic, the newest rating first."""
    rows = Verification.objects.filter(branch=scope.branch, latest=True, disagrees=True)
    ids, follows = take_ids(rows, "id", after, limit)
    facts = dict(rows.filter(pk__in=ids).values_list("pk", "fact_id"))
    return Portion(load_facts([facts[pk] for pk in ids if pk in facts], scope), follows)


def take_ids(rows: QuerySet, column: str, after: str, limit: int) -> tuple[list[UUID], str]:
    """Return the ids below a position, the highest first, and the position to go on from."""
    if after:
        rows = rows.filter(**{f"{column}__lt": parse_cursor_id(after)})
    found = list(rows.order_by(f"-{column}").values_list(column, flat=True)[: limit + 1])
    return found[:limit], found[limit - 1].hex if len(found) > limit else ""


def load_facts(uids: Sequence[UUID], scope: Scope) -> list[Fact]:
    """Return the facts that the branch shows, in the order of the ids."""
    rows = Fact.objects.in_lineage(scope.lineage).filter(uid__in=list(uids))
    found = {fact.uid: fact for fact in rows.fetch_all()} if uids else {}
    return [found[uid] for uid in uids if uid in found]


# ---- facts that end soon ---------------------------------------------------------------------------------


def read_expiring(scope: Scope, after: str, limit: int) -> Portion:
    """Read the facts that end soon, those that end first before the others."""
    column, since, skip = parse_end(after)
    rows = Fact.objects.in_lineage(scope.lineage).searchable()
    rows = rows.filter(**{f"{column}__gt": scope.now, f"{column}__lte": scope.expires_until})
    if since:
        rows = rows.filter(**{f"{column}__gte": since})
    if column != ENDS[0]:  # those that the other column lists already
        listed = Q(expires_at__gt=scope.now, expires_at__lte=scope.expires_until)
        rows = rows.filter(Q(expires_at=None) | ~listed)
    found = rows.lowest(skip + limit + 1, column)[skip:]
    facts = found[:limit]
    if len(found) > limit:
        last = getattr(facts[-1], column)
        same = sum(getattr(fact, column) == last for fact in facts)
        return Portion(facts, write_end(column, last, same + (skip if last == since else 0)))
    return Portion(facts, write_end(ENDS[1]) if column == ENDS[0] else "")


def parse_end(after: str) -> tuple[str, datetime | None, int]:
    """Parse a position: a column, its value, how many facts with that value were read. Raises Invalid."""
    if not after:
        return ENDS[0], None, 0
    column, _bar, rest = after.partition("|")
    value, _bar, count = rest.partition("|")
    if column not in ENDS:
        raise Invalid(NOT_OURS, field="cursor")
    return column, c.parse_time("cursor", value) if value else None, parse_count(count or "0")


def write_end(column: str, value: datetime | None = None, count: int = 0) -> str:
    return f"{column}|{value.isoformat() if value else ''}|{count}"


# ---- facts of which most may wait, or nearly none --------------------------------------------------------


def read_unverified(scope: Scope, after: str, limit: int) -> Portion:
    """Read the facts without a person's or a judge's verdict on what they say now, newest first."""
    return scan(scope, is_unjudged(scope.lineage), after, limit, down=True)


def read_never_recalled(scope: Scope, after: str, limit: int) -> Portion:
    """Read the facts that nobody ever recalled though they are not new, oldest first."""
    return scan(scope, build_never_recalled(scope.lineage, scope.idle_since), after, limit, down=False)


def scan(scope: Scope, waits: Q, after: str, limit: int, down: bool) -> Portion:
    """Read the facts that wait, in the order of their ids, within a bounded number of versions."""
    rows = Fact.objects.in_lineage(scope.lineage).searchable()
    rows = scope.filters.apply(rows, scope.lineage).filter(waits)
    start = parse_cursor_id(after) if after else None
    found: list[Fact] = []
    edge = None
    for window in WINDOWS:
        edge = find_edge(scope, start, window, down)
        found = read_within(rows, start, edge, limit + 1, down)
        if len(found) > limit or edge is None:
            break
    if len(found) > limit:
        return Portion(found[:limit], found[limit - 1].uid.hex)
    return Portion(found, edge.hex if edge else "")


def find_edge(scope: Scope, start: UUID | None, window: int, down: bool) -> UUID | None:
    """Return the id up to which so many versions of each branch go; None where there are fewer.

    Read from the index alone.
    """
    found: list[UUID] = []
    for branch, _limit in scope.lineage:
        rows = Fact._base_manager.filter(branch=branch)
        if start:
            rows = rows.filter(**{"uid__lt" if down else "uid__gt": start})
        ordered = rows.order_by("-uid" if down else "uid").values_list("uid", flat=True)
        found += ordered[window : window + 1]
    return (max if down else min)(found, default=None)


def read_within(
    rows: VersionedQuerySet[Fact], start: UUID | None, edge: UUID | None, limit: int, down: bool
) -> list[Fact]:
    if edge:
        rows = rows.filter(**{"uid__gte" if down else "uid__lte": edge})
    return rows.highest(limit, "uid", start) if down else rows.lowest(limit, "uid", start)


SOURCES: Mapping[Reason, Any] = {
    Reason.PROPOSED: read_proposals,
    Reason.CONTESTED: read_questions(ReviewItem.Kind.CONTESTED),
    Reason.NEAR_DUPLICATE: read_questions(ReviewItem.Kind.NEAR_DUPLICATE),
    Reason.DISAGREEMENT: read_disagreements,
    Reason.EXPIRING: read_expiring,
    Reason.UNVERIFIED: read_unverified,
    Reason.NEVER_RECALLED: read_never_recalled,
}

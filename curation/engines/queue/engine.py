"""Where the queue finds what waits: for each reason a list that is read in portions, by an index.

No source counts, or reads more than a bounded number of rows: where few of many rows wait, a portion may be
empty and say where to go on.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from curation.engines.queue.reasons import WORTH, Cause, Reason, Scope, build_never_recalled, find_causes
from curation.engines.review.review_queue import select_waiting, with_facts
from curation.models import ReviewItem, Verification
from memory.actors import Actor
from memory.db.expressions import IndexCondition, NotHidden
from memory.db.querysets import VersionedQuerySet
from memory.engines.facts.assessment import annotate_facts, is_unjudged
from memory.engines.facts.filters import FactFilter
from memory.engines.support import pagination
from memory.engines.support import validation as c
from memory.engines.versions.lookup import MAIN, find_branch
from memory.exceptions import Invalid
from memory.models import OPEN, Branch, Fact
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
        rows = rows.filter(**{f"{column}__lt": pagination.parse_cursor_id(after)})
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
        raise Invalid(pagination.NOT_OURS, field="cursor")
    return column, c.parse_time("cursor", value) if value else None, pagination.parse_count(count or "0")


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
    start = pagination.parse_cursor_id(after) if after else None
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


MAX_PORTIONS = 5  # for one page: where each has next to nothing, the page is short and says where to go on


@dataclass(frozen=True)
class Entry:
    """What waits for a decision: a fact, or with ``item`` a question on it and another.

    ``fact`` is None where the branch shows neither of the two any more.
    """

    fact: Fact | None
    causes: Sequence[Cause]
    item: ReviewItem | None = None


class QueueEngine:
    def list_entries(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        reasons: Collection[str] = (),
        filters: FactFilter | None = None,
        limit: int = 50,
        cursor: str = "",
    ) -> pagination.Page[Entry]:
        """List what waits on a branch by worth: proposals first, then questions, then what is unsure.

        ``reasons`` selects some; an entry that waits for several is listed once, under the one worth most. A
        page may have fewer entries than ``limit`` and another page behind it. Nothing waits on an archived
        branch. Needs the scope curate. Raises Invalid, BranchNotFound, BranchForbidden.
        """
        actor.require_scope("curate", branch_name)
        pagination.check_limit(limit)
        chosen = parse_reasons(reasons)
        branch = find_branch(actor, branch_name)
        scope = Scope.from_branch(branch, filters)
        mark = pagination.mark_from(repr((branch.pk, chosen, sorted(scope.filters.as_dict().items()))))
        start, after = parse_position(cursor, mark, chosen)
        if branch.archived_at:
            return pagination.Page([])
        return PageReader(scope, chosen, limit, actor.project_id).read(start, after, mark)

    def count_waiting(
        self, *, actor: Actor, branch_name: str = MAIN, maximum: int = 1000
    ) -> dict[Reason, int]:
        """Count the proposals and questions that wait on a branch, each kind up to ``maximum``.

        Needs the scope curate. Raises BranchNotFound, BranchForbidden.
        """
        actor.require_scope("curate", branch_name)
        branch = find_branch(actor, branch_name)
        found = {Reason.PROPOSED: filter_proposals(branch)[:maximum].count()}
        for kind in (ReviewItem.Kind.CONTESTED, ReviewItem.Kind.NEAR_DUPLICATE):
            found[Reason(kind)] = filter_open(actor, branch).filter(kind=kind)[:maximum].count()
        return found

    def count_all_waiting(self, *, actor: Actor, branch: Branch, maximum: int) -> int:
        """Return the sum of what count_waiting counts, up to ``maximum``. Needs the scope curate."""
        actor.require_scope("curate", branch.name)
        waiting = (filter_proposals(branch), filter_open(actor, branch))
        return min(sum(rows[:maximum].count() for rows in waiting), maximum)

    def find_entry(self, *, fact_id: UUID, actor: Actor, branch_name: str = MAIN) -> Entry | None:
        """Return why a fact waits now; None where it does not. Needs the scope curate."""
        actor.require_scope("curate", branch_name)
        branch = find_branch(actor, branch_name)
        scope = Scope.from_branch(branch)
        facts = [] if branch.archived_at else load_facts([fact_id], scope)
        annotate_facts(facts, scope.lineage, actor.project_id)
        for fact in facts:
            fact.branch = branch
            if causes := find_causes([fact], scope)[fact.uid]:
                return Entry(fact, causes)
        return None


def filter_proposals(branch: Branch) -> QuerySet[Fact]:
    """Return the proposals that wait on a branch; nothing waits on an archived one."""
    if branch.archived_at:
        return Fact._base_manager.none()
    rows = Fact._base_manager.filter(IndexCondition(PROPOSED_INDEX), seq_to=OPEN, deleted=False)
    return rows.filter(NotHidden(), branch=branch)


def filter_open(actor: Actor, branch: Branch) -> QuerySet[ReviewItem]:
    """Return the open questions of a branch that it shows."""
    return filter_shown(select_waiting(actor, branch).filter(status=ReviewItem.Status.OPEN), branch)


def filter_shown(questions: QuerySet[ReviewItem], branch: Branch) -> QuerySet[ReviewItem]:
    """Leave out the questions that wait for the release of what a quarantine hides."""
    if not branch.masked:
        return questions
    rows = Fact.objects.in_lineage(branch.lineage()).rows()
    return questions.filter(*(Exists(rows.filter(uid=OuterRef(name))) for name in ("fact_id", "other_id")))


def parse_reasons(reasons: Collection[str]) -> tuple[Reason, ...]:
    """Return the reasons in the order of their worth, all by default. Raises Invalid."""
    check = c.one_of([reason.value for reason in WORTH])
    requested = {check("reason", reason) for reason in reasons}
    return tuple(reason for reason in WORTH if not requested or reason.value in requested)


def parse_position(cursor: str, mark: str, chosen: Sequence[Reason]) -> tuple[int, str]:
    """Return which of the reasons a page begins with, and where. Raises Invalid."""
    if not cursor:
        return 0, ""
    reason, _colon, after = pagination.read_cursor(cursor, mark).get("key", "").partition(":")
    if reason not in chosen:
        raise Invalid(pagination.NOT_OURS, field="cursor")
    return chosen.index(Reason(reason)), after


class PageReader:
    """Reads one page from the sources, in the order of worth."""

    def __init__(self, scope: Scope, chosen: Sequence[Reason], limit: int, project_id: UUID) -> None:
        self.scope, self.chosen, self.limit, self.project_id = scope, chosen, limit, project_id
        self.left = MAX_PORTIONS

    def read(self, start: int, after: str, mark: str) -> pagination.Page[Entry]:
        """Read from a position: the number of a reason, and a position in its source."""
        found: list[Entry] = []
        for number in range(start, len(self.chosen)):
            reason = self.chosen[number]
            after = self._read_reason(reason, after if number == start else "", found)
            if after or len(found) >= self.limit or not self.left:
                return pagination.Page(found, self._write_position(number, after, mark))
        return pagination.Page(found)

    def _read_reason(self, reason: Reason, after: str, found: list[Entry]) -> str:
        """Add the entries of one reason; return where to go on, "" at its end."""
        while True:
            portion: Portion = SOURCES[reason](self.scope, after, self.limit - len(found))
            after = portion.next
            kept = list(self._keep(reason, portion))
            found += kept
            self.left -= not kept and bool(after)
            if not after or len(found) >= self.limit or not self.left:
                return after

    def _write_position(self, number: int, after: str, mark: str) -> str | None:
        if not after:
            number += 1
        if number == len(self.chosen):
            return None
        return pagination.write_cursor({"key": f"{self.chosen[number]}:{after}", "list": mark})

    def _keep(self, reason: Reason, portion: Portion) -> Iterator[Entry]:
        """Yield the entries of a portion that still wait for this reason, and for none that is worth more."""
        items = portion.items
        with_facts(items, self.project_id)
        if self.scope.branch.masked:  # what is in quarantine is not gone: its questions wait for the release
            items = [item for item in items if item.fact and item.other]
        facts = [*portion.facts, *(fact for item in items if (fact := item.fact or item.other))]
        annotate_facts(facts, self.scope.lineage, self.project_id)
        causes = find_causes(facts, self.scope)
        matching = self._match_filters(facts)
        questions = [(item.fact or item.other, item) for item in items]
        for fact, item in [*((fact, None) for fact in portion.facts), *questions]:
            known = causes[fact.uid] if fact else []
            if fact is not None and fact.uid not in matching:
                continue
            is_next = self._is_first(reason, known) if item is None else not self._is_proposed(fact, known)
            if is_next:
                yield build_entry(fact, item, known, reason, self.scope.branch)

    def _is_first(self, reason: Reason, causes: Sequence[Cause]) -> bool:
        chosen = [cause.reason for cause in causes if cause.reason in self.chosen]
        return bool(chosen) and chosen[0] == reason

    def _is_proposed(self, fact: Fact | None, causes: Sequence[Cause]) -> bool:
        """Return whether a fact is listed as a proposal: a question about it comes once that is answered."""
        is_own = fact is not None and fact.branch_id == self.scope.branch.pk
        return is_own and self._is_first(Reason.PROPOSED, causes)

    def _match_filters(self, facts: Sequence[Fact]) -> set[UUID]:
        """Return the facts that the filters let pass."""
        uids = {fact.uid for fact in facts}
        if not uids or not self.scope.filters.as_dict():
            return uids
        lineage = self.scope.lineage
        rows = self.scope.filters.apply(Fact.objects.in_lineage(lineage), lineage).filter(uid__in=list(uids))
        return {uid for (uid,) in rows.gather_values("uid")}


def build_entry(
    fact: Fact | None, item: ReviewItem | None, causes: Sequence[Cause], reason: Reason, branch: Branch
) -> Entry:
    """Return an entry; a question says its own reason first, also of a fact that is gone."""
    if fact is not None:
        fact.branch = branch
    if item is not None:
        causes = [Cause(reason), *(cause for cause in causes if cause.reason != reason)]
    return Entry(fact, causes, item)

"""The queue of a branch: entries by worth, each with why it is there."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from curation.engines.queue.reasons import WORTH, Cause, Reason, Scope, find_causes
from curation.engines.queue.sources import SOURCES, Portion, load_facts
from curation.engines.review.review_queue import with_facts
from curation.models import ReviewItem
from memory.actors import Actor
from memory.engines.facts.assessment import annotate_facts
from memory.engines.facts.filters import FactFilter
from memory.engines.support import validation as c
from memory.engines.support.pagination import (
    NOT_OURS,
    Page,
    check_limit,
    mark_from,
    read_cursor,
    write_cursor,
)
from memory.engines.versions.lookup import MAIN, find_branch
from memory.exceptions import Invalid
from memory.models import Branch, Fact

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
    ) -> Page[Entry]:
        """List what waits on a branch by worth: proposals first, then questions, then what is unsure.

        ``reasons`` selects some; an entry that waits for several is listed once, under the one worth most. A
        page may have fewer entries than ``limit`` and another page behind it. Nothing waits on an archived
        branch. Needs the scope curate. Raises Invalid, BranchNotFound, BranchForbidden.
        """
        actor.require_scope("curate", branch_name)
        check_limit(limit)
        chosen = parse_reasons(reasons)
        branch = find_branch(actor, branch_name)
        scope = Scope.from_branch(branch, filters)
        mark = mark_from(repr((branch.pk, chosen, sorted(scope.filters.as_dict().items()))))
        start, after = parse_position(cursor, mark, chosen)
        if branch.archived_at:
            return Page([])
        return PageReader(scope, chosen, limit, actor.project_id).read(start, after, mark)

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


def parse_reasons(reasons: Collection[str]) -> tuple[Reason, ...]:
    """Return the reasons in the order of their worth, all by default. Raises Invalid."""
    check = c.one_of([reason.value for reason in WORTH])
    requested = {check("reason", reason) for reason in reasons}
    return tuple(reason for reason in WORTH if not requested or reason.value in requested)


def parse_position(cursor: str, mark: str, chosen: Sequence[Reason]) -> tuple[int, str]:
    """Return which of the reasons a page begins with, and where. Raises Invalid."""
    if not cursor:
        return 0, ""
    reason, _colon, after = read_cursor(cursor, mark).get("key", "").partition(":")
    if reason not in chosen:
        raise Invalid(NOT_OURS, field="cursor")
    return chosen.index(Reason(reason)), after


class PageReader:
    """Reads one page from the sources, in the order of worth."""

    def __init__(self, scope: Scope, chosen: Sequence[Reason], limit: int, project_id: UUID) -> None:
        self.scope, self.chosen, self.limit, self.project_id = scope, chosen, limit, project_id
        self.left = MAX_PORTIONS

    def read(self, start: int, after: str, mark: str) -> Page[Entry]:
        """Read from a position: the number of a reason, and a position in its source."""
        found: list[Entry] = []
        for number in range(start, len(self.chosen)):
            reason = self.chosen[number]
            after = self._read_reason(reason, after if number == start else "", found)
            if after or len(found) >= self.limit or not self.left:
                return Page(found, self._write_position(number, after, mark))
        return Page(found)

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
        return write_cursor({"key": f"{self.chosen[number]}:{after}", "list": mark})

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

"""Facts across branches: pages of proposals and review items may refer to as many as they have items."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import copy
from functools import reduce
from operator import or_
from typing import Any, Generic, TypeVar, Unpack
from uuid import UUID

from django.db.models import Q, QuerySet

from memory.actors import Actor
from memory.db.expressions import IndexCondition, NotHiddenConfirmation
from memory.db.lineage import hides_quarantined
from memory.db.querysets import Lineage
from memory.engines.facts.assessment import (
    Assessment,
    Verdict,
    annotate_usage,
    apply_assessment,
    mask_archived,
)
from memory.engines.support.pagination import Page, Paging, paginate
from memory.engines.versions.branch_access import filter_allowed_branches
from memory.engines.versions.erased import find_hidden
from memory.engines.versions.lookup import find_branch
from memory.models import OPEN, Branch, BranchedModel, Confirmation, Fact, FactAssessment
from memory.models.facts import PROPOSED_INDEX

Row = TypeVar("Row", bound=BranchedModel)
Place = tuple[int, UUID]  # a branch and a fact
BATCH_SIZE = 500  # conditions per statement: databases limit the depth of expressions


def facts_on(requested: Collection[tuple[Branch, UUID]], project_id: UUID) -> Mapping[Place, Fact]:
    """Return the facts that their branches show, with derived fields, by (branch, fact id).

    The number of queries does not grow with the number of branches.
    """
    lineages = {branch.pk: branch.lineage() for branch, _ in requested}
    uids = {uid for _, uid in requested}
    facts = Nearest(Fact, lineages.values(), uids)
    verdicts = Nearest(FactAssessment, lineages.values(), uids)
    confirmed = Confirmed(lineages.values(), uids)
    found: dict[Place, Fact] = {}
    for branch, uid in requested:
        lineage = lineages[branch.pk]
        if fact := facts.visible_row(uid, lineage):
            belief = Assessment(
                build_verdict(verdicts.visible_row(uid, lineage)), confirmed.count_sources(uid, lineage)
            )
            # Two branches may show the same row with different verdicts.
            (found[branch.pk, uid],) = mask_archived(branch, [apply_assessment(copy(fact), belief)])
    annotate_usage(list(found.values()), project_id)
    return found


class Nearest(Generic[Row]):
    """Versions of the given memories that are visible at some lineages, to look up by lineage."""

    def __init__(self, model: type[Row], lineages: Iterable[Lineage], uids: Collection[UUID]) -> None:
        self.rows = defaultdict[tuple[UUID, int], list[Row]](list)
        lineages = list(lineages)
        every: Any = model.objects.all_versions()  # of the model, which the types take for its base
        for stood in open_versions(lineages, "seq_from"):
            for row in every.filter(stood, uid__in=uids):
                self.rows[row.uid, row.branch_id].append(row)
        is_masked = any(map(hides_quarantined, lineages))
        vids = [row.vid for rows in self.rows.values() for row in rows] if is_masked else []
        self.hidden = find_hidden(vids)

    def visible_row(self, uid: UUID, lineage: Lineage) -> Row | None:
        """Return the visible row of a memory on a lineage; None where it is missing or deleted."""
        for branch, limit in lineage:
            for row in self.rows[uid, branch]:
                if row.seq_from <= limit < row.seq_to:
                    return None if row.deleted or row.vid in self.hidden else row
        return None


class Confirmed:
    """Confirmations of the given facts per lineage."""

    def __init__(self, lineages: Iterable[Lineage], uids: Collection[UUID]) -> None:
        self.rows = defaultdict[tuple[UUID, int], list[tuple[str, int, int]]](list)
        lineages = list(lineages)
        is_masked = any(map(hides_quarantined, lineages))
        for stood in open_versions(lineages, "seq"):
            rows = Confirmation.objects.filter(stood, uid__in=uids)
            rows = rows.filter(NotHiddenConfirmation()) if is_masked else rows
            sources = rows.values_list("uid", "branch_id", "source", "seq", "seq_to")
            for uid, branch, source, seq, until in sources:
                self.rows[uid, branch].append((source, seq, until))

    def count_sources(self, uid: UUID, lineage: Lineage) -> int:
        """Count the distinct sources that confirmed a fact on a lineage."""
        return len(
            {
                source
                for branch, limit in lineage
                for source, seq, until in self.rows[uid, branch]
                if seq <= limit < until
            }
        )


def open_versions(lineages: Iterable[Lineage], begun: str) -> Iterator[Q]:
    """Yield conditions, in portions, for rows open at the lineages; a row may match two portions."""
    arms = sorted({arm for lineage in lineages for arm in lineage})
    each = [Q(branch_id=b, seq_to__gt=limit, **{f"{begun}__lte": limit}) for b, limit in arms]
    for start in range(0, len(each), BATCH_SIZE):
        yield reduce(or_, each[start : start + BATCH_SIZE])


def build_verdict(row: FactAssessment | None) -> Verdict | None:
    return Verdict(*(getattr(row, name) for name in Verdict._fields)) if row else None


# ---- pending proposals -------------------------------------------------------------------------------


class ProposalEngine:
    def list_proposals(self, *, actor: Actor, branch_name: str = "", **paging: Unpack[Paging]) -> Page[Fact]:
        """List proposals on the live branches that the actor may use, newest first.

        Each is listed on its own branch only, not on the children that show it too. Needs the scope read.
        Raises Invalid, BranchNotFound, BranchForbidden.
        """
        actor.require_scope("read", branch_name or None)
        rows = filter_waiting(actor)
        if branch_name:
            rows = rows.filter(branch=find_branch(actor, branch_name))
        page: Page[Fact] = paginate(
            filter_allowed_branches(rows.select_related("branch"), actor), "-rid", **paging, of=rows
        )
        shown = facts_on({(row.branch, row.uid) for row in page.results}, actor.project_id)
        facts = []
        for row in page.results:
            if fact := shown.get((row.branch_id, row.uid)):
                fact.branch = row.branch
                facts.append(fact)
        return Page(facts, page.next, page.previous)

    def count_proposals(self, *, actor: Actor, maximum: int) -> int:
        """Count the pending proposals, up to ``maximum``. Needs the scope read."""
        actor.require_scope("read")
        return filter_allowed_branches(filter_waiting(actor), actor)[:maximum].count()


def filter_waiting(actor: Actor) -> QuerySet[Fact]:
    branches = Branch.objects.filter(project=actor.project_id, archived_at=None)
    proposals = Fact._base_manager.filter(IndexCondition(PROPOSED_INDEX), seq_to=OPEN, deleted=False)
    return proposals.filter(branch__in=branches)

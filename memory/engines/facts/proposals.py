"""Pending proposals, on all branches. ActionEngine accepts and refuses them."""

from uuid import UUID

from django.db.models import QuerySet

from memory.actors import Actor
from memory.db.expressions import IndexCondition
from memory.engines.facts.facts_across_branches import facts_on
from memory.engines.support.pagination import Page, paginate
from memory.engines.versions.branch_access import filter_allowed_branches
from memory.engines.versions.lookup import find_branch
from memory.models import OPEN, Branch, Fact
from memory.models.facts import PROPOSED_INDEX


class ProposalEngine:
    def list_proposals(
        self, *, actor: Actor, branch_name: str = "", limit: int = 50, cursor: str = ""
    ) -> Page[Fact]:
        """List proposals on the live branches that the actor may use, newest first.

        Each is listed on its own branch only, not on the children that show it too. Needs the scope read.
        Raises Invalid, BranchNotFound, BranchForbidden.
        """
        actor.require_scope("read", branch_name or None)
        rows = filter_waiting(actor)
        if branch_name:
            rows = rows.filter(branch=find_branch(actor, branch_name))
        page: Page[Fact] = paginate(
            filter_allowed_branches(rows.select_related("branch"), actor),
            key="-rid",
            limit=limit,
            cursor=cursor,
            of=rows,
        )
        shown = facts_on({(row.branch, row.uid) for row in page.results}, _project_id(actor))
        facts = [
            fact
            for row in page.results
            if (fact := _shown_on(row.branch, shown.get((row.branch_id, row.uid))))
        ]
        return Page(facts, page.next, page.previous)

    def count_proposals(self, *, actor: Actor, maximum: int) -> int:
        """Count the pending proposals, up to ``maximum``. Needs the scope read."""
        actor.require_scope("read")
        return filter_allowed_branches(filter_waiting(actor), actor)[:maximum].count()


def _project_id(actor: Actor) -> UUID:
    return actor.project_id


def filter_waiting(actor: Actor) -> QuerySet[Fact]:
    branches = Branch.objects.filter(project=actor.project_id, archived_at=None)
    proposals = Fact._base_manager.filter(IndexCondition(PROPOSED_INDEX), seq_to=OPEN, deleted=False)
    return proposals.filter(branch__in=branches)


def _shown_on(branch: Branch, fact: Fact | None) -> Fact | None:
    if fact is not None:
        fact.branch = branch
    return fact

"""The questions that wait for a person."""

from memory.actors import Actor
from memory.engines import cleaning as c
from memory.engines.branches import find_branch
from memory.engines.pages import Page, page_of
from memory.models import Branch, ReviewItem


class ReviewEngine:
    def list_items(
        self,
        *,
        actor: Actor,
        branch_name: str = "",
        status: str = "",
        kind: str = "",
        limit: int = 50,
        cursor: str = "",
    ) -> Page[ReviewItem]:
        """The questions on the branches that the actor may use, newest first.

        Needs the scope curate. Raises Invalid, BranchNotFound, and BranchForbidden for a branch that is
        out of reach.
        """
        actor.require("curate", branch_name or None)
        items = ReviewItem.objects.filter(project=actor.project_id).select_related("branch")
        if branch_name:
            items = items.filter(branch=find_branch(actor, branch_name))
        if status:
            items = items.filter(status=c.one_of(ReviewItem.Status.values)("status", status))
        if kind:
            items = items.filter(kind=c.one_of(ReviewItem.Kind.values)("kind", kind))
        every = items
        if actor.branch_patterns:
            items = items.filter(branch__in=_usable(actor))
        return page_of(items, key="-id", limit=limit, cursor=cursor, of=every)


def _usable(actor: Actor) -> list[int]:
    names = Branch.objects.filter(project=actor.project_id).values_list("pk", "name")
    return [pk for pk, name in names if actor.may_use(name)]

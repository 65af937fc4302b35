"""Facts that ageing leaves alone because curation still needs them."""

from uuid import UUID

from curation.models import Handoff, ReviewItem
from memory.models import Branch


def find_handed_over(branch: Branch) -> set[UUID]:
    """Return the facts in packets from the branch, or to it, that nobody has accepted or rejected yet."""
    pending = Handoff.objects.filter(project=branch.project_id, state=Handoff.State.PENDING)
    packets = pending.filter(source=branch) | pending.filter(target=branch)
    return {UUID(fact["id"]) for facts in packets.values_list("facts", flat=True) for fact in facts}


def find_questioned(branch: Branch) -> set[UUID]:
    """Return the facts that open questions of the branch's review are about."""
    items = ReviewItem.objects.filter(branch=branch, status=ReviewItem.Status.OPEN)
    return {uid for pair in items.values_list("fact_id", "other_id") for uid in pair if uid}

"""The facts that are most like one, by the vectors that are there: nothing is embedded or noted for it."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from memory.actors import Actor
from memory.engines.belief import attach_belief, searchable_now
from memory.engines.branches import MAIN, find_branch, point_of
from memory.engines.embedding import provider_in_force
from memory.exceptions import ProviderUnavailable
from memory.models import Fact, Vector
from memory.models.vectors import vector_slot


def similar_facts(
    *, fact: Fact, actor: Actor, branch_name: str = MAIN, at: Any = None, limit: int = 5
) -> Sequence[tuple[Fact, float]]:
    """Facts of the branch that a search finds, with the cosine to this one, the nearest first.

    Empty without an embedder, and while the fact's text waits for it. Raises as every read.
    """
    actor.require("read", branch_name)
    branch = find_branch(actor, branch_name)
    lineage = branch.lineage(point_of(branch, at))
    try:
        provider = provider_in_force()
    except ProviderUnavailable:
        return []
    slot = provider and vector_slot(actor.project_id, provider.model, fact.content_hash)
    vector = Vector.objects.filter(slot=slot).exclude(data=None).values_list("data", flat=True).first()
    if provider is None or vector is None:
        return []
    now = searchable_now(timezone.now(), lineage).values()
    rows = Fact.objects.along(lineage).searchable().filter(*now)
    near = dict(rows.nearest(vector, k=limit + 1, model=provider.model, project_id=actor.project_id))
    found = attach_belief(Fact.objects.along(lineage).filter(rid__in=near).gather(), lineage)
    others = [(other, near[other.rid]) for other in found if other.uid != fact.uid]
    return sorted(others, key=lambda pair: -pair[1])[:limit]

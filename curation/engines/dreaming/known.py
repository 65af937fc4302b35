"""Reflections that were proposed before, and those that new ones take the place of."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from uuid import UUID

from curation.engines.dreaming.reflections import Reflection
from memory.engines.support.batches import batched
from memory.models import Branch, Fact, FactLink

BATCH_SIZE = 500


def drop_known(branch: Branch, reflections: Sequence[Reflection]) -> list[Reflection]:
    """Return the reflections that no run has proposed yet, whatever became of the proposal."""
    known: set[UUID] = set()
    for batch in batched([one.uid for one in reflections], BATCH_SIZE):
        rows = Fact._base_manager.filter(uid__in=batch, branch__project=branch.project_id)
        known |= set(rows.values_list("uid", flat=True))
    return [one for one in reflections if one.uid not in known]


def find_replaced(branch: Branch, reflections: Sequence[Reflection]) -> list[Reflection]:
    """Set at each reflection the active one of the branch of which it has most members, each once."""
    members = load_members(branch)
    by_member = defaultdict[UUID, set[UUID]](set)
    for uid, own in members.items():
        for member in own:
            by_member[member].add(uid)
    taken: set[UUID] = set()
    found = []
    for one in reflections:
        own = {fact.uid for fact in one.members}
        likely = {uid for member in own for uid in by_member[member]} - taken
        shared = {uid: len(own & members[uid]) for uid in likely}
        fitting = [uid for uid, count in shared.items() if 2 * count > len(members[uid])]
        best = min(fitting, key=lambda uid: (-shared[uid], uid), default=None)
        taken |= {best} if best else set()
        found.append(replace(one, replaces=best))
    return found


def load_members(branch: Branch) -> dict[UUID, set[UUID]]:
    """Return the members of each active reflection that dreaming made, by its id."""
    lineage = branch.lineage()
    rows = Fact.objects.in_lineage(lineage).filter(
        kind=Fact.Kind.REFLECTION, origin=Fact.Origin.DREAMING, status=Fact.Status.ACTIVE
    )
    uids = sorted(uid for (uid,) in rows.gather_values("uid"))
    members: dict[UUID, set[UUID]] = {uid: set() for uid in uids}
    for uid, to in select_links(branch, uids, FactLink.Type.CONSOLIDATED_FROM):
        members[uid].add(to)
    return members


def select_links(branch: Branch, uids: Collection[UUID], link_type: str) -> list[tuple[UUID, UUID]]:
    """Return the two ends of the links of a type that begin at some facts."""
    links = FactLink.objects.in_lineage(branch.lineage()).filter(
        link_type=link_type, to_type=FactLink.Target.FACT
    )
    found: list[tuple[UUID, UUID]] = []
    for batch in batched(sorted(uids), BATCH_SIZE):
        found += links.select_by_key(("from_id", "to_id"), "from_id", batch)
    return found

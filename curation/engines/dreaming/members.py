"""The check of a merge that brings proposed reflections: their members are as they were read."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext_noop as _

from curation.engines.dreaming.rules import BOUNDS, PREFIX
from memory.db.querysets import Lineage
from memory.engines.facts.assessment import searchable_rows
from memory.engines.merging.gates import FAILED, PASSED, GateResult, build_result, list_arriving_facts
from memory.engines.merging.plan import FullPlan
from memory.engines.merging.strategies import MergeOptions
from memory.engines.versions.policies import Policy
from memory.engines.versions.repositories import name_repositories
from memory.models import Branch, Fact, FactLink

CHANGED = _(
    "Reflections of facts that have changed since, or are gone or private by now: {count}. Reject the"
    " request: what has changed is {facts}."
)
# What a reflection takes from its members.
COMPARED = ("content_hash", "essence", "visibility", "confidence", *BOUNDS)


def check_reflections(name: str, plan: FullPlan, options: MergeOptions, policy: Policy) -> GateResult:
    """Fail when a proposal arrives of which a member is not on the target as it was read."""
    uids = list_proposed(plan)
    if not uids:
        return build_result(name, PASSED, _("No proposed reflection arrives."))
    members = load_members(plan.points.source_lineage, uids)
    changed = find_changed(plan, {member for own in members.values() for member in own})
    stale = [uid for uid in uids if members[uid] & changed]
    if not stale:
        return build_result(name, PASSED, _("The members of the reflections are as they were."))
    named = sorted({member for uid in stale for member in members[uid] & changed})
    facts = ", ".join(str(uid) for uid in named[:5])
    return build_result(name, FAILED, CHANGED, [*named, *stale], count=len(stale), facts=facts)


def list_proposed(plan: FullPlan) -> list[UUID]:
    """Return the reflections that arrive from the branch of a run, or from a fork of it. Those that were
    merged before are facts as others are.
    """
    uids = [one.uid for one in list_arriving_facts(plan) if one.values.get("origin") == Fact.Origin.DREAMING]
    ids = [branch_id for branch_id, _limit in plan.points.source_lineage]
    is_of_run = uids and Branch.objects.filter(pk__in=ids, name__startswith=PREFIX).exists()
    return uids if is_of_run else []


def load_members(lineage: Lineage, uids: Sequence[UUID]) -> Mapping[UUID, set[UUID]]:
    """Return the facts of which reflections were made, as their branch says."""
    links = FactLink.objects.in_lineage(lineage).filter(
        link_type=FactLink.Type.CONSOLIDATED_FROM, to_type=FactLink.Target.FACT
    )
    members = defaultdict[UUID, set[UUID]](set)
    for uid, to in links.select_by_key(("from_id", "to_id"), "from_id", uids):
        members[uid].add(to)
    return members


def find_changed(plan: FullPlan, uids: Collection[UUID]) -> set[UUID]:
    """Return the facts that a search of the target does not find, or finds with another content."""
    before = read_contents(plan, plan.points.source_lineage, uids)
    now = read_contents(plan, plan.points.target_lineage, uids)
    return {uid for uid in uids if now.get(uid) is None or now[uid] != before.get(uid)}


def read_contents(plan: FullPlan, lineage: Lineage, uids: Collection[UUID]) -> dict[UUID, Hashable]:
    """Return what reflections take from the facts that a search finds and anybody may read."""
    rows = searchable_rows(lineage, timezone.now()).exclude(visibility=Fact.Visibility.PRIVATE)
    facts = name_repositories(rows.fetch_by_key("uid", uids), plan.points.target.project_id)
    return {fact.uid: tuple(getattr(fact, one) for one in COMPARED) for fact in facts}

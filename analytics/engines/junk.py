"""Junk: facts in use that nobody recalls, that are past their end, contradicted, or nearly said twice."""

from collections import Counter
from datetime import timedelta
from uuid import UUID

from django.db.models import Q

from analytics.engines.answers import Junk
from analytics.engines.decisions import filter_open, filter_uids
from analytics.engines.scopes import Scope
from analytics.engines.tallies import FACT_STATES, VERDICTS, tally_rows
from curation.engines.queue.reasons import IDLE_DAYS, build_never_recalled
from curation.models import ReviewItem
from memory.engines.facts.assessment import annotate_facts
from memory.engines.support import validation as c
from memory.engines.support.batches import batched
from memory.models import Fact, FactAssessment

BATCH_SIZE = 500
GROUPS = ("never_recalled", "stale", "contradicted", "near_duplicate")
Kind = ReviewItem.Kind


def count_junk(scope: Scope) -> Junk:
    """Count the facts in use, and those that are worth a look."""
    states = scope.tally(FACT_STATES)
    return Junk(
        in_use=sum(states[(status,)] for status in Fact.SEARCHED),
        never_recalled=count_never_recalled(scope),
        stale=len(find_stale(scope)),
        contradicted=len(find_questioned(scope, Kind.CONTESTED)),
        near_duplicate=len(find_questioned(scope, Kind.NEAR_DUPLICATE)),
    )


def list_junk(scope: Scope, group: str, limit: int) -> list[Fact]:
    """Return the first facts of a group. Raises Invalid for another group."""
    c.one_of(GROUPS)("junk", group)
    facts = Fact.objects.in_lineage(scope.lineage)
    if group == "never_recalled":
        idle = facts.searchable().filter(select_never_recalled(scope))
        return list(annotate_facts(idle.lowest(limit, "uid"), scope.lineage, scope.actor.project_id))
    kinds = {"contradicted": Kind.CONTESTED, "near_duplicate": Kind.NEAR_DUPLICATE}
    uids = find_questioned(scope, kinds[group]) if group in kinds else find_stale(scope)
    found = facts.filter(uid__in=sorted(uids)[:limit]).fetch_all()
    return list(annotate_facts(sorted(found, key=lambda one: one.uid), scope.lineage, scope.actor.project_id))


def count_never_recalled(scope: Scope) -> int:
    waits = Fact.searchable_q() & select_never_recalled(scope)
    return sum(tally_rows(FACT_STATES, scope.lineage, waits).values())


def select_never_recalled(scope: Scope) -> Q:
    """Return the condition of the curators' queue, at the scope's time."""
    return build_never_recalled(scope.lineage, scope.now - timedelta(days=IDLE_DAYS))


def find_stale(scope: Scope) -> set[UUID]:
    """Return the facts in use though they are past their end."""
    rows = Fact.objects.in_lineage(scope.lineage).searchable()
    over = [{f"{column}__lte": scope.now} for column in ("expires_at", "valid_until")]
    return {uid for ended in over for (uid,) in rows.filter(**ended).gather_values("uid")}


def find_questioned(scope: Scope, kind: str) -> set[UUID]:
    """Return the facts in use with an open question of a kind, as the newer one of two."""
    pairs = list(filter_open(scope).filter(kind=kind).values_list("fact_id", "other_id"))
    in_use = Fact.objects.in_lineage(scope.lineage).searchable()
    shown = filter_uids(in_use, {uid for pair in pairs for uid in pair})
    return {uid for uid, other in pairs if {uid, other} <= shown}


def count_rejected(scope: Scope) -> Counter[str]:
    """Count the facts with the verdict "invalidated" on what they say now, by agent."""
    rows = VERDICTS.select_rows(scope.lineage).filter(status=FactAssessment.Status.INVALIDATED)
    uids = sorted({uid for (uid,) in rows.gather_values("uid")})
    facts = Fact.objects.in_lineage(scope.lineage)
    found: Counter[str] = Counter()
    for batch in batched(uids, BATCH_SIZE):
        found.update(agent for (agent,) in facts.select_by_key(("agent_id",), "uid", batch))
    return found

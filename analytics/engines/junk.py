"""Junk: facts in use that nobody recalls, that are past their end, contradicted, or nearly said twice."""

from collections import Counter
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from analytics.engines.answers import Junk
from analytics.engines.scopes import Scope
from analytics.engines.tallies import FACT_STATES, VERDICTS, tally_rows
from curation.engines.queue.reasons import Scope as QueueScope
from curation.models import ReviewItem
from memory.engines.support.batches import batched
from memory.models import Fact, FactAssessment, FactUse

BATCH_SIZE = 500
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


def count_never_recalled(scope: Scope) -> int:
    """Count the facts that nobody recalled though they are not new, as the curators' queue has them."""
    used = FactUse.objects.filter(uid=OuterRef("uid"), access_count__gt=0)
    idle_since = QueueScope.from_branch(scope.branch).idle_since
    waits = Fact.searchable_q() & Q(created_at__lte=idle_since) & ~Q(Exists(used))
    return sum(tally_rows(FACT_STATES, scope.lineage, waits).values())


def find_stale(scope: Scope) -> set[UUID]:
    """Return the facts in use though they are past their end."""
    rows = Fact.objects.in_lineage(scope.lineage).searchable()
    over = [{f"{column}__lte": scope.now} for column in ("expires_at", "valid_until")]
    return {uid for ended in over for (uid,) in rows.filter(**ended).gather_values("uid")}


def find_questioned(scope: Scope, kind: str) -> set[UUID]:
    """Return the facts in use with an open question of a kind, as the newer one of two."""
    open_items = ReviewItem.objects.filter(branch=scope.branch, status=ReviewItem.Status.OPEN, kind=kind)
    pairs = list(open_items.order_by().values_list("fact_id", "other_id"))
    shown = filter_in_use(scope, {uid for pair in pairs for uid in pair})
    return {uid for uid, other in pairs if {uid, other} <= shown}


def filter_in_use(scope: Scope, uids: set[UUID]) -> set[UUID]:
    rows = Fact.objects.in_lineage(scope.lineage).searchable()
    found: set[UUID] = set()
    for batch in batched(sorted(uids), BATCH_SIZE):
        found |= {uid for (uid,) in rows.select_by_key(("uid",), "uid", batch)}
    return found


def count_rejected(scope: Scope) -> Counter[str]:
    """Count the facts with the verdict "invalidated" on what they say now, by agent."""
    rows = VERDICTS.select_rows(scope.lineage).filter(status=FactAssessment.Status.INVALIDATED)
    uids = sorted({uid for (uid,) in rows.gather_values("uid")})
    facts = Fact.objects.in_lineage(scope.lineage)
    found: Counter[str] = Counter()
    for batch in batched(uids, BATCH_SIZE):
        found.update(agent for (agent,) in facts.select_by_key(("agent_id",), "uid", batch))
    return found

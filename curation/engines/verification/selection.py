"""Which facts are verified: those that a caller asks for, and those that are due again."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from curation.engines.verification.run import find_judge
from curation.models import Verification, VerificationCursor
from memory.conf import conf
from memory.engines.facts.assessment import is_unjudged
from memory.engines.facts.filters import FactFilter
from memory.engines.facts.verdicts import JUDGEABLE
from memory.engines.support.batches import gather_in
from memory.exceptions import Invalid
from memory.models import Branch, Fact, FactAssessment

DEFAULT_LIMIT, MAX_FACTS = 50, 10_000
PAGE_SIZE = 500
RETRY_HOURS = 24  # until a judge that failed on a fact is asked again
MAX_EDITS = 5000  # changes of a branch that one look goes through
Method = FactAssessment.Method


def check_number(name: str, value: int, most: int) -> int:
    """Check a whole number from 1. Raises Invalid."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise Invalid("{field} must be 1 to {most}.", field=name, most=most)
    return value


def select_facts(branch: Branch, filters: FactFilter | None, limit: int, again: bool) -> list[UUID]:
    """Return the newest facts that may be verified and that the filters let pass, up to ``limit``.

    By default those without a person's or a judge's verdict, and only texts that nobody has rated as well as
    now: a text that the heuristic rated is taken when there is a judge.
    """
    found: list[UUID] = []
    for batch in iterate_facts(branch, filters):
        rated = frozenset[tuple[UUID, str]]() if again else find_rated(branch, batch)
        found += [fact.uid for fact in batch if (fact.uid, fact.judged_hash) not in rated]
        if len(found) >= limit:
            break
    return found[:limit]


def iterate_facts(branch: Branch, filters: FactFilter | None) -> Iterator[list[Fact]]:
    """Yield the facts that the filters let pass in portions, newest first; without filters the unjudged."""
    lineage = branch.lineage()
    rows = Fact.objects.in_lineage(lineage).filter(status__in=JUDGEABLE)
    rows = filters.apply(rows, lineage) if filters else rows.filter(is_unjudged(lineage))
    batch = rows.newest(PAGE_SIZE)
    while batch:
        yield batch
        batch = rows.newest(PAGE_SIZE, before=batch[-1].uid)


def find_rated(branch: Branch, facts: Sequence[Fact]) -> frozenset[tuple[UUID, str]]:
    """Return which texts have been rated along the lineage: by a judge, where there is one."""
    branches = [pk for pk, _seq in branch.lineage()]
    rows = Verification.objects.filter(branch__in=branches, fact_id__in=[fact.uid for fact in facts])
    if find_judge()[0] is not None:
        rows = rows.filter(method=Method.JUDGE)
    return frozenset(rows.values_list("fact_id", "judged_hash"))


# ---- due again -------------------------------------------------------------------------------------


def find_edited(cursor: VerificationCursor, left: int) -> list[UUID]:
    """Return facts that a judge rated on a branch and that say something else since the cursor; move it.

    Where no more are wanted, the cursor stays before the first that is left.
    """
    branch = cursor.branch
    changed = Fact.objects.all_versions().filter(
        branch=branch, seq_from__gt=cursor.seq, seq_from__lte=branch.head, deleted=False
    )
    rows = list(changed.order_by("seq_from", "pk").values_list("seq_from", "uid", "judged_hash")[:MAX_EDITS])
    known = find_judged_hashes(branch, [uid for _, uid, _ in rows])
    found: dict[UUID, None] = {}
    for seq, uid, judged_hash in rows:
        if known.get(uid, judged_hash) != judged_hash:
            if len(found) == left and uid not in found:
                cursor.seq = seq - 1
                return list(found)
            found[uid] = None
    cursor.seq = find_whole(rows) if len(rows) == MAX_EDITS else branch.head
    return list(found)


def find_whole(rows: Sequence[tuple[int, UUID, str]]) -> int:
    """Return the seq of the last whole commit among rows that were cut, or of the only one."""
    first, last = rows[0][0], rows[-1][0]
    return last - 1 if first < last else last


def find_judged_hashes(branch: Branch, uids: Sequence[UUID]) -> dict[UUID, str]:
    latest = Verification.objects.filter(branch=branch, latest=True).filter(asked_a_judge())
    return dict(gather_in(latest, "fact_id", set(uids), "fact_id", "judged_hash"))


def asked_a_judge() -> Q:
    return Q(method=Method.JUDGE) | Q(fallback__gt="")


def find_aged(branch: Branch, left: int) -> list[UUID]:
    """Return facts of a branch whose judgement is old, or missing because the judge failed; oldest first."""
    now, days = timezone.now(), conf().judge_days
    due = Q(fallback__gt="", created_at__lt=now - timedelta(hours=RETRY_HOURS))
    if days:
        due |= Q(method=Method.JUDGE, created_at__lt=now - timedelta(days=days))
    rows = Verification.objects.filter(due, branch=branch, latest=True)
    return list(rows.order_by("created_at").values_list("fact_id", flat=True)[:left])

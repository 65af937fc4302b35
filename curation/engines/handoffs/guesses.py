"""Packets of before the heuristic could only guess: what it called verified then is read as plausible.

Such a packet does not say by which method its facts were verified; the verdicts of their branches do. The
stored packet and its checksum stay as they were frozen.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from curation.engines.handoffs.packet import PLAUSIBLE, VERIFIED, find_verification
from curation.models import Handoff
from memory.models import FactAssessment

HEURISTIC, METHOD = FactAssessment.Method.HEURISTIC, "verification_method"


def weaken_packets(handoffs: Sequence[Handoff]) -> Sequence[Handoff]:
    """Set of each packet the facts, and how far they are verified, as they are read now."""
    for handoff in handoffs:
        if all(METHOD in fact for fact in handoff.facts):
            continue
        judged = find_judged(handoff)
        handoff.facts = [read_fact(fact, judged) for fact in handoff.facts]
        handoff.verification_status = find_verification(handoff.facts).value
    return handoffs


def find_judged(handoff: Handoff) -> set[UUID]:
    """Return the facts that a person or a judge had verified when a packet was frozen."""
    uids = [UUID(fact["id"]) for fact in handoff.facts if fact["verification_status"] == VERIFIED]
    verdicts = FactAssessment.objects.all_versions().filter(
        branch__project=handoff.project_id, uid__in=uids, status=VERIFIED, at__lte=handoff.created_at
    )
    return set(verdicts.exclude(method=HEURISTIC).values_list("uid", flat=True)) if uids else set()


def read_fact(fact: dict[str, Any], judged: set[UUID]) -> dict[str, Any]:
    """Return a frozen fact with its method, which is not known of what somebody judged."""
    if fact["verification_status"] != VERIFIED or UUID(fact["id"]) in judged:
        return {METHOD: "", **fact}
    return {**fact, "verification_status": PLAUSIBLE, METHOD: HEURISTIC.value}

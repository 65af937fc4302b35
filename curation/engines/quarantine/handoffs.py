"""Handoffs in quarantine: those that the source made, and those whose packets freeze something hidden."""

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from curation.engines.quarantine.sources import Source, list_active
from curation.models import Handoff, Quarantine
from memory.engines.support.batches import batched
from memory.models import HiddenVersion, Session

BATCH_SIZE = 500


def mark_handoffs(project_id: UUID, quarantines: Iterable[Quarantine]) -> int:
    """Hide the handoffs that active quarantines touch, and show the others; return how many are hidden."""
    active, count = list(quarantines), 0
    rows = Handoff.objects.filter(project=project_id)
    hidden_sessions = Session.objects.filter(project=project_id, hidden=True).values_list("key", flat=True)
    sessions = set(hidden_sessions) if active else set()
    for batch in batched(list(rows.order_by("pk")), BATCH_SIZE):
        frozen = {uid for row in batch for uid in list_frozen(row)} if active else set()
        hidden = find_hidden_uids(frozen)
        for row in batch:
            is_own = row.session_id in sessions or any(is_made_by(row, one) for one in active)
            is_hidden = bool(active) and (is_own or not hidden.isdisjoint(list_frozen(row)))
            count += is_hidden
            if row.hidden != is_hidden:
                Handoff.objects.filter(pk=row.pk).update(hidden=is_hidden)
    return count


def is_masked(handoff: Handoff) -> bool:
    """Return whether a new handoff is one that a source in quarantine makes."""
    if not handoff.source.masked:
        return False
    return any(is_made_by(handoff, one) for one in list_active(handoff.project_id))


def list_frozen(row: Handoff) -> Iterator[UUID]:
    """Yield the ids of the memories in a packet."""
    talks: list[Any] = row.conversations
    yield from (UUID(fact["id"]) for fact in row.facts)
    yield from (UUID(talk["id"]) for talk in talks)
    yield from (UUID(message["id"]) for talk in talks for message in talk["messages"])


def is_made_by(row: Handoff, quarantine: Quarantine) -> bool:
    if quarantine.source == Source.KEY:
        return row.owner == f"key:{UUID(quarantine.target)}"
    own = {Source.AGENT: row.agent_id, Source.SESSION: row.session_id}
    return own.get(Source(quarantine.source)) == quarantine.target


def find_hidden_uids(uids: Iterable[UUID]) -> set[UUID]:
    found: set[UUID] = set()
    for batch in batched(sorted(uids), BATCH_SIZE):
        found |= set(HiddenVersion.objects.filter(uid__in=batch).values_list("uid", flat=True))
    return found

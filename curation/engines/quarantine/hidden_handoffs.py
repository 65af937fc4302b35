"""Handoffs and scores in quarantine: those that the source made, and packets that freeze what is hidden."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

from django.db.models import QuerySet

from curation.engines.quarantine.frozen import Named, find_hidden, mark_hidden, name_fact, select_hidden
from curation.engines.quarantine.sources import Source, list_active, list_keys, select_sessions
from curation.models import Handoff, Quarantine, Score
from memory.engines.support.batches import batched
from memory.models import ApiKey

BATCH_SIZE = 500


@dataclass(frozen=True)
class Makers:
    """Who is in quarantine, as handoffs name them."""

    owners: set[str]
    agents: set[str]
    sessions: set[str]

    @classmethod
    def of(cls, quarantines: Iterable[Quarantine]) -> Self:
        owners, targets = set[str](), dict[str, set[str]]()
        for one in quarantines:
            targets.setdefault(one.source, set()).add(one.target)
            owners |= {f"key:{key}" for key in list_keys(one)} if one.source == Source.KEY else set()
        return cls(owners, targets.get(Source.AGENT, set()), targets.get(Source.SESSION, set()))

    def have_made(self, row: Handoff) -> bool:
        return row.owner in self.owners or row.agent_id in self.agents or row.session_id in self.sessions


def mark_handoffs(project_id: UUID, active: Sequence[Quarantine]) -> None:
    """Hide the handoffs that active quarantines touch, and show the others."""
    mark_hidden(Handoff.objects.filter(project=project_id), find_touched(project_id, active))


def find_touched(project_id: UUID, quarantines: Sequence[Quarantine]) -> set[UUID]:
    """Return the ids of the handoffs that some quarantines touch."""
    if not quarantines:
        return set()
    makers, hidden = Makers.of(quarantines), select_hidden(quarantines)
    sessions = {key for one in quarantines for key in select_sessions(one).values_list("key", flat=True)}
    found: set[UUID] = set()
    for batch in batched(list(Handoff.objects.filter(project=project_id).order_by("pk")), BATCH_SIZE):
        frozen = {row.pk: set(list_frozen(row)) for row in batch}
        gone = find_hidden(project_id, set[Named]().union(*frozen.values()), hidden)
        found |= {
            row.pk
            for row in batch
            if row.session_id in sessions or makers.have_made(row) or frozen[row.pk] & gone
        }
    return found


def is_from_hidden_source(handoff: Handoff) -> bool:
    """Return whether a new handoff is one that a source in quarantine makes."""
    return handoff.source.masked and Makers.of(list_active(handoff.project_id)).have_made(handoff)


def list_frozen(row: Handoff) -> Iterator[Named]:
    """Yield the memories in a packet."""
    talks: list[Any] = row.conversations
    yield from map(name_fact, row.facts)
    yield from (Named(UUID(talk["id"])) for talk in talks)
    yield from (Named(UUID(message["id"])) for talk in talks for message in talk["messages"])


# ---- scores ------------------------------------------------------------------------------------------


def select_shown_scores(project_id: UUID) -> QuerySet[Score]:
    """Return the scores of a project without those that a source in quarantine gave."""
    rows = Score.objects.filter(project=project_id)
    givers = {giver for one in list_active(project_id) for giver in list_givers(one)}
    return rows.exclude(giver__in=givers) if givers else rows


def count_scores(quarantine: Quarantine) -> int:
    """Count the scores that the keys of a source gave."""
    rows = Score.objects.filter(project=quarantine.project_id, giver__in=list(list_givers(quarantine)))
    return rows.count()


def list_givers(quarantine: Quarantine) -> Iterator[str]:
    """Yield what scores name as the giver where a key of a source gave them."""
    return (f"key:{key}" for key in list_giving_keys(quarantine))


def list_giving_keys(quarantine: Quarantine) -> Iterator[str]:
    """Yield the ids of the keys that belong to a quarantined source: a session or an import has none."""
    if quarantine.source == Source.KEY:
        yield from list_keys(quarantine)
    if quarantine.source == Source.AGENT:
        keys = ApiKey.objects.filter(project=quarantine.project_id, agent_id=quarantine.target)
        yield from map(str, keys.values_list("pk", flat=True))

"""Scores in quarantine: those that a quarantined key gave, or a key of a quarantined agent."""

from collections.abc import Iterator
from uuid import UUID

from django.db.models import QuerySet

from curation.engines.quarantine.keys import list_keys
from curation.engines.quarantine.sources import Source, list_active
from curation.models import Quarantine, Score
from memory.models import ApiKey


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

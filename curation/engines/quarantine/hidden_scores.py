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
    givers = {f"key:{key}" for one in list_active(project_id) for key in list_giving_keys(one)}
    return rows.exclude(giver__in=givers) if givers else rows


def list_giving_keys(quarantine: Quarantine) -> Iterator[str]:
    """Yield the ids of the keys that belong to a quarantined source: a session or an import has none."""
    if quarantine.source == Source.KEY:
        yield from list_keys(quarantine)
    if quarantine.source == Source.AGENT:
        keys = ApiKey.objects.filter(project=quarantine.project_id, agent_id=quarantine.target)
        yield from map(str, keys.values_list("pk", flat=True))

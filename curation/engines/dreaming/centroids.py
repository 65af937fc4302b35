"""Vectors of reflections: the centroids of their groups, stored as those of their texts."""

from collections.abc import Sequence

from django.utils import timezone

from curation.engines.dreaming.reflections import Reflection
from memory.db.bulk_sql import insert_all
from memory.engines.embedding.worker import advance_clock
from memory.engines.versions.commits import CommitWriter
from memory.models import Fact, Vector
from memory.models.vectors import vector_slot


def store_centroids(
    commit: CommitWriter, facts: Sequence[Fact], reflections: Sequence[Reflection], model: str
) -> None:
    """Store the centroid of each reflection as the vector of its text, in the commit's transaction."""
    project_id = commit.actor.project_id
    n, now = advance_clock(project_id), timezone.now()
    rows = [
        Vector(
            slot=vector_slot(project_id, model, fact.content_hash),
            project_id=project_id,
            model=model,
            content_hash=fact.content_hash,
            n=n,
            state=Vector.State.READY,
            next_try=now,
            data=one.cluster.centroid,
        )
        for fact, one in zip(facts, reflections, strict=True)
    ]
    insert_all(rows, ignore_conflicts=True)

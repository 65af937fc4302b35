"""Shared helpers of the search tests."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
from django.db.models import F
from django.utils import timezone

from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.filters import FactFilter
from memory.engines.search.engine import SearchEngine
from memory.engines.search.ranked import Hit
from memory.engines.versions.commits import open_commit
from memory.models import Fact, Project, Vector, VectorClock
from memory.models.hashes import content_hash
from memory.models.vectors import vector_slot

fact_engine, search_engine, branch_manager = FactEngine(), SearchEngine(), BranchManager()
MONTH = timedelta(days=30)
X, Y = np.eye(3, dtype="f4")[:2]


def only(**values: Any) -> FactFilter:
    return FactFilter.from_values(values)


def embed(project: Project, **vectors: Sequence[float]) -> None:
    """Store vectors of texts under the model name ""."""
    clock, _ = VectorClock.objects.get_or_create(project=project)
    VectorClock.objects.filter(pk=clock.pk).update(n=F("n") + 1)
    for text, numbers in vectors.items():
        value, vector = content_hash(text), np.array(numbers, dtype="f4")
        Vector.objects.create(
            slot=vector_slot(project.pk, "", value),
            project=project,
            model="",
            content_hash=value,
            n=clock.n + 1,
            state="ready",
            next_try=timezone.now(),
            data=vector / np.linalg.norm(vector),
        )


def recomputed(hit: Hit, weights: dict[str, float]) -> float:
    """Compute a hit's score from its signals."""
    parts = sum(share * hit.signals[arm] for arm, share in weights.items())
    for factor in ("recency", "verification", "priority", "confidence", "confirmations"):
        parts *= hit.signals[factor]
    return max(parts, hit.signals.get("reply", 0.0))


def reflect(actor: Any, *texts: str) -> None:
    """Write reflections, as only Day1 itself may."""
    with open_commit(actor, "main", "dream") as commit:
        rows = [Fact(fact_text=text, essence=text, kind="REFLECTION") for text in texts]
        for row in rows:
            row.compute_hashes()
        commit.add_rows(rows)

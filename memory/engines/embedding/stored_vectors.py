"""Vectors of texts that are stored already."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np

from memory.models import Vector
from memory.models.vectors import vector_slot


def load_vectors(
    project_id: UUID, model: str, hashes: Sequence[str]
) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return the ready vectors, and the hashes never queued for the model."""
    slots = [vector_slot(project_id, model, value) for value in hashes]
    rows = Vector.objects.filter(slot__in=slots).values_list("content_hash", "data")
    found: dict[str, Any] = dict(rows)
    ready = {value: data for value, data in found.items() if data is not None}
    return ready, [value for value in hashes if value not in found]

"""How well the words of a question match the words of each candidate, in their context."""

from collections.abc import Mapping
from uuid import UUID

import numpy as np

from memory.db.reading import picked
from memory.engines.candidates import Question
from memory.models import Vector
from memory.models.vectors import vector_slots
from memory.providers.word_vectors import similarity


def word_similarity(hashes: Mapping[int, str], question: Question, project_id: UUID) -> dict[int, float]:
    """By row id, for the rows whose text has word codes; empty where the question has no word vectors."""
    if question.word_vectors is None or not len(question.word_vectors):
        return {}
    slot = vector_slots(project_id, question.model)
    slots = {slot(value): value for value in set(hashes.values())}
    # By key alone: asked for the state as well, the planner reads every vector that has it.
    codes = picked(Vector.objects.all(), ("slot", "words"), "slot", slots)
    by_hash = {slots[slot]: bytes(words) for slot, words in codes if words}
    known = [(rid, by_hash[value]) for rid, value in hashes.items() if value in by_hash]
    scores = similarity(question.word_vectors, [words for _, words in known])
    return {rid: float(score) for (rid, _), score in zip(known, scores, strict=True) if not np.isnan(score)}

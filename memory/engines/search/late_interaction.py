"""Late interaction: similarity of the query's words to the words of each candidate, in context."""

from collections.abc import Mapping
from uuid import UUID

import numpy as np

from memory.db.raw_select import select_by_key
from memory.engines.search.candidates import PreparedQuery
from memory.models import Vector
from memory.models.vectors import vector_slots
from memory.providers import word_vectors


def match_words(
    hashes: Mapping[int, str], question: PreparedQuery, project_id: UUID
) -> dict[int, np.ndarray]:
    """Return the best cosine of each word of the query by row id, of texts with word codes.

    It is empty without query word vectors.
    """
    if question.word_vectors is None or not len(question.word_vectors):
        return {}
    slot = vector_slots(project_id, question.model)
    slots = {slot(value): value for value in set(hashes.values())}
    # Select by key alone: with a condition on the state, the planner reads every vector in that state.
    codes = select_by_key(Vector.objects.all(), ("slot", "words"), "slot", slots)
    by_hash = {slots[slot]: bytes(words) for slot, words in codes if words}
    known = [(rid, by_hash[value]) for rid, value in hashes.items() if value in by_hash]
    best = word_vectors.match_words(question.word_vectors, [words for _, words in known])
    return {rid: row for (rid, _), row in zip(known, best, strict=True)}

"""Late interaction: similarity of the query's words to the words of each candidate, in context."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np

from memory import ranking
from memory.db.raw_select import select_by_key
from memory.engines.search.candidates import PreparedQuery
from memory.models import Vector
from memory.models.vectors import vector_slots
from memory.providers import word_vectors


@dataclass(frozen=True)
class Matches:
    """Best cosine of each word of the query with any word of each text; ``places`` are the texts' rows."""

    places: Mapping[int, int]
    rows: np.ndarray  # shape (texts, words)
    doublings: np.ndarray  # of each text, of its words that have codes

    def take_off(self, allowance: float) -> "Matches":
        """Return the matches less what the texts' lengths take off: in a long one more matches by chance."""
        return replace(self, rows=self.rows - allowance * self.doublings[:, None])

    def list_means(self) -> dict[int, float]:
        return dict(zip(self.places, self.rows.mean(axis=1).tolist(), strict=True)) if self.places else {}

    def list_least(self) -> dict[int, float]:
        return dict(zip(self.places, self.rows.min(axis=1).tolist(), strict=True)) if self.places else {}


def match_words(hashes: Mapping[int, str], question: PreparedQuery, project_id: UUID) -> Matches:
    """Return the matches of the texts with word codes. There are none without query word vectors."""
    if not hashes or question.word_vectors is None or not len(question.word_vectors):
        return Matches({}, np.zeros((0, 0), dtype=np.float32), np.zeros(0))
    slot = vector_slots(project_id, question.model)
    slots = {slot(value): value for value in set(hashes.values())}
    # Select by key alone: with a condition on the state, the planner reads every vector in that state.
    codes = select_by_key(Vector.objects.all(), ("slot", "words"), "slot", slots)
    by_hash = {slots[slot]: bytes(words) for slot, words in codes if words}
    known = [(rid, by_hash[value]) for rid, value in hashes.items() if value in by_hash]
    best = word_vectors.match_words(question.word_vectors, [words for _, words in known])
    width = question.word_vectors.shape[1] // 8
    doublings = np.array([ranking.count_doublings(len(words) // width) for _, words in known])
    return Matches({rid: at for at, (rid, _) in enumerate(known)}, best, doublings)

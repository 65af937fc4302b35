"""How alike texts are: by their stored vectors, else by their words. No model is called."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from conversations.models import Message
from memory.engines.embedding.engine import model_in_force
from memory.engines.embedding.stored_vectors import load_vectors
from memory.providers.embedding import get_floor
from memory.words import WORD_PATTERN

VECTORS, WORDS = "vectors", "words"
MAX_WORDS = 2_000  # of one text that are compared


@dataclass(frozen=True)
class Similarity:
    """A similarity of each text of one side with each of the other, 0 to 1, and what it was taken from."""

    matrix: np.ndarray
    method: str


def compare_texts(project_id: UUID, first: Sequence[Message], second: Sequence[Message]) -> Similarity:
    """Compare messages by the vectors of the embedder in force; by words unless all have one."""
    vectors = _load_vectors(project_id, [*first, *second])
    if vectors is None:
        return Similarity(_compare_words(first, second), WORDS)
    left = np.array([vectors[row.content_hash] for row in first])
    right = np.array([vectors[row.content_hash] for row in second])
    floor = get_floor()  # of unrelated texts, which is 0 here
    cosines = np.clip((left @ right.T - floor) / (1 - floor), 0, 1)
    return Similarity(_set_equal(cosines, first, second), VECTORS)


def _load_vectors(project_id: UUID, rows: Sequence[Message]) -> dict[str, np.ndarray] | None:
    model = model_in_force()
    if model is None or not rows:
        return None
    hashes = sorted({row.content_hash for row in rows})
    found, _missing = load_vectors(project_id, model, hashes)
    if len(found) < len(hashes):
        return None
    return found


def _compare_words(first: Sequence[Message], second: Sequence[Message]) -> np.ndarray:
    """Return the cosine of the word counts of each pair of texts."""
    counts = [Counter(WORD_PATTERN.findall(row.content.lower())[:MAX_WORDS]) for row in (*first, *second)]
    numbers = {word: i for i, word in enumerate(dict.fromkeys(word for one in counts for word in one))}
    table = np.zeros((len(counts), max(len(numbers), 1)), np.float32)
    for row, words in zip(table, counts, strict=True):
        row[[numbers[word] for word in words]] = list(words.values())
    table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-9)
    similarity = np.clip(table[: len(first)] @ table[len(first) :].T, 0, 1)
    return _set_equal(similarity, first, second)


def _set_equal(similarity: np.ndarray, first: Sequence[Message], second: Sequence[Message]) -> np.ndarray:
    """Return the similarities with exactly 1 for equal texts."""
    left = np.array([row.content_hash for row in first])
    right = np.array([row.content_hash for row in second])
    return np.where(left[:, None] == right[None, :], 1.0, similarity.astype(np.float64))

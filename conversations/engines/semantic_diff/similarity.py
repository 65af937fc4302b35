"""How alike texts are: by their stored vectors, else by their words. No model is called."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from uuid import UUID

import numpy as np

from conversations.models import Message
from memory.engines.embedding.engine import model_in_force
from memory.engines.embedding.stored_vectors import load_vectors
from memory.providers.embedding import get_floor
from memory.words import list_phrases

VECTORS, WORDS = "vectors", "words"
MAX_WORDS = 2_000  # of one text that are compared
MAX_WIDTH = 4_096  # columns of the table of word counts


@dataclass(frozen=True)
class Similarity:
    """A similarity of each text of one side with each of the other, 0 to 1, and what it was taken from."""

    matrix: np.ndarray
    method: str


def compare_texts(project_id: UUID, first: Sequence[Message], second: Sequence[Message]) -> Similarity:
    """Compare messages by the vectors of the embedder in force; by words unless all have one."""
    vectors = _load_vectors(project_id, [*first, *second]) if first and second else None
    if vectors is None:
        return Similarity(_compare_words(first, second), WORDS)
    left = np.array([vectors[row.content_hash] for row in first])
    right = np.array([vectors[row.content_hash] for row in second])
    floor = get_floor()  # of unrelated texts, which is 0 here
    cosines = np.clip((left @ right.T - floor) / (1 - floor), 0, 1)
    return Similarity(_set_equal(cosines, first, second), VECTORS)


def _load_vectors(project_id: UUID, rows: Sequence[Message]) -> dict[str, np.ndarray] | None:
    model = model_in_force()
    if model is None:
        return None
    hashes = sorted({row.content_hash for row in rows})
    found, _missing = load_vectors(project_id, model, hashes)
    if len(found) < len(hashes):
        return None
    return found


def _compare_words(first: Sequence[Message], second: Sequence[Message]) -> np.ndarray:
    """Return the cosine of the word counts of each pair of texts.

    The words have a column each, as long as they fit; else they share columns by a signed hash, which keeps
    cosines within about .02. So the table does not grow with the number of different words.
    """
    rows = [*first, *second]
    numbers = number_words(rows)
    table = np.zeros((len(rows), MAX_WIDTH if numbers is None else max(len(numbers), 1)), np.float32)
    for counts, row in zip(table, rows, strict=True):
        for word in list_words(row):
            column, sign = (numbers[word], 1) if numbers is not None else hash_word(word)
            counts[column] += sign
    table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-9)
    similarity = np.clip(table[: len(first)] @ table[len(first) :].T, 0, 1)
    return _set_equal(similarity, first, second)


def list_words(row: Message) -> Iterator[str]:
    return islice(list_phrases(row.content), MAX_WORDS)


def number_words(rows: Sequence[Message]) -> dict[str, int] | None:
    """Return a column for each word of texts; None where there are too many."""
    numbers: dict[str, int] = {}
    for row in rows:
        for word in list_words(row):
            numbers.setdefault(word, len(numbers))
            if len(numbers) > MAX_WIDTH:
                return None
    return numbers


def hash_word(word: str) -> tuple[int, int]:
    """Return a column and a sign for a word, the same in each process."""
    digest = blake2b(word.encode("utf-8", "replace"), digest_size=4).digest()
    number = int.from_bytes(digest)
    return number % MAX_WIDTH, 1 if number >> 31 else -1


def _set_equal(similarity: np.ndarray, first: Sequence[Message], second: Sequence[Message]) -> np.ndarray:
    """Return the similarities with exactly 1 for equal texts."""
    left = np.array([row.content_hash for row in first])
    right = np.array([row.content_hash for row in second])
    return np.where(left[:, None] == right[None, :], 1.0, similarity.astype(np.float64))

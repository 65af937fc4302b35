"""Vectors of words in context, small enough to store with the text.

Matching a query word by word against a text ("late interaction", Khattab and Zaharia, ColBERT, 2020) finds
details that one vector for a whole text blurs. A word is stored as the signs of its vector: one bit a number.
"""

from collections.abc import Callable, Sequence

import numpy as np

from memory.providers.vectors import Vectors
from memory.texts import count_dense
from memory.words import STOP_WORDS

Codes = bytes  # d / 8 bytes for each word, one after the other
ONE_THREAD = 200_000  # multiplications; OpenBLAS uses more threads from 262,144
MAX_WORDS = 256  # of one text: 12 KiB at 384 numbers

# The eight numbers that each byte of a code stands for: 1 where the bit is set, else -1. Shape (256, 8).
_SIGNS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float32) * 2 - 1


def word_rows(states: Vectors, word_indexes: Sequence[int]) -> Vectors:
    """Return one unit row for each word, the mean of its pieces' directions. Shape (words, d)."""
    numbers = np.asarray(word_indexes, dtype=np.int64)
    matched = numbers >= 0
    if not matched.any():
        return np.zeros((0, states.shape[1]), dtype=np.float32)
    directions = unit_rows(states[: len(numbers)][matched])
    starts = np.flatnonzero(np.diff(numbers[matched], prepend=-1))
    return unit_rows(np.add.reduceat(directions, starts, axis=0))


def pack_signs(rows: Vectors) -> Codes:
    """Pack the signs of each row as bits; at most MAX_WORDS rows."""
    return np.packbits(rows[:MAX_WORDS] > 0, axis=1).tobytes()


def worth_matching(query: str) -> Callable[[str], bool]:
    """Return a predicate for the words of a query to match: no stop words, unless it has only those."""
    words = [word for word in query.lower().split() if word.strip("?!.,;:'\"")]
    only_stop = all(word.strip("?!.,;:'\"") in STOP_WORDS for word in words)
    return lambda word: word[0].isalnum() and (only_stop or word not in STOP_WORDS)


def drop_dense(keep: Callable[[str], bool]) -> Callable[[str], bool]:
    """Return a predicate that leaves out words of scripts without spaces as well."""
    return lambda word: not count_dense(word) and keep(word)


def match_words(query: Vectors, texts: Sequence[Codes]) -> np.ndarray:
    """Return the best cosine of each of the query's words with any word of each text. Shape (texts, words).

    A text without codes has nan. The query's rows are unit floats, the texts' are signs: an estimate of the
    cosine, good to about 1/sqrt(d).
    """
    best = np.full((len(texts), len(query)), np.nan, dtype=np.float32)
    have = [at for at, codes in enumerate(texts) if codes]
    if not have or not len(query):
        return best
    width = query.shape[1] // 8
    bits = np.frombuffer(b"".join(texts[at] for at in have), dtype=np.uint8).reshape(-1, width)
    cosines = inner_products(bits, query) / np.float32(np.sqrt(query.shape[1]))
    starts = np.cumsum([0, *(len(texts[at]) // width for at in have[:-1])])
    best[have] = np.maximum.reduceat(cosines, starts, axis=0)
    return best


def inner_products(codes: np.ndarray, query: Vectors) -> Vectors:
    """Return the inner product of the signs of each row with each of the query's. Shape (rows, words).

    The pieces are small enough that a BLAS library does not wake its other threads, which would cost more,
    and that the signs of each are still in the processor's cache when they are multiplied.
    """
    found, columns = np.empty((len(codes), len(query)), dtype=np.float32), np.ascontiguousarray(query.T)
    step = max(1, ONE_THREAD // query.size)
    for start in range(0, len(codes), step):
        signs = np.take(_SIGNS, codes[start : start + step], axis=0).reshape(-1, query.shape[1])
        np.dot(signs, columns, out=found[start : start + step])
    return found


def unit_rows(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.maximum(lengths, 1e-9)).astype(np.float32)

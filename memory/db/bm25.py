"""BM25 of texts and words, the same on every database.

SQLite's FTS5, which each Python has, splits texts in memory; no database is opened for it.
"""

import math
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache, reduce

import numpy as np

TOKENIZER = "porter unicode61"  # of every full-text table
MIN_RARITY = 1e-6  # that bm25() gives a word that most texts have
K1, B_SHARE = 1.2, 0.75  # k1 and b of bm25()
OFFSET_BITS = 32  # of a token's place in its text

_stems_lock = threading.Lock()


def find_stem(phrase: str) -> str | None:
    """Return the token that FTS5 makes of a word; None where it makes none or several."""
    stems = split_tokens(phrase)
    return stems[0] if len(stems) == 1 else None


@lru_cache(maxsize=10_000)
def split_tokens(phrase: str) -> tuple[str, ...]:
    """Return the tokens that FTS5 makes of a text."""
    with split_texts([phrase]) as database:
        return tuple(stem for (stem,) in database.execute("SELECT term FROM words ORDER BY offset"))


@contextmanager
def split_texts(texts: Sequence[str]) -> Iterator[sqlite3.Connection]:
    """Have FTS5 split texts, which get the row ids 0 to n - 1; they are in memory until the end."""
    with _stems_lock:
        database = open_tokenizer()
        try:
            database.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", enumerate(texts))
            yield database
        finally:
            database.rollback()


@cache
def open_tokenizer() -> sqlite3.Connection:
    """Open an empty table in memory that has FTS5 split texts."""
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute(f"CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='{TOKENIZER}')")
    database.execute("CREATE VIRTUAL TABLE words USING fts5vocab('texts', 'instance')")
    return database


def count_phrases(texts: Sequence[str], phrases: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return how often each phrase (a row) stands in each text, and how many tokens each text has."""
    tokens = [split_tokens(phrase) for phrase in phrases]
    with split_texts(texts) as database:
        places = {stem: find_offsets(database, stem) for stem in {stem for each in tokens for stem in each}}
        sizes = [size for (size,) in database.execute("SELECT sz FROM texts_docsize ORDER BY id")]
    counts = np.zeros((len(phrases), len(texts)), dtype="i8")
    for row, stems in enumerate(tokens):
        begins = [places[stem] - at for at, stem in enumerate(stems)]
        if begins:
            shared = reduce(np.intersect1d, begins)
            counts[row] = np.bincount(shared >> OFFSET_BITS, minlength=len(texts))
    return counts, parse_varints(b"".join(sizes))


def find_offsets(database: sqlite3.Connection, stem: str) -> np.ndarray:
    """Return where a token stands: the row ids of the texts, and in the lower bits which token it is."""
    sql = "SELECT doc << ? | offset FROM words WHERE term = ?"
    return np.array([at for (at,) in database.execute(sql, [OFFSET_BITS, stem])], dtype="i8")


def parse_varints(data: bytes) -> np.ndarray:
    """Return the numbers that SQLite wrote one after the other, seven bits a byte, the highest first."""
    read = np.frombuffer(data, dtype="u1")
    ends = np.flatnonzero(read < 0x80)
    sizes = np.diff(ends, prepend=-1)
    numbers = np.zeros(len(ends), dtype="i8")
    for place in range(int(sizes.max(initial=0))):
        long = sizes > place
        numbers[long] += (read[ends[long] - place].astype("i8") & 0x7F) << (7 * place)
    return numbers


def weigh_counts(counts: np.ndarray, tokens: np.ndarray, mean: float) -> np.ndarray:
    """Return BM25 of a word, but for its rarity, as bm25() computes it among texts of this mean length."""
    norms = K1 * (1 - B_SHARE + B_SHARE * tokens / mean)
    weights: np.ndarray = counts * (K1 + 1) / (counts + norms)
    return weights


def term_rarity(every: int, having: int) -> float:
    """Return the rarity of a word, as bm25() computes it; of a damaged index more may have it than all."""
    return max(math.log((max(every - having, 0) + 0.5) / (having + 0.5)), MIN_RARITY)

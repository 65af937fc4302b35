"""BM25 of one word from FTS5's vocabulary, equal to FTS5's own ``rank`` at a fifth of its cost.

``rank`` looks the length of each text up in a table. Here all lengths are in memory, and a virtual table of
kind fts5vocab says in which texts a word stands. See decision 0060.
"""

import json
import math
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache, reduce
from typing import Any, NamedTuple

import numpy as np
from django.apps import apps
from django.db import DatabaseError

from memory.db.indexes import full_text_index

TOKENIZER = "porter unicode61"  # of every full-text table
MIN_RARITY = 1e-6  # that bm25() gives a word that most texts have
K1, B_SHARE = 1.2, 0.75  # k1 and b of bm25()
COLUMNS = 2  # of every full-text table: text and tokens
OFFSET_BITS = 32  # of a token's place in its text
MAX_MISSING_ROWS = 1000  # looked up by key; beyond them all lengths are read again

_stems_lock = threading.Lock()


class Lengths(NamedTuple):
    """Tokens of each text by row id, sorted."""

    rows: np.ndarray
    tokens: np.ndarray


NO_LENGTHS = Lengths(np.empty(0, dtype="i8"), np.empty(0, dtype="i4"))


# ---- tables ------------------------------------------------------------------------------------


def create_vocabularies(connection: Any) -> None:
    """Create the vocabulary tables of a new connection; they hold nothing and end with it.

    Not inside a transaction: its rollback would drop them. May be repeated after it failed midway.
    """
    for name in list_index_names():
        connection.execute(
            f'CREATE VIRTUAL TABLE IF NOT EXISTS temp."{name}_words"'
            f" USING fts5vocab('main', '{name}', 'instance')"
        )


@cache
def list_index_names() -> tuple[str, ...]:
    indexes = (full_text_index(model) for model in apps.get_models())
    return tuple(index.name for index in indexes if index)


# ---- words -------------------------------------------------------------------------------------


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


def read_places(cursor: Any, index: str, stem: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that have a word, sorted, and how often it stands in each."""
    # As one text: SQLite writes it and numpy reads it faster than Python makes a tuple of each row.
    sql = f"SELECT group_concat(doc) FROM temp.\"{index}_words\" WHERE term = %s AND col = 'text'"
    cursor.execute(sql, [stem])
    (listed,) = cursor.fetchone()
    docs = parse_numbers(listed)
    docs.sort()
    starts = np.flatnonzero(np.diff(docs, prepend=-1))
    return docs[starts], np.diff(starts, append=len(docs))


def parse_numbers(listed: str | None) -> np.ndarray:
    return np.fromstring(listed, dtype="i8", sep=",") if listed else np.empty(0, dtype="i8")


# ---- lengths -----------------------------------------------------------------------------------


def complete_lengths(cursor: Any, index: str, known: Lengths, rows: np.ndarray) -> Lengths:
    """Return the lengths with those of the rows that it lacks."""
    missing = rows[find_places(known, rows) < 0]
    if not len(missing):
        return known
    if len(missing) > MAX_MISSING_ROWS:
        return read_lengths(cursor, index)
    found = read_lengths(cursor, index, missing)
    all_rows, tokens = (np.concatenate(pair) for pair in zip(known, found, strict=True))
    order = np.argsort(all_rows, kind="stable")
    return Lengths(all_rows[order], tokens[order])


def select_lengths(known: Lengths, rows: np.ndarray) -> np.ndarray:
    """Return the length of each row. Raises DatabaseError where the index lacks one."""
    at = find_places(known, rows)
    if len(at) and at.min() < 0:
        raise DatabaseError("A full-text index lacks the length of a text.")
    return known.tokens[at]


def find_places(known: Lengths, rows: np.ndarray) -> np.ndarray:
    """Return the position of each row, -1 where its length is not known."""
    if not len(known.rows):
        return np.full(len(rows), -1)
    at = np.minimum(np.searchsorted(known.rows, rows), len(known.rows) - 1)
    return np.where(known.rows[at] == rows, at, -1)


def read_lengths(cursor: Any, index: str, rows: np.ndarray | None = None) -> Lengths:
    """Read the lengths of these rows, or of all. Raises DatabaseError for a damaged index."""
    sql = f"SELECT group_concat(id), group_concat(hex(sz), '') FROM \"{index}_docsize\""
    if rows is None:
        cursor.execute(sql)
    else:
        needed_rows = json.dumps(rows.tolist())
        cursor.execute(f"{sql} WHERE id IN (SELECT value FROM json_each(%s))", [needed_rows])
    listed, sizes = cursor.fetchone()
    ids, counts = parse_numbers(listed), parse_varints(bytes.fromhex(sizes or ""))
    if len(counts) != COLUMNS * len(ids):
        raise DatabaseError("A full-text index has damaged lengths.")
    tokens = counts.reshape(-1, COLUMNS).sum(axis=1)  # FTS5 counts each column, BM25 uses their sum
    order = np.argsort(ids, kind="stable")
    return Lengths(ids[order], tokens[order].astype("i4"))


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


# ---- scores ------------------------------------------------------------------------------------


def score_rows(cursor: Any, index: str, counts: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """Return BM25 of a word by how often it stands in each text, and the texts' lengths.

    Raises DatabaseError where more texts have it than the index says that there are.
    """
    # Row 1 has the number of texts, and of the tokens in each column.
    cursor.execute(f'SELECT block FROM "{index}_data" WHERE id = 1')
    (block,) = cursor.fetchone() or (b"",)
    every, *columns = parse_varints(bytes(block)).tolist() or (0,)
    if every < len(counts):
        raise DatabaseError("A full-text index has a damaged number of texts.")
    if not every:
        return np.zeros(0)
    return term_rarity(every, len(counts)) * weigh_counts(counts, tokens, sum(columns) / every)


def weigh_counts(counts: np.ndarray, tokens: np.ndarray, mean: float) -> np.ndarray:
    """Return BM25 of a word, but for its rarity, as bm25() computes it among texts of this mean length."""
    norms = K1 * (1 - B_SHARE + B_SHARE * tokens / mean)
    weights: np.ndarray = counts * (K1 + 1) / (counts + norms)
    return weights


def term_rarity(every: int, having: int) -> float:
    """Return the rarity of a word, as bm25() computes it; of a damaged index more may have it than all."""
    return max(math.log((max(every - having, 0) + 0.5) / (having + 0.5)), MIN_RARITY)

"""BM25 of one word from FTS5's vocabulary, equal to FTS5's own ``rank`` at a fifth of its cost.

``rank`` looks the length of each text up in a table. Here all lengths are in memory, and a virtual table of
kind fts5vocab says in which texts a word stands. See decision 0060.
"""

import json
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from django.apps import apps
from django.db import DatabaseError

from memory.db.bm25 import parse_varints, term_rarity, weigh_counts
from memory.db.indexes import full_text_index

COLUMNS = 2  # of every full-text table: text and tokens
MAX_MISSING_ROWS = 1000  # looked up by key; beyond them all lengths are read again


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

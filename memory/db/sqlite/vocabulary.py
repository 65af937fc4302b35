"""BM25 of one word from FTS5's vocabulary, equal to FTS5's own ``rank`` at a fifth of its cost.

``rank`` looks the length of each text up in a table. Here all lengths are in memory, and a virtual table of
kind fts5vocab says in which texts a word stands. See decision 0060.
"""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from django.apps import apps
from django.db import DatabaseError

from memory.db.bm25 import parse_varints, term_rarity, weigh_counts
from memory.db.indexes import full_text_index

COLUMNS = 2  # of every full-text table: text and tokens
MAX_READ_AT_ONCE = 20_000  # rows of an index, whose lengths are read when the first is needed
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


class Places(NamedTuple):
    """The rows that have a word, sorted, and how often it stands in each."""

    rows: np.ndarray
    counts: np.ndarray


class Totals(NamedTuple):
    """How many texts an index has, and how many tokens they have on average."""

    texts: int
    mean: float


def name_columns(index: str, count: int) -> list[str]:
    """Return SQL of columns, for ``parse_places``: the totals of an index, and places of so many words."""
    # As one text: SQLite writes it and numpy reads it faster than Python makes a tuple of each row.
    place = f"(SELECT group_concat(doc) FROM temp.\"{index}_words\" WHERE term = %s AND col = 'text')"
    # Row 1 has the number of texts, and of the tokens in each column.
    return [f'(SELECT block FROM "{index}_data" WHERE id = 1)', *[place] * count]


def parse_places(block: bytes | None, *listed: str | None) -> tuple[list[Places], Totals]:
    """Return the places of each of the words, and the totals of the index."""
    every, *columns = parse_varints(bytes(block or b"")).tolist() or (0,)
    return [count_places(docs) for docs in listed], Totals(every, sum(columns) / every if every else 0.0)


def count_places(listed: str | None) -> Places:
    docs = parse_numbers(listed)
    docs.sort()
    starts = np.flatnonzero(np.diff(docs, prepend=-1))
    return Places(docs[starts], np.diff(starts, append=len(docs)))


def parse_numbers(listed: str | None) -> np.ndarray:
    return np.fromstring(listed, dtype="i8", sep=",") if listed else np.empty(0, dtype="i8")


# ---- lengths -----------------------------------------------------------------------------------


def complete_lengths(cursor: Any, index: str, known: Lengths, rows: np.ndarray, size: int) -> Lengths:
    """Return the lengths with those of the rows that it lacks; all of an index that has few, at once."""
    missing = rows[find_places(known, rows) < 0]
    if not len(missing):
        return known
    if len(missing) > MAX_MISSING_ROWS or (not len(known.rows) and size <= MAX_READ_AT_ONCE):
        return read_lengths(cursor, index)
    return join_lengths(known, read_lengths(cursor, index, missing))


def join_lengths(*parts: Lengths) -> Lengths:
    rows, tokens = (np.concatenate(pair) for pair in zip(*parts, strict=True))
    order = np.argsort(rows, kind="stable")
    return Lengths(rows[order], tokens[order])


def add_lengths(known: Lengths, added: Sequence[tuple[int, str]]) -> Lengths:
    """Return the lengths with those of rows that lack, each as the index has it, in hexadecimal digits."""
    new = {rid: sum(parse_varints(bytes.fromhex(size)).tolist()) for rid, size in added if size}
    rows = np.fromiter(new, dtype="i8")
    is_new = find_places(known, rows) < 0
    tokens = np.fromiter(new.values(), dtype="i4")
    return join_lengths(known, Lengths(rows[is_new], tokens[is_new]))


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


def score_rows(counts: np.ndarray, tokens: np.ndarray, totals: Totals) -> np.ndarray:
    """Return BM25 of a word by how often it stands in each text, and the texts' lengths.

    Raises DatabaseError where more texts have it than the index says that there are.
    """
    if totals.texts < len(counts):
        raise DatabaseError("A full-text index has a damaged number of texts.")
    if not totals.texts:
        return np.zeros(0)
    return term_rarity(totals.texts, len(counts)) * weigh_counts(counts, tokens, totals.mean)

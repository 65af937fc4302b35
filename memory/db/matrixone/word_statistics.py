"""How many texts have a word, and how long texts are: what the rarity of a word is measured by.

The server tells neither. Its full-text index is a table that has a row for each word of a text, and can be
read. What was counted stays in the process until the store has grown by a fiftieth, as scores in memory do on
SQLite; words of closed versions count as well.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from django.db import DatabaseError, models

from memory.db.bm25 import count_phrases, split_tokens, term_rarity, weigh_counts
from memory.db.expressions import placeholders
from memory.db.index_tokens import space_characters, spell_signs
from memory.db.indexes import full_text_index
from memory.db.matrixone import errors
from memory.db.matrixone.boolean_patterns import Range, list_ranges
from memory.db.matrixone.vector_sql import NO_TABLE

MAX_GROWTH = 0.02  # of a table, until its words are counted again
MAX_CHARACTERS = 10_000  # of a text that is scored; what stands behind them counts for nothing
LOWEST = 1e-9  # score of a longer text whose words are all behind them
MAX_PHRASES = 10_000  # counted, of a table
LENGTH_WORD = "__DocLen"  # stands in the index for each text, with its length as the position
LAST_CHARACTER = "\U0010ffff"
INDEX_TABLE = """
    SELECT i.index_table_name FROM mo_catalog.mo_indexes i
    JOIN mo_catalog.mo_tables t ON t.rel_id = i.table_id
    WHERE t.reldatabase = %s AND t.relname = %s AND i.name = %s"""
LENGTHS = "SELECT count(*), coalesce(sum(pos), 0) FROM {table} WHERE word = %s"
FILLED = "CASE WHEN {column} <> '' THEN 1 ELSE 0 END"
FORMS = "SELECT DISTINCT word FROM {table} WHERE {ranges}"
COUNTS = "SELECT {counts} FROM {table} WHERE word IN ({marks})"
COUNT = "count(DISTINCT CASE WHEN word IN ({marks}) THEN doc_id END)"

Texts = dict[int, tuple[str, int]]  # by row id: a text, and how many tokens SQLite's index has beside it


class Word(NamedTuple):
    """The words of the index that are forms of a phrase, and how many texts have any."""

    forms: tuple[str, ...]
    texts: int


@dataclass
class Statistics:
    """The counts of an index table, made when its texts had so many rows."""

    table: str
    rows: int
    texts: int
    mean_length: float
    words: dict[str, "Word"] = field(default_factory=dict)  # by phrase

    def fits(self, rows: int) -> bool:
        return abs(rows - self.rows) <= MAX_GROWTH * self.rows and len(self.words) <= MAX_PHRASES

    def list_forms(self, phrases: Iterable[str]) -> list[str]:
        return [form for phrase in phrases for form in self.words[phrase].forms]

    def score_texts(self, texts: Texts, phrases: Sequence[str]) -> dict[int, float]:
        """Return BM25 of each text as SQLite's index computes it; 0 without any of the phrases."""
        characters = [len(text) for text, _ in texts.values()]
        spaced = [space_characters(text) for text, _ in texts.values()]
        counts, lengths = count_phrases(spaced, [spell_signs(phrase) for phrase in phrases])
        filled = np.array([number for _, number in texts.values()])
        lengths = lengths + filled
        scores = np.zeros(len(texts), dtype="f4")
        for phrase, times in zip(phrases, counts, strict=True):
            having = max(self.words[phrase].texts, int(np.count_nonzero(times)))
            scores += (
                term_rarity(self.texts, having) * weigh_counts(times, lengths, self.mean_length)
            ).astype("f4")
        scores[(scores == 0) & (np.array(characters) >= MAX_CHARACTERS)] = LOWEST
        return dict(zip(texts, scores.tolist(), strict=True))


_known: dict[tuple[str, str], Statistics] = {}  # by database and table


def read_statistics(connection: Any, model: type[models.Model], phrases: Sequence[str]) -> Statistics:
    """Return the statistics of a model's texts that know these phrases."""
    try:
        return _complete(connection, model, phrases)
    except DatabaseError as error:  # the table was made anew, and its index with it
        if errors.get_error_code(error) not in NO_TABLE or _known.pop(_key(connection, model), None) is None:
            raise
        return _complete(connection, model, phrases)


def _key(connection: Any, model: type[models.Model]) -> tuple[str, str]:
    return str(connection.settings_dict["NAME"]), model._meta.db_table


def _complete(connection: Any, model: type[models.Model], phrases: Sequence[str]) -> Statistics:
    key = _key(connection, model)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(key[1])}")
        (rows,) = cursor.fetchone()
        known = _known.get(key)
        if known is None or not known.fits(rows):
            known = _known[key] = _read_lengths(cursor, connection, model, rows)
        if missing := [phrase for phrase in phrases if phrase not in known.words]:
            forms = _read_forms(cursor, known.table, missing)
            known.words |= _count_texts(cursor, known.table, forms)
        return known


def _read_lengths(cursor: Any, connection: Any, model: type[models.Model], rows: int) -> Statistics:
    index, quote = full_text_index(model), connection.ops.quote_name
    assert index is not None
    cursor.execute(INDEX_TABLE, [*_key(connection, model), index.name])
    if not (named := cursor.fetchone()):
        raise DatabaseError(f"The full-text index {index.name} is not there.")
    table = quote(named[0])
    cursor.execute(LENGTHS.format(table=table), [LENGTH_WORD])
    texts, length = cursor.fetchone()
    filled = "+".join(["1", *(FILLED.format(column=quote(name)) for name in index.tokens)])
    cursor.execute(f"SELECT coalesce(sum({filled}), 0) FROM {quote(model._meta.db_table)}")
    (tokens,) = cursor.fetchone()
    return Statistics(table, rows, texts, float(length + tokens) / max(texts, 1) or 1.0)


def _read_forms(cursor: Any, table: str, phrases: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the words of the index that are forms of each phrase."""
    ranges = {phrase: list_ranges(phrase) for phrase in phrases}
    limits = [(low, low + LAST_CHARACTER * is_open) for each in ranges.values() for low, is_open in each]
    if not limits:
        return dict.fromkeys(phrases, ())
    conditions = " OR ".join(["word BETWEEN %s AND %s"] * len(limits))
    cursor.execute(FORMS.format(table=table, ranges=conditions), [bound for pair in limits for bound in pair])
    words = sorted(word for (word,) in cursor.fetchall())
    return {
        phrase: tuple(word for word in words if is_form(word, phrase, ranges[phrase])) for phrase in phrases
    }


def _count_texts(cursor: Any, table: str, forms: Mapping[str, tuple[str, ...]]) -> dict[str, Word]:
    found = {phrase: words for phrase, words in forms.items() if words}
    numbers: Sequence[int] = ()
    if found:
        each = [word for words in found.values() for word in words]
        counts = ", ".join(COUNT.format(marks=placeholders(words)) for words in found.values())
        cursor.execute(COUNTS.format(counts=counts, table=table, marks=placeholders(each)), each * 2)
        numbers = cursor.fetchone()
    having = dict(zip(found, numbers, strict=True))
    return {phrase: Word(words, having.get(phrase, 0)) for phrase, words in forms.items()}


def is_form(word: str, phrase: str, ranges: Iterable[Range]) -> bool:
    """Return whether SQLite's index would find the phrase in a word, which is in one of the ranges."""
    if not any(word.startswith(low) if is_open else word == low for low, is_open in ranges):
        return False
    tokens = split_tokens(spell_signs(phrase))
    return split_tokens(spell_signs(space_characters(word)))[: len(tokens)] == tokens

"""Scores of single words in memory: FTS5's BM25 of several words is the sum of theirs.

FTS5 scores every text that has one of the words, and sorts them all. A word's scores are computed once, and
later commits add theirs; see decisions 0036 and 0060. The index stays the only truth: a cache is dropped
whenever rows of the index were replaced or removed for good, which the database file itself says
(``user_version``).
"""

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memory.db.bm25 import find_stem
from memory.db.querysets import Ranked, VersionedQuerySet
from memory.db.sqlite import vocabulary
from memory.db.sqlite.closed_versions import match_text
from memory.db.sqlite.index_state import NO_COMMIT, Commit, read_state
from memory.db.sqlite.vector_caches import find_vector_cache
from memory.db.sqlite.vocabulary import Lengths

MAX_POSTINGS = 4_000_000  # of all words of an index, 12 bytes each
WORD_POSTINGS = 50  # whose memory a word takes besides its own: words that no text has need a bound too
MAX_WORD_LENGTH = 200  # characters of a word that is kept: a query of 8,000 may be one word
MAX_CACHES = 16  # of indexes: a store has three
MAX_NEW_ROWS = 100  # looked up one by one; beyond them a word is read again
MAX_GROWTH = 0.02  # of an index, until a word is read again: scores depend on the number of texts
UNFILTERED, FILTERED = 4, 20  # matches that are looked at first, for each that is wanted
MAX_LOG = 10_000  # rows, and commits, beyond which all words are read again
ONE_OF = " AND rowid IN (SELECT value FROM json_each(%s))"

Point = tuple[int, int]  # an epoch of the index, and a length of the log


@dataclass(frozen=True)
class WordScores:
    """The rows that have a word, by row id, and the score of each.

    ``read_at`` and ``known`` are how much of the log there was when all was read, and is known now.
    """

    rows: np.ndarray
    scores: np.ndarray
    read_at: int
    known: int

    @property
    def size(self) -> int:
        """Return how many postings take as much memory as this word."""
        return len(self.rows) + WORD_POSTINGS


@dataclass(frozen=True)
class Matches:
    """The rows that have any of the words, and the sum of their scores."""

    rows: np.ndarray
    scores: np.ndarray

    @classmethod
    def of(cls, words: Sequence[WordScores]) -> "Matches":
        """Add up the scores of each row."""
        rows = np.concatenate([word.rows for word in words])
        order = np.argsort(rows, kind="stable")  # merges what is sorted
        rows, scores = rows[order], np.concatenate([word.scores for word in words])[order]
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        return cls(rows[starts], np.add.reduceat(scores, starts) if len(starts) else scores)

    def best(self, count: int) -> list[tuple[int, float]]:
        """Return the best rows, best first; ties by row id."""
        chosen = np.arange(len(self.rows))
        if count < len(chosen):
            least = np.partition(self.scores, -count)[-count]
            chosen = np.flatnonzero(self.scores >= least)
        order = np.lexsort((self.rows[chosen], -self.scores[chosen]))[:count]
        return self._pairs(chosen[order])

    def of_rows(self, rids: Sequence[int]) -> list[tuple[int, float]]:
        """Return those of the rows that have a word."""
        requested = np.unique(np.asarray(rids, dtype="i8"))
        at = np.minimum(np.searchsorted(self.rows, requested), max(len(self.rows) - 1, 0))
        return self._pairs(at[self.rows[at] == requested]) if len(self.rows) else []

    def _pairs(self, at: np.ndarray) -> list[tuple[int, float]]:
        return list(zip(self.rows[at].tolist(), self.scores[at].tolist(), strict=True))


class KeywordCache:
    """The words of one full-text index that were searched lately."""

    def __init__(self, table: str, index: str) -> None:
        self.table, self.index = table, index
        self._lock = threading.Lock()
        self._reset(-1, NO_COMMIT, 0)

    def _reset(self, epoch: int, commit: Commit, size: int) -> None:
        self._epoch, self._commit, self._size = epoch, commit, size
        self._seen = {commit}  # the newest commits of the states since
        self._log: list[int] = []  # the rows that commits added since
        self._words: OrderedDict[str, WordScores] = OrderedDict()
        self._postings = 0
        self._lengths = vocabulary.NO_LENGTHS

    def forget_words(self) -> None:
        """Drop the words, as if none had been searched for."""
        with self._lock:
            self._words.clear()
            self._postings = 0

    def count_words(self) -> int:
        """Return how many words are kept, those that no text has among them."""
        return len(self._words)

    def match(self, connection: Any, phrases: Sequence[str]) -> Matches | None:
        """Return the matches of any of the phrases in the snapshot that the connection reads.

        None where it reads an older state than the cache has.
        """
        with connection.cursor() as cursor:
            if (point := self._follow_commits(cursor)) is None:
                return None
            listed = connection.has_vocabularies
            return Matches.of([self._load_word(cursor, phrase, point, listed) for phrase in phrases])

    # ---- what changed --------------------------------------------------------------------------

    def _follow_commits(self, cursor: Any) -> Point | None:
        """Bring the log up to the snapshot; return the point in it, None for an older snapshot."""
        epoch, last = read_state(cursor)
        with self._lock:
            changed = last != self._commit
            if epoch < self._epoch or (epoch == self._epoch and changed and last in self._seen):
                return None
            is_long = max(len(self._log), len(self._seen)) > MAX_LOG
            if epoch != self._epoch or is_long or (changed and not self._has_commit(cursor)):
                cursor.execute(f'SELECT count(*) FROM "{self.index}_docsize"')
                self._reset(epoch, last, cursor.fetchone()[0])
            elif changed:
                self._log += self._read_new_rows(cursor)
                self._commit = last
                self._seen.add(last)
            return epoch, len(self._log)

    def _has_commit(self, cursor: Any) -> bool:
        """Return whether the newest commit that is known is there: no other has taken its place."""
        if self._commit == NO_COMMIT:
            return True
        cursor.execute("SELECT id FROM memory_commit WHERE rowid = %s", [self._commit[0]])
        return bool(cursor.fetchone() == (self._commit[1],))

    def _read_new_rows(self, cursor: Any) -> list[int]:
        cursor.execute(
            f'SELECT v.rid FROM memory_commit c JOIN "{self.table}" v'
            " ON v.branch_id = c.branch_id AND v.seq_from = c.seq WHERE c.rowid > %s",
            [self._commit[0]],
        )
        return [rid for (rid,) in cursor.fetchall()]

    # ---- words ---------------------------------------------------------------------------------

    def _load_word(self, cursor: Any, phrase: str, point: Point, listed: bool) -> WordScores:
        epoch, known = point
        with self._lock:
            word = self._words.get(phrase) if epoch == self._epoch else None
            new = self._log[word.known : known] if word else []
        if word and word.read_at <= known and not new:
            return word
        found = self._add_new_rows(cursor, word, phrase, new) if word and word.read_at <= known else None
        found = found or self._read_word(cursor, phrase, point, listed)
        self._keep_word(phrase, found, epoch)
        return found

    def _add_new_rows(
        self, cursor: Any, word: WordScores, phrase: str, new: Sequence[int]
    ) -> WordScores | None:
        """Return the word with rows that are new; None where it is better read again."""
        known = word.known + len(new)
        if len(new) > MAX_NEW_ROWS or known - word.read_at > self._size * MAX_GROWTH:
            return None
        rows, scores = self._fetch(cursor, phrase, ONE_OF, json.dumps(new))
        rows, scores = np.concatenate([word.rows, rows]), np.concatenate([word.scores, scores])
        order = np.argsort(rows, kind="stable")
        return WordScores(rows[order], scores[order], word.read_at, known)

    def _read_word(self, cursor: Any, phrase: str, point: Point, listed: bool) -> WordScores:
        stem = find_stem(phrase) if listed and len(phrase) <= MAX_WORD_LENGTH else None
        if stem is None:  # several words, or a long one
            rows, scores = self._fetch(cursor, phrase, "")
        else:
            rows, counts = vocabulary.read_places(cursor, self.index, stem)
            scores = vocabulary.score_rows(
                cursor, self.index, counts, self._load_lengths(cursor, rows, point[0])
            )
        return WordScores(rows, scores.astype("f4"), point[1], point[1])

    def _load_lengths(self, cursor: Any, rows: np.ndarray, epoch: int) -> np.ndarray:
        """Return the length of each of the rows."""
        with self._lock:
            known = self._lengths if epoch == self._epoch else vocabulary.NO_LENGTHS
        found = vocabulary.complete_lengths(cursor, self.index, known, rows)
        if found is not known:
            self._keep_lengths(found, epoch)
        return vocabulary.select_lengths(found, rows)

    def _keep_lengths(self, lengths: Lengths, epoch: int) -> None:
        with self._lock:
            if epoch == self._epoch:
                self._lengths = lengths

    def _fetch(self, cursor: Any, phrase: str, condition: str, *values: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows that have a phrase, and their scores."""
        sql = f'SELECT rowid, -rank FROM "{self.index}" WHERE "{self.index}" MATCH %s{condition}'
        cursor.execute(sql, [match_text([phrase]), *values])
        found = np.array(cursor.fetchall(), dtype=[("row", "i8"), ("score", "f4")])
        found.sort(order="row")
        return found["row"].copy(), found["score"].copy()

    def _keep_word(self, phrase: str, word: WordScores, epoch: int) -> None:
        """Keep a word; the ones that were not searched for longest make room."""
        if len(phrase) > MAX_WORD_LENGTH:
            return
        with self._lock:
            old = self._words.get(phrase)
            if epoch != self._epoch or (old and old.known > word.known):
                return
            self._words[phrase] = word
            self._words.move_to_end(phrase)
            self._postings += word.size - (old.size if old else 0)
            while self._postings > MAX_POSTINGS and len(self._words) > 1:
                _, gone = self._words.popitem(last=False)
                self._postings -= gone.size


_caches: OrderedDict[tuple[str, str], KeywordCache] = OrderedDict()
_caches_lock = threading.Lock()


def get_keyword_cache(connection: Any, table: str, index: str) -> KeywordCache:
    """Return the cache of an index of a connection's database."""
    key = (str(connection.settings_dict["NAME"]), index)
    with _caches_lock:
        cache = _caches.setdefault(key, KeywordCache(table, index))
        _caches.move_to_end(key)
        while len(_caches) > MAX_CACHES:
            _caches.popitem(last=False)
    return cache


def forget_words() -> None:
    """Drop the words of all caches; for benchmarks."""
    with _caches_lock:
        for cache in _caches.values():
            cache.forget_words()


def find_visible(
    connection: Any,
    rows: VersionedQuerySet,
    matches: Matches,
    k: int,
    read: Callable[[Any, VersionedQuerySet, Sequence[int]], set[int]],
) -> Ranked:
    """Return the best k matches that are among the rows, best first; ``read`` says which are."""
    count = k * (UNFILTERED if rows.known_to_index else FILTERED)
    while True:
        best = matches.best(count)
        visible = read(connection, rows, [rid for rid, _ in best])
        found = [hit for hit in best if hit[0] in visible]
        if len(found) >= k or len(best) < count:
            return found[:k]
        count *= 4


def list_visible(connection: Any, rows: VersionedQuerySet, rids: Sequence[int], k: int) -> set[int]:
    """Return those of the row ids that are among the rows, at least the first k of them, for a lineage that
    the caches cover.

    The cache of vectors knows which the lineage shows; other filters are left to the database.
    """
    cache = None if rows.tokens else find_vector_cache(connection, rows.model, rows.lineage or ())
    shown = cache.list_visible(rids, rows) if cache else None
    if shown is None:
        return read_visible(connection, rows, rids)
    if rows.known_to_index:
        return shown
    return read_first_visible(connection, rows, [rid for rid in rids if rid in shown], k)


def read_first_visible(connection: Any, rows: VersionedQuerySet, rids: Sequence[int], k: int) -> set[int]:
    """Return those of the row ids that are among the rows, until k are: most filters leave out few."""
    visible: set[int] = set()
    start, size = 0, k + k // 4
    while len(visible) < k and start < len(rids):
        visible |= read_visible(connection, rows, rids[start : start + size])
        start, size = start + size, size * 2
    return visible


def read_visible(connection: Any, rows: VersionedQuerySet, rids: Sequence[int]) -> set[int]:
    """Return those of the row ids that are among the rows, from the database."""
    check, params = rows.visibility_sql("ranked.r")
    sql = f"SELECT r FROM (SELECT value AS r FROM json_each(%s)) ranked WHERE {check}"
    with connection.cursor() as cursor:
        cursor.execute(sql, [json.dumps(list(rids)), *params])
        return {rid for (rid,) in cursor.fetchall()}

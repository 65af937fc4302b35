"""Scores of single words in memory: FTS5's BM25 of several words is the sum of theirs.

FTS5 scores every text that has one of the words, and sorts them all. A word's scores are computed once, and
later commits add theirs; see decisions 0036 and 0060. The index stays the only truth: a cache is dropped
whenever rows of the index were replaced or removed for good, which the database file itself says
(``user_version``).
"""

import json
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from memory.db.bm25 import find_stem
from memory.db.index_tokens import search_phrases, spell_signs
from memory.db.raw_select import RawReading, Statement
from memory.db.sqlite import vocabulary
from memory.db.sqlite.closed_versions import match_text
from memory.db.sqlite.index_state import ADDED_COLUMNS, NO_COMMIT, Commit, parse_added, select_added
from memory.db.sqlite.vocabulary import Lengths
from memory.processes import after_fork

MAX_PHRASES = 200  # of a query
MAX_POSTINGS = 4_000_000  # of all words of an index, 12 bytes each
WORD_POSTINGS = 50  # whose memory a word takes besides its own: words that no text has need a bound too
NO_PLACE = 2**62  # behind all commits
MAX_WORD_LENGTH = 200  # characters of a word that is kept: a query of 8,000 may be one word
MAX_CACHES = 16  # of indexes: a store has three
MAX_NEW_ROWS = 100  # looked up one by one; beyond them a word is read again
MAX_GROWTH = 0.02  # of an index, until a word is read again: scores depend on the number of texts
MAX_UNITED = 100  # selects of a statement
MAX_LOG = 10_000  # rows, and commits, beyond which all words are read again
ONE_OF = " AND rowid IN (SELECT value FROM json_each(%s))"

Point = tuple[int, int]  # an epoch of the index, and a length of the log
ReadWords = tuple[dict[str, str], Sequence[Any]]  # stems by phrase, and the columns of their places


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
        self._added: list[tuple[int, str]] = []  # those whose lengths are not among the others yet
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
            point, read = self._follow_commits(connection, cursor, phrases)
            if point is None:
                return None
            listed = connection.has_vocabularies
            return Matches.of(self._load_words(cursor, phrases, point, read, listed))

    def plan(self, connection: Any, phrases: Sequence[str]) -> Statement:
        """Return the statement of ``match``, for ``read_together``."""
        with self._lock:
            sql, values, stems = self._plan_reading(connection, phrases)
        return RawReading(connection, ADDED_COLUMNS + bool(stems) + len(stems)), sql, values

    def _plan_reading(
        self, connection: Any, phrases: Sequence[str]
    ) -> tuple[str, Sequence[Any], dict[str, str]]:
        """Return the statement that reads what changed and single words that are not kept, and those."""
        new = [one for one in phrases if one not in self._words] if connection.has_vocabularies else []
        stems = self._list_stems(new)
        columns = vocabulary.name_columns(self.index, len(stems)) if stems else ()
        place, _ = self._newest
        return select_added(self.table, self.index, columns), (place, place, *stems.values()), stems

    # ---- what changed --------------------------------------------------------------------------

    @staticmethod
    def _list_stems(phrases: Sequence[str]) -> dict[str, str]:
        """Return the stems of single words that are not too long, by their phrases."""
        short = (phrase for phrase in phrases if len(phrase) <= MAX_WORD_LENGTH)
        return {phrase: stem for phrase in short if (stem := find_stem(phrase)) is not None}

    @property
    def _newest(self) -> Commit:
        return self._commit if self._epoch >= 0 else (NO_PLACE, "")

    def _follow_commits(
        self, connection: Any, cursor: Any, phrases: Sequence[str]
    ) -> tuple[Point | None, ReadWords]:
        """Bring the log up to the snapshot; return the point in it, None for an older snapshot, and what was
        read of words that were not kept.
        """
        with self._lock:
            sql, values, stems = self._plan_reading(connection, phrases)
            # Taken out of the notes: a list of rows may be long.
            rows = connection.notes.pop((sql, *values), None) or _fetch_all(cursor, sql, values)
            epoch, last, is_there, added = self._parse_changes(rows[0][:ADDED_COLUMNS])
            read = stems, rows[0][ADDED_COLUMNS:]
            changed = last != self._commit
            if epoch < self._epoch or (epoch == self._epoch and changed and last in self._seen):
                return None, read
            is_long = max(len(self._log), len(self._seen)) > MAX_LOG
            if epoch != self._epoch or is_long or (changed and not is_there):
                cursor.execute(f'SELECT count(*) FROM "{self.index}_docsize"')
                self._reset(epoch, last, cursor.fetchone()[0])
            elif changed:
                self._log += [rid for rid, _ in added]
                self._added += added
                self._commit = last
                self._seen.add(last)
            return (epoch, len(self._log)), read

    def _parse_changes(self, row: Sequence[Any]) -> tuple[int, Commit, bool, list[tuple[int, str]]]:
        """Return the epoch, the newest commit, whether the newest that is known is there, as no other has
        taken its place, and the rows that were added since with their lengths as the index has them.
        """
        _, uid = self._newest
        epoch, last, known, added = parse_added(row)
        pairs = (pair.split(":") for pair in added.split(",")) if added else ()
        return epoch, last, known == uid, [(int(rid), size) for rid, size in pairs]

    # ---- words ---------------------------------------------------------------------------------

    def _load_words(
        self, cursor: Any, phrases: Sequence[str], point: Point, read: ReadWords, is_listed: bool
    ) -> list[WordScores]:
        """Return the words up to the point; those that lack rows are read together."""
        epoch, known = point
        with self._lock:
            every = {phrase: self._words.get(phrase) for phrase in phrases} if epoch == self._epoch else {}
            words = {phrase: word for phrase, word in every.items() if word and word.read_at <= known}
            new = {phrase: self._log[word.known : known] for phrase, word in words.items()}
        late = [phrase for phrase, rows in new.items() if rows and not self._must_reread(words[phrase], rows)]
        fresh = [phrase for phrase in phrases if phrase not in words or (new[phrase] and phrase not in late)]
        words |= self._add_new_rows(cursor, {phrase: (words[phrase], new[phrase]) for phrase in late})
        words |= self._read_words(cursor, fresh, point, read, is_listed)
        for phrase in (*late, *fresh):
            self._keep_word(phrase, words[phrase], epoch)
        return [words[phrase] for phrase in phrases]

    def _must_reread(self, word: WordScores, new: Sequence[int]) -> bool:
        growth = word.known + len(new) - word.read_at
        return len(new) > MAX_NEW_ROWS or growth > self._size * MAX_GROWTH

    def _add_new_rows(
        self, cursor: Any, late: Mapping[str, tuple[WordScores, Sequence[int]]]
    ) -> dict[str, WordScores]:
        """Return words with rows that are new, read in one statement."""
        queries = [(phrase, json.dumps(new)) for phrase, (_, new) in late.items()]
        read = zip(late.items(), self._fetch(cursor, queries), strict=True)
        return {phrase: self._add_rows(word, new, *found) for (phrase, (word, new)), found in read}

    @staticmethod
    def _add_rows(word: WordScores, new: Sequence[int], rows: np.ndarray, scores: np.ndarray) -> WordScores:
        rows, scores = np.concatenate([word.rows, rows]), np.concatenate([word.scores, scores])
        order = np.argsort(rows, kind="stable")
        return WordScores(rows[order], scores[order], word.read_at, word.known + len(new))

    def _read_words(
        self, cursor: Any, phrases: Sequence[str], point: Point, read: ReadWords, is_listed: bool
    ) -> dict[str, WordScores]:
        """Return all that has the words: of single ones what was read, or is read together now; of several
        words and long ones one by one.
        """
        stems, row = read
        scored = self._score_stems(cursor, stems, row, point[0])
        rest = [phrase for phrase in phrases if phrase not in scored]
        if grown := self._list_stems(rest) if is_listed else {}:
            columns = ", ".join(vocabulary.name_columns(self.index, len(grown)))
            (row,) = _fetch_all(cursor, f"SELECT {columns}", [*grown.values()])
            scored |= self._score_stems(cursor, grown, row, point[0])
            rest = [phrase for phrase in rest if phrase not in grown]
        scored |= dict(zip(rest, self._fetch(cursor, [(phrase, "") for phrase in rest]), strict=True))
        return {
            phrase: WordScores(rows, scores.astype("f4"), point[1], point[1])
            for phrase, (rows, scores) in scored.items()
        }

    def _score_stems(
        self, cursor: Any, stems: Mapping[str, str], row: Sequence[Any], epoch: int
    ) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return the rows and scores of single words, by their phrases."""
        if not stems:
            return {}
        places, totals = vocabulary.parse_places(*row)
        lengths = self._load_lengths(cursor, np.unique(np.concatenate([each.rows for each in places])), epoch)
        return {
            phrase: (rows, vocabulary.score_rows(counts, vocabulary.select_lengths(lengths, rows), totals))
            for phrase, (rows, counts) in zip(stems, places, strict=True)
        }

    def _load_lengths(self, cursor: Any, rows: np.ndarray, epoch: int) -> Lengths:
        """Return lengths, those of the rows among them."""
        with self._lock:
            is_present, added = epoch == self._epoch, self._added
            known = self._lengths if is_present else vocabulary.NO_LENGTHS
            size = self._size if is_present else 0
            if is_present and added and len(known.rows):
                self._lengths = known = vocabulary.add_lengths(known, added)
            self._added = [] if is_present else added
        found = vocabulary.complete_lengths(cursor, self.index, known, rows, size)
        if found is not known:
            self._keep_lengths(found, epoch)
        return found

    def _keep_lengths(self, lengths: Lengths, epoch: int) -> None:
        with self._lock:
            if epoch == self._epoch:
                self._lengths = lengths

    def _fetch(
        self, cursor: Any, queries: Sequence[tuple[str, str]]
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the rows that have each phrase, and their scores; with row ids, in JSON, of those alone."""
        for start in range(0, len(queries), MAX_UNITED):
            batch = queries[start : start + MAX_UNITED]
            arms = [self._match_sql(place, one) for place, (_, one) in enumerate(batch)]
            values = [[match_text([phrase]), *[rids] * bool(rids)] for phrase, rids in batch]
            cursor.execute(" UNION ALL ".join(arms), [value for each in values for value in each])
            kinds = [("place", "i4"), ("row", "i8"), ("score", "f4")]
            found = np.array(cursor.fetchall(), dtype=kinds)
            found.sort(order=["place", "row"])
            ends = np.searchsorted(found["place"], np.arange(len(batch) + 1))
            for low, high in pairwise(ends):
                yield found["row"][low:high].copy(), found["score"][low:high].copy()

    def _match_sql(self, place: int, rids: str) -> str:
        sql = f'SELECT {place}, rowid, -rank FROM "{self.index}" WHERE "{self.index}" MATCH %s'
        return sql + ONE_OF * bool(rids)

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


def list_phrases(words: Sequence[str]) -> list[str]:
    """Return the phrases of the index that the words of a query are looked up by."""
    found = dict.fromkeys(phrase for word in words for phrase in search_phrases(word))
    return [spell_signs(phrase) for phrase in list(found)[:MAX_PHRASES]]


def _fetch_all(cursor: Any, sql: str, values: Sequence[Any]) -> list[tuple]:
    cursor.execute(sql, values)
    return list(cursor.fetchall())


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


def forget_keyword_caches() -> None:
    """Begin as a new process does: with nothing in memory."""
    global _caches_lock
    _caches_lock = threading.Lock()
    _caches.clear()


after_fork(forget_keyword_caches)


def forget_words() -> None:
    """Drop the words of all caches; for benchmarks."""
    with _caches_lock:
        for cache in _caches.values():
            cache.forget_words()

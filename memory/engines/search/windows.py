"""Windows: what stands around a candidate in its session lends it the words that it lacks itself.

A turn says "I got it yesterday", the one before it what was bought. Only the best candidates are looked at
again: docs/retrieval.md has the measurement.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import islice
from typing import NamedTuple
from uuid import UUID

import numpy as np

from memory import ranking
from memory.db.querysets import VersionedQuerySet
from memory.engines.search.candidates import PreparedQuery
from memory.engines.search.fact_rows import Row
from memory.engines.search.speakers import NAMED_WITHIN, find_speaker
from memory.engines.search.word_codes import load_codes
from memory.providers import word_vectors

REACH = 2  # steps to either side
TURNS = 6  # rows to either side, at most
BEST = 20  # candidates that are looked at again
STEP_LOSS = 0.05  # off the match of a word, for each row that lies between
SIMILAR = 0.75  # of the best match of a word: a text with as much has the word, or means it


@dataclass(frozen=True)
class Matches:
    """Best cosine of each word of the query with any word of each text that has codes."""

    count: int  # of all texts
    places: Sequence[int]  # of those that have codes, among all
    rows: np.ndarray  # of them; shape (texts, words)
    doublings: np.ndarray  # of each of them, of its words that have codes

    def take_off(self, allowance: float) -> "Matches":
        """Return the matches less what the texts' lengths take off: in a long one more matches by chance."""
        return replace(self, rows=self.rows - allowance * self.doublings[:, None])

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Return a value for each of all texts: nan for one without codes."""
        every = np.full(self.count, np.nan)
        every[self.places] = values
        return every

    def list_means(self) -> np.ndarray:
        return self.spread(self.rows.mean(axis=1))

    def list_least(self) -> np.ndarray:
        return self.spread(self.rows.min(axis=1))


class Near(NamedTuple):
    """Row that stands around another, so many steps away."""

    rid: int
    distance: int
    content_hash: str


class Turn(NamedTuple):
    """Row of a conversation, and who says it; "" where that is not known."""

    rid: int
    content_hash: str
    speaker: str


Windows = Mapping[int, Sequence[Near]]
FindWindows = Callable[[Sequence[int]], Windows]


def find_windows(rows: VersionedQuerySet, speakers: Mapping[int, str]) -> Windows:
    """Return the rows around each of these in its session, of those that the rows include.

    ``speakers`` are who says each, "" where its text does not tell; then no runs are looked for.
    """
    named = [rid for rid, speaker in speakers.items() if speaker]
    others = [rid for rid, speaker in speakers.items() if not speaker]
    return {
        rid: [*take_steps(speakers[rid], before), *take_steps(speakers[rid], after)]
        for rids, reach in ((named, TURNS), (others, REACH))
        for rid, (before, after) in _read_turns(rows, rids, reach).items()
    }


def _read_turns(
    rows: VersionedQuerySet, rids: Sequence[int], reach: int
) -> dict[int, tuple[list[Turn], list[Turn]]]:
    """Return the turns before and after each of these rows, nearest first."""
    columns = ("uid", "rid", "content_hash", rows.model.TEXT)
    found = rows.read_neighbours(rids, "session_id", columns, (reach, reach), NAMED_WITHIN) if rids else {}
    before, after = range(-1, -reach - 1, -1), range(1, reach + 1)
    return {rid: (_list_turns(near, before), _list_turns(near, after)) for rid, near in found.items()}


def _list_turns(near: Mapping[int, tuple], places: Iterable[int]) -> list[Turn]:
    found = (near[at] for at in places if at in near)
    return [Turn(rid, content_hash, find_speaker(text)) for _, rid, content_hash, text in found]


def take_steps(speaker: str, turns: Iterable[Turn]) -> Iterator[Near]:
    """Yield turns of one side, nearest first, while they are in reach.

    A step is a run of one speaker's turns, the speaker's own before it being as far as the next one's. A turn
    of nobody known is a step by itself.
    """
    steps = 0
    for turn in islice(turns, TURNS):
        steps += not speaker or turn.speaker != speaker
        if steps > REACH:
            return
        yield Near(turn.rid, max(steps, 1), turn.content_hash)
        speaker = turn.speaker


def rate_windows(
    rows: Sequence[Row],
    scores: np.ndarray,
    words: np.ndarray,
    matches: Matches,
    around: FindWindows,
    question: PreparedQuery,
    recipe: ranking.Recipe,
    project_id: UUID,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return how well the words of the question stand in each row and around the best: divided by the best,
    and as it is, nan for rows without codes, with what is around and without.

    ``scores`` decide which are the best, ``words`` are the matched words of each row by itself. The rarer a
    word is among the candidates, the more it counts.
    """
    coded = {rows[at].rid: place for place, at in enumerate(matches.places) if rows[at].session_id}
    best = [row.rid for row in find_best(rows, scores) if row.rid in coded] if coded else []
    near, weights = around(best) if best else {}, weigh_words(matches.rows)
    bare = matches.spread(matches.rows @ weights / weights.sum())
    found = bare
    if near:
        lent = match_near(rows, near, matches, question, recipe, project_id)
        found = matches.spread(lend_words(matches.rows, coded, near, lent) @ weights / weights.sum())
    return np.where(np.isnan(found), words, ranking.normalise_scores(found)), found, bare


def find_best(rows: Sequence[Row], scores: np.ndarray) -> list[Row]:
    """Return the rows with the best scores, best first; ties by id, which is by age."""
    pairs = zip((-scores).tolist(), rows, strict=True)
    return [row for _, row in nsmallest(BEST, pairs, key=lambda pair: (pair[0], pair[1].uid))]


def match_near(
    rows: Sequence[Row],
    near: Windows,
    matches: Matches,
    question: PreparedQuery,
    recipe: ranking.Recipe,
    project_id: UUID,
) -> dict[int, np.ndarray]:
    """Return the matches of the rows around others, less what their lengths take off again: a long one has
    more words to lend by chance.
    """
    known = matches.take_off(recipe.length_allowance).rows
    lent = {rows[at].rid: own for at, own in zip(matches.places, known, strict=True)}
    hashes = {one.rid: one.content_hash for batch in near.values() for one in batch if one.rid not in lent}
    others = match_words([*hashes.values()], question, project_id).take_off(recipe.length_allowance)
    others, rids = others.take_off(recipe.length_allowance), [*hashes]
    return lent | {rids[at]: own for at, own in zip(others.places, others.rows, strict=True)}


def lend_words(
    rows: np.ndarray, places: Mapping[int, int], near: Windows, lent: Mapping[int, np.ndarray]
) -> np.ndarray:
    """Return the matches of rows, of each word the best that a row or one around it has."""
    joined = rows.copy()
    for rid, batch in near.items():
        own = joined[places[rid]]
        for one in batch:
            if one.rid in lent:
                np.maximum(own, lent[one.rid] - STEP_LOSS * one.distance, out=own)
    return joined


def weigh_words(rows: np.ndarray) -> np.ndarray:
    """Return the weight of each word: the fewer of the candidates match it well, the more."""
    having = (rows >= SIMILAR * rows.max(axis=0)).sum(axis=0)
    weights: np.ndarray = np.log((len(rows) + 1) / (np.minimum(having, len(rows)) + 0.5))
    return np.maximum(weights, 0.01)


# ---- late interaction --------------------------------------------------------------------------------


def no_matches(count: int) -> Matches:
    """Return the matches of so many texts of which none has codes."""
    return Matches(count, [], np.zeros((0, 1), dtype=np.float32), np.zeros(0))


def match_words(hashes: Sequence[str], question: PreparedQuery, project_id: UUID) -> Matches:
    """Return the matches of the texts with word codes. There are none without query word vectors."""
    if not hashes or question.word_vectors is None or not len(question.word_vectors):
        return no_matches(len(hashes))
    by_hash = load_codes(hashes, question, project_id)
    places = [at for at, value in enumerate(hashes) if value in by_hash]
    codes = [by_hash[hashes[at]] for at in places]
    best = word_vectors.match_words(question.word_vectors, codes)
    width = question.word_vectors.shape[1] // 8
    doublings = ranking.count_doublings(len(words) // width for words in codes)
    return Matches(len(hashes), places, best, doublings)

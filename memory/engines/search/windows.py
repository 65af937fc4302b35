"""Windows: what stands around a candidate in its session lends it the words that it lacks itself.

A turn says "I got it yesterday", the one before it what was bought. Only the best candidates are looked at
again: docs/retrieval.md has the measurement.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

import numpy as np

from memory import ranking
from memory.db.querysets import VersionedQuerySet
from memory.engines.search.candidates import PreparedQuery
from memory.engines.search.late_interaction import Matches, match_words
from memory.engines.search.rows import Row

REACH = 2  # rows to either side
BEST = 20  # candidates that are looked at again
STEP_LOSS = 0.05  # off the match of a word, for each row that lies between
SIMILAR = 0.75  # of the best match of a word: a text with as much has the word, or means it


class Near(NamedTuple):
    """Row that stands around another."""

    rid: int
    distance: int
    content_hash: str


Windows = Mapping[int, Sequence[Near]]
FindWindows = Callable[[Sequence[int]], Windows]


def find_windows(rows: VersionedQuerySet, rids: Sequence[int]) -> Windows:
    """Return the rows around each of these in its session, of those that the rows include."""
    found = rows.read_neighbours(rids, "session_id", ("uid", "rid", "content_hash"), (REACH, REACH))
    return {
        rid: [Near(at, abs(distance), content_hash) for distance, (_, at, content_hash) in near.items()]
        for rid, near in found.items()
    }


def rate_windows(
    rows: Mapping[int, Row],
    scores: np.ndarray,
    words: np.ndarray,
    matches: Matches,
    around: FindWindows,
    question: PreparedQuery,
    recipe: ranking.Recipe,
    project_id: UUID,
) -> tuple[np.ndarray, dict[int, float], dict[int, float]]:
    """Return how well the words of the question stand in each row and around the best: divided by the best,
    and as it is, of rows with codes, with what is around and without.

    ``scores`` decide which are the best, ``words`` are the matched words of each row by itself. The rarer a
    word is among the candidates, the more it counts.
    """
    known = {rid for rid, row in rows.items() if row.session_id and rid in matches.places}
    best = [rid for rid in order_rows(rows, scores)[:BEST] if rid in known]
    near = around(best) if best else {}
    lent = match_near(near, matches, question, recipe, project_id)
    weights = weigh_words(matches.rows)
    rated = lend_words(matches, near, lent) @ weights / weights.sum()
    found = dict(zip(matches.places, rated.tolist(), strict=True))
    bare = dict(zip(matches.places, (matches.rows @ weights / weights.sum()).tolist(), strict=True))
    own = dict(zip(rows, words.tolist(), strict=True))  # of a text without codes
    return np.array([*({**own, **ranking.normalise_scores(found)}.values())]), found, bare


def order_rows(rows: Mapping[int, Row], scores: np.ndarray) -> list[int]:
    """Return row ids, best first; ties by id, which is by age."""
    by_rid = dict(zip(rows, scores.tolist(), strict=True))
    return sorted(rows, key=lambda rid: (-by_rid[rid], rows[rid].uid))


def match_near(
    near: Windows, matches: Matches, question: PreparedQuery, recipe: ranking.Recipe, project_id: UUID
) -> dict[int, np.ndarray]:
    """Return the matches of the rows around others, less what their lengths take off again: a long one has
    more words to lend by chance.
    """
    hashes = {one.rid: one.content_hash for batch in near.values() for one in batch}
    new = {rid: value for rid, value in hashes.items() if rid not in matches.places}
    known, others = matches, match_words(new, question, project_id).take_off(recipe.length_allowance)
    lent: dict[int, np.ndarray] = {}
    for batch in (known, others):
        lent |= zip(batch.places, batch.take_off(recipe.length_allowance).rows, strict=True)
    return lent


def lend_words(matches: Matches, near: Windows, lent: Mapping[int, np.ndarray]) -> np.ndarray:
    """Return the matches of the rows, of each word the best that the row or one around it has."""
    joined = matches.rows.copy()
    for rid, batch in near.items():
        own = joined[matches.places[rid]]
        for one in batch:
            if one.rid in lent:
                np.maximum(own, lent[one.rid] - STEP_LOSS * one.distance, out=own)
    return joined


def weigh_words(rows: np.ndarray) -> np.ndarray:
    """Return the weight of each word: the fewer of the candidates match it well, the more."""
    having = (rows >= SIMILAR * rows.max(axis=0)).sum(axis=0)
    weights: np.ndarray = np.log((len(rows) + 1) / (np.minimum(having, len(rows)) + 0.5))
    return np.maximum(weights, 0.01)

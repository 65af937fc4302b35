"""Learned mix: what a candidate's neighbours, session and speaker add to its own signals."""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from memory import ranking
from memory.engines.search.answer_boost import share_answers
from memory.engines.search.candidates import PreparedQuery
from memory.engines.search.rows import Row
from memory.engines.search.speakers import find_named, name_speaker

BEST_OF_SESSION = 3  # candidates of which the mean is the level of their session


def add_signals(
    rows: Mapping[int, Row],
    parts: ranking.Columns,
    base: np.ndarray,
    answers: Mapping[int, int],
    question: PreparedQuery,
    recipe: ranking.Recipe,
) -> None:
    """Add to the parts the signals of the learned mix that come from several rows.

    ``base`` is the weighted sum of the parts so far.
    """
    by_rid = dict(zip(rows, base.tolist(), strict=True))
    speakers = {rid: name_speaker(row) for rid, row in rows.items()}
    named = find_named(set(speakers.values()), question.text)
    if named.issuperset(speakers.values()):  # it tells none from another
        named = frozenset()
    levels = rate_sessions(rows, by_rid)
    shares = share_answers(by_rid, answers, speakers, recipe)
    parts["base"] = base
    parts["session"] = np.array([levels[rid] for rid in rows])
    parts["reply"] = np.array([shares.get(rid, 0.0) for rid in rows])
    parts["speaker"] = np.array([float(speakers[rid] in named) for rid in rows])


def rate_sessions(rows: Mapping[int, Row], base: Mapping[int, float]) -> dict[int, float]:
    """Return the level of each row's session, divided by the best; a row without one stands alone."""
    scores: dict[str | int, list[float]] = defaultdict(list)
    for rid, score in base.items():
        scores[rows[rid].session_id or rid].append(score)
    levels = {key: _mean_best(values) for key, values in scores.items()}
    best = max(levels.values(), default=0.0) or 1.0
    return {rid: levels[rows[rid].session_id or rid] / best for rid in base}


def _mean_best(values: list[float]) -> float:
    best = sorted(values)[-BEST_OF_SESSION:]
    return sum(best) / len(best)

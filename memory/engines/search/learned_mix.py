"""Learned mix: what a candidate's neighbours, session and speaker add to its own signals."""

from collections import defaultdict
from collections.abc import Mapping

from memory import ranking
from memory.engines.search.answer_boost import share_answers
from memory.engines.search.candidates import PreparedQuery
from memory.engines.search.rows import Row
from memory.engines.search.speakers import find_named, name_speaker
from memory.ranking_mix import load_mix

BEST_OF_SESSION = 3  # candidates of which the mean is the level of their session

Parts = dict[int, dict[str, float]]


def mix_signals(
    rows: Mapping[int, Row],
    parts: Parts,
    used: Mapping[str, float],
    answers: Mapping[int, int],
    question: PreparedQuery,
    recipe: ranking.Recipe,
) -> dict[int, float]:
    """Return the relevance of each row by the learned mix; add its other signals to the parts."""
    base = {rid: ranking.weigh_parts(used, own) for rid, own in parts.items()}
    speakers = {rid: name_speaker(row) for rid, row in rows.items()}
    named = find_named(set(speakers.values()), question.text)
    if named.issuperset(speakers.values()):  # it tells none from another
        named = frozenset()
    levels = rate_sessions(rows, base)
    shares = share_answers(base, answers, speakers, recipe)
    for rid, own in parts.items():
        own["base"], own["session"] = base[rid], levels[rid]
        own["reply"] = shares.get(rid, 0.0)
        own["speaker"] = float(speakers[rid] in named)
    mix = load_mix()
    rids = list(parts)
    found = mix.score([parts[rid] for rid in rids])
    return dict(zip(rids, found, strict=True))


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

"""Scoring of candidates of any kind: raw scores in, one ranking with every part of a score out."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import numpy as np

from memory import ranking
from memory.engines.search.answer_boost import share_answers
from memory.engines.search.candidates import Candidates, PreparedQuery
from memory.engines.search.fact_rows import Row
from memory.engines.search.speakers import find_named, name_speaker, stands_in
from memory.engines.search.windows import FindWindows, Matches, match_words, rate_windows
from memory.ranking_mix import load_mix
from memory.word_forms import fold_text

BEST_OF_SESSION = 3  # candidates of which the mean is the level of their session
EDGES = re.compile(r"^\W+|\W+$")


@dataclass(slots=True)
class Scored:
    """Row with its score; its signals stand in columns of all rows, but for those that it alone has."""

    row: Row
    score: float
    columns: ranking.Columns
    at: int  # position of the row in the columns
    cosine: float | None = None  # undivided, as is the match of its words
    words: float | None = None  # with its window, where that was looked at
    bare: float | None = None  # by its own words, rare ones counting more
    added: dict[str, float] = field(default_factory=dict)

    @property
    def signals(self) -> dict[str, float]:
        return {name: float(column[self.at]) for name, column in self.columns.items()} | self.added


def score_all(
    rows: Mapping[int, Row],
    raw: Candidates,
    question: PreparedQuery,
    recipe: ranking.Recipe,
    project_id: UUID,
    now: datetime,
    answers: Mapping[int, int],
    around: FindWindows,
) -> tuple[dict[int, Scored], set[str]]:
    """Return the score of each row by its id, and the signals used.

    ``answers`` maps the row id of an answer to that of its question; ``around`` finds the rows around others.
    """
    cosines = ranking.take_floor_off(raw.vector, question.floor)
    parts, used, matches = score_parts(rows, raw.keyword, cosines, question, recipe, project_id)
    relevance = ranking.weigh_parts(used, parts)
    matched, is_mixed = matches.list_means(), recipe.mix and "words" in used
    bare: Mapping[int, float] = {}
    if is_mixed:
        add_signals(rows, parts, relevance, answers, question, recipe)
        raw_mix = load_mix().add_up(parts)
        near = (matches, around, question, recipe, project_id)
        parts["window"], matched, bare = rate_windows(rows, raw_mix, parts["words"], *near)
        parts["mix"] = relevance = load_mix().score(parts, raw_mix)
        if (exact := find_exact(rows, question.text)).any() and not exact.all():
            parts["exact"] = exact.astype(float)
            relevance = ranking.raise_exact(relevance, exact)
    scores, factors = ranking.score_hits(recipe, relevance, [row.standing for row in rows.values()], now)
    columns = {**parts, **factors}
    hits = {
        rid: Scored(row, score, columns, at, cosines.get(rid), matched.get(rid), bare.get(rid))
        for at, ((rid, row), score) in enumerate(zip(rows.items(), scores.tolist(), strict=True))
    }
    if recipe.replies and not is_mixed:
        boost_answers(hits, answers, recipe)
    return hits, raw.used | ({"words"} if "words" in used else set())


def score_parts(
    rows: Mapping[int, Row],
    keywords: Mapping[int, float],
    cosines: Mapping[int, float],
    question: PreparedQuery,
    recipe: ranking.Recipe,
    project_id: UUID,
) -> tuple[ranking.Columns, dict[str, float], Matches]:
    """Return the normalised scores of the rows, the weights of the arms that found anything, and the matches
    of the words.
    """
    lengths = {rid: len(row.text.split()) for rid, row in rows.items()}
    keyword = ranking.normalise_scores(ranking.length_normalise(keywords, lengths))
    vector = ranking.normalise_scores(cosines)
    if cosines and recipe.mix:  # a text that waits for its vector is found by its words meanwhile
        vector = {**keyword, **vector}
    hashes = {rid: row.content_hash for rid, row in rows.items()} if cosines and recipe.words else {}
    matches = match_words(hashes, question, project_id).take_off(recipe.length_allowance)
    words = ranking.normalise_scores(matches.list_means())
    arms = {"keyword": bool(keywords), "vector": bool(cosines), "words": bool(words)}
    parts = {name: take_scores(rows, found) for name, found in (("keyword", keyword), ("vector", vector))}
    if words:  # a text without codes: the similarity of the whole text instead
        parts["words"] = take_scores(rows, {**vector, **words})
        if recipe.mix:
            least = ranking.normalise_scores(matches.list_least())
            parts["least_word"] = take_scores(rows, {**vector, **least})
            parts["brevity"] = 0.5 ** ranking.count_doublings(lengths.values())
    used = ranking.arm_weights(recipe, arms)
    return parts, {name: weight for name, weight in used.items() if arms[name]}, matches


def take_scores(rows: Iterable[int], scores: Mapping[int, float]) -> np.ndarray:
    """Return the score of each row, 0 where it has none."""
    return np.array([scores.get(rid, 0.0) for rid in rows], dtype=float)


def boost_answers(hits: Mapping[int, Scored], answers: Mapping[int, int], recipe: ranking.Recipe) -> None:
    """Raise each answer's score to its share of its question's; equal ones sort after it, being younger."""
    scores = {rid: hit.score for rid, hit in hits.items()}
    speakers = {rid: name_speaker(hit.row) for rid, hit in hits.items()}
    for after, share in share_answers(scores, answers, speakers, recipe).items():
        if share > scores[after]:
            hits[after].score = hits[after].added["reply"] = share


def in_order(hits: Mapping[int, Scored]) -> list[Scored]:
    """Sort hits by score, best first; ties by id, which is by age."""
    return sorted(hits.values(), key=lambda hit: (-hit.score, hit.row.uid))


def collapse_hits(hits: Sequence[Scored], shown: dict[int, list]) -> list[Scored]:
    """Merge hits with the same text at the best rank; merge their places in ``shown`` as well."""
    best: dict[str, Scored] = {}
    for hit in hits:
        kept = best.setdefault(hit.row.same, hit)
        positions = shown[kept.row.rid]
        positions += [position for position in shown[hit.row.rid] if position not in positions]
    return list(best.values())


# ---- the learned mix ---------------------------------------------------------------------------------


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
    scores: dict[str, list[float]] = defaultdict(list)
    for rid, score in base.items():
        if session := rows[rid].session_id:
            scores[session].append(score)
    means = {session: _mean_best(values) for session, values in scores.items()}
    levels = {rid: means.get(rows[rid].session_id, score) for rid, score in base.items()}
    best = max(levels.values(), default=0.0) or 1.0
    return {rid: level / best for rid, level in levels.items()}


def _mean_best(values: list[float]) -> float:
    best = sorted(values)[-BEST_OF_SESSION:]
    return sum(best) / len(best)


# ---- single words ------------------------------------------------------------------------------------


def find_exact(rows: Mapping[int, Row], question: str) -> np.ndarray:
    """Return which rows have the only word of a question in just this form; none where it has several."""
    word = fold_text(EDGES.sub("", question))
    if not word or len(word.split()) > 1:
        return np.zeros(len(rows), dtype=bool)
    return np.array(
        [word in (text := fold_text(row.text)) and stands_in(word, text) for row in rows.values()]
    )

"""Scoring of candidates of any kind: raw scores in, one ranking with every part of a score out."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np

from memory import ranking
from memory.engines.search.answer_boost import share_answers
from memory.engines.search.candidates import Candidates, PreparedQuery
from memory.engines.search.fact_rows import Row
from memory.engines.search.speakers import find_named, name_speaker, stands_in
from memory.engines.search.windows import FindWindows, Matches, match_words, no_matches, rate_windows
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
    cosine: float | None  # undivided, as is the match of its words
    words: float | None  # with its window, where that was looked at
    bare: float | None  # by its own words, rare ones counting more
    is_named: bool  # whether the question names who says it
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
    inputs: ranking.RankingInputs,
    answers: Mapping[int, int],
    around: FindWindows,
) -> tuple[dict[int, Scored], set[str]]:
    """Return the score of each row by its id, and the signals used.

    ``answers`` maps the row id of an answer to that of its question; ``around`` finds the rows around others.
    """
    every = [*rows.values()]
    cosines = ranking.take_floor_off(list_scores(rows, raw.vector), question.floor)
    parts, used, matches = score_parts(rows, raw.keyword, cosines, question, recipe, project_id)
    relevance = ranking.weigh_parts(used, parts)
    matched, is_mixed = matches.list_means(), recipe.mix and "words" in used
    bare = np.full(len(every), np.nan)
    if is_mixed:
        add_signals(rows, parts, relevance, answers, question, recipe)
        raw_mix = load_mix().add_up(parts)
        near = (matches, around, question, recipe, project_id)
        parts["window"], matched, bare = rate_windows(every, raw_mix, parts["words"], *near)
        parts["mix"] = relevance = load_mix().score(parts, raw_mix)
        if (exact := find_exact(every, question.text)).any() and not exact.all():
            parts["exact"] = exact.astype(float)
            relevance = ranking.raise_exact(relevance, exact)
    scores, factors = ranking.score_hits(recipe, relevance, inputs)
    columns = {**parts, **factors}
    measured = map(list_known, (cosines[: len(every)], matched, bare))
    named = parts.get("speaker", np.zeros(len(every))) > 0
    hits = {
        row.rid: Scored(row, score, columns, at, *others)
        for at, (row, score, *others) in enumerate(
            zip(every, scores.tolist(), *measured, named.tolist(), strict=True)
        )
    }
    if recipe.replies and not is_mixed:
        boost_answers(hits, answers, recipe)
    return hits, raw.used | ({"words"} if "words" in used else set())


def score_parts(
    rows: Mapping[int, Row],
    keywords: Mapping[int, float],
    cosines: np.ndarray,
    question: PreparedQuery,
    recipe: ranking.Recipe,
    project_id: UUID,
) -> tuple[ranking.Columns, dict[str, float], Matches]:
    """Return the normalised scores of the rows, the weights of the arms that found anything, and the matches
    of the words.
    """
    lengths = np.array([len(row.text.split()) for row in rows.values()], dtype=float)
    bm25 = list_scores(rows, keywords)
    own = np.append(lengths, np.zeros(len(bm25) - len(lengths)))
    keyword = ranking.normalise_scores(ranking.length_normalise(bm25, own))[: len(rows)]
    vector = ranking.normalise_scores(cosines)[: len(rows)]
    has_cosines = not np.isnan(cosines).all()
    if has_cosines and recipe.mix:  # a text that waits for its vector is found by its words meanwhile
        vector = fill_gaps(vector, keyword)
    matches = no_matches(len(rows))
    if has_cosines and recipe.words:
        found = match_words([row.content_hash for row in rows.values()], question, project_id)
        matches = found.take_off(recipe.length_allowance)
    arms = {"keyword": bool(keywords), "vector": has_cosines, "words": bool(matches.places)}
    parts = {"keyword": fill_gaps(keyword, 0.0), "vector": fill_gaps(vector, 0.0)}
    if matches.places:  # a text without codes: the similarity of the whole text instead
        parts["words"] = fill_gaps(ranking.normalise_scores(matches.list_means()), parts["vector"])
        if recipe.mix:
            least = ranking.normalise_scores(matches.list_least())
            parts["least_word"] = fill_gaps(least, parts["vector"])
            parts["brevity"] = 0.5 ** ranking.count_doublings(lengths)
    used = ranking.arm_weights(recipe, arms)
    return parts, {name: weight for name, weight in used.items() if arms[name]}, matches


def list_scores(rows: Mapping[int, Row], scores: Mapping[int, float]) -> np.ndarray:
    """Return the score of each row, nan where it has none, and then those of hits that are no rows: the best
    of all is what each is divided by.
    """
    others = [score for rid, score in scores.items() if rid not in rows]
    return np.array([*(scores.get(rid, np.nan) for rid in rows), *others], dtype=float)


def list_known(scores: np.ndarray) -> list[float | None]:
    """Return the scores, None where there are none."""
    return [score if score == score else None for score in scores.tolist()]  # nan is not equal to itself


def fill_gaps(scores: np.ndarray, instead: np.ndarray | float) -> np.ndarray:
    """Return the scores, and what is given instead where there are none."""
    return np.where(np.isnan(scores), instead, scores)


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
    speakers = {rid: name_speaker(row) for rid, row in rows.items()}
    known = set(speakers.values())
    named = find_named(known, question.text)
    parts["base"] = base
    parts["session"] = rate_sessions([row.session_id for row in rows.values()], base)
    parts["reply"], parts["speaker"] = np.zeros(len(rows)), np.zeros(len(rows))
    if answers:
        shares = share_answers(dict(zip(rows, base.tolist(), strict=True)), answers, speakers, recipe)
        parts["reply"] = np.array([shares.get(rid, 0.0) for rid in rows])
    if named and known - named:  # else it tells none from another
        parts["speaker"] = np.array([float(speaker in named) for speaker in speakers.values()])


def rate_sessions(sessions: Sequence[str], base: np.ndarray) -> np.ndarray:
    """Return the level of each row's session, divided by the best; a row without one stands alone."""
    places: dict[str, list[int]] = defaultdict(list)
    for at, session in enumerate(sessions):
        if session:
            places[session].append(at)
    levels = base.copy()
    for own in places.values():
        levels[own] = _mean_best(base[own].tolist())
    best = levels.max(initial=0.0) or 1.0
    rated: np.ndarray = levels / best
    return rated


def _mean_best(values: list[float]) -> float:
    best = sorted(values)[-BEST_OF_SESSION:]
    return sum(best) / len(best)


# ---- single words ------------------------------------------------------------------------------------


def find_exact(rows: Sequence[Row], question: str) -> np.ndarray:
    """Return which rows have the only word of a question in just this form; none where it has several."""
    word = fold_text(EDGES.sub("", question))
    if not word or len(word.split()) > 1:
        return np.zeros(len(rows), dtype=bool)
    return np.array([word in (text := fold_text(row.text)) and stands_in(word, text) for row in rows])

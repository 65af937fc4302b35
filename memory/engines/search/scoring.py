"""Scoring of candidates of any kind: raw scores in, one ranking with every part of a score out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np

from memory import ranking
from memory.engines.search.answer_boost import share_answers
from memory.engines.search.candidates import Candidates, PreparedQuery
from memory.engines.search.late_interaction import match_words
from memory.engines.search.learned_mix import Parts, mix_signals
from memory.engines.search.rows import Row
from memory.engines.search.speakers import name_speaker


@dataclass(slots=True)
class Scored:
    row: Row
    score: float
    signals: dict[str, float]
    cosine: float | None = None  # undivided, as is the match of its words
    words: float | None = None


def score_all(
    rows: Mapping[int, Row],
    raw: Candidates,
    question: PreparedQuery,
    recipe: ranking.Recipe,
    project_id: UUID,
    now: datetime,
    answers: Mapping[int, int],
) -> tuple[dict[int, Scored], set[str]]:
    """Return the score of each row by its id, and the signals used.

    ``answers`` maps the row id of an answer to that of its question.
    """
    cosines = ranking.take_floor_off(raw.vector, question.floor)
    parts, used, matches = score_parts(rows, raw.keyword, cosines, question, recipe, project_id)
    mixed: Mapping[int, float] = {}
    if recipe.mix and "words" in used:
        mixed = mix_signals(rows, parts, used, answers, question, recipe)
    hits: dict[int, Scored] = {}
    for rid, row in rows.items():
        scored = ranking.score_hit(recipe, used, parts[rid], row.standing, now, mixed.get(rid))
        hits[rid] = Scored(row, scored.value, scored.signals, cosines.get(rid), matches.get(rid))
    if recipe.replies and not mixed:
        boost_answers(hits, answers, recipe)
    return hits, raw.used | ({"words"} if "words" in used else set())


def score_parts(
    rows: Mapping[int, Row],
    keywords: Mapping[int, float],
    cosines: Mapping[int, float],
    question: PreparedQuery,
    recipe: ranking.Recipe,
    project_id: UUID,
) -> tuple[Parts, dict[str, float], dict[int, float]]:
    """Return the normalised scores of each row, the weights of the arms that found anything, and the match
    of the words as it was before.
    """
    lengths = {rid: len(row.text.split()) for rid, row in rows.items()}
    keyword = ranking.normalise_scores(ranking.length_normalise(keywords, lengths))
    vector = ranking.normalise_scores(cosines)
    matches: dict[int, float] = {}
    least: dict[int, float] = {}
    if cosines and recipe.words:
        hashes = {rid: row.content_hash for rid, row in rows.items()}
        matches, least = score_words(hashes, lengths, question, recipe, project_id)
    words = ranking.normalise_scores(matches)
    arms = {"keyword": bool(keywords), "vector": bool(cosines), "words": bool(words)}
    parts: Parts = {}
    for rid in rows:
        own = parts[rid] = {"keyword": keyword.get(rid, 0.0), "vector": vector.get(rid, 0.0)}
        if words:  # a text without codes: the similarity of the whole text instead
            own["words"] = words.get(rid, own["vector"])
            if recipe.mix:
                own["least_word"] = least.get(rid, own["vector"])
    used = ranking.arm_weights(recipe, arms)
    return parts, {name: weight for name, weight in used.items() if arms[name]}, matches


def score_words(
    hashes: Mapping[int, str],
    lengths: Mapping[int, int],
    question: PreparedQuery,
    recipe: ranking.Recipe,
    project_id: UUID,
) -> tuple[dict[int, float], dict[int, float]]:
    """Return the match of all words of the question, and that of the least matched one, by row id."""
    best = match_words(hashes, question, project_id)
    if not best:
        return {}, {}
    matches = np.stack(list(best.values()))  # at once: numpy takes longer to be called than to compute
    words, least = {}, {}
    for rid, mean, lowest in zip(
        best, matches.mean(axis=1).tolist(), matches.min(axis=1).tolist(), strict=True
    ):
        discount = ranking.length_discount(lengths[rid], recipe.length_allowance)
        words[rid], least[rid] = mean - discount, lowest - discount
    return words, ranking.normalise_scores(least)


def boost_answers(hits: Mapping[int, Scored], answers: Mapping[int, int], recipe: ranking.Recipe) -> None:
    """Raise each answer's score to its share of its question's; equal ones sort after it, being younger."""
    scores = {rid: hit.score for rid, hit in hits.items()}
    speakers = {rid: name_speaker(hit.row) for rid, hit in hits.items()}
    for after, share in share_answers(scores, answers, speakers, recipe).items():
        if share > scores[after]:
            hits[after].score = hits[after].signals["reply"] = share


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

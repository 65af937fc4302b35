"""Scoring of candidates of any kind: raw scores in, one ranking with every part of a score out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory import ranking
from memory.engines.search.candidates import Candidates, PreparedQuery
from memory.engines.search.late_interaction import word_similarity


@dataclass(slots=True)
class Row:
    """Columns of a candidate for ranking, for any kind of memory."""

    rid: int
    uid: UUID
    text: str
    content_hash: str  # of the text: the key of its vector
    standing: ranking.RankingInputs
    same: str = ""  # equal for rows with the same text
    session_id: str = ""
    kind: str = ""
    repository: str = ""


@dataclass(slots=True)
class Scored:
    row: Row
    score: float
    signals: dict[str, float]


def score_all(
    rows: Mapping[int, Row],
    raw: Candidates,
    question: PreparedQuery,
    recipe: ranking.Recipe,
    project_id: UUID,
    now: datetime,
) -> tuple[dict[int, Scored], set[str]]:
    """Return the score of each row by its id, and the signals used."""
    words: dict[int, float] = {}
    lengths = {rid: len(row.text.split()) for rid, row in rows.items()}
    keyword, vector = (
        ranking.normalise_scores(ranking.length_normalise(raw.keyword, lengths)),
        ranking.normalise_scores(raw.vector),
    )
    if "vector" in raw.used and recipe.words:
        hashes = {rid: row.content_hash for rid, row in rows.items()}
        words = ranking.normalise_scores(word_similarity(hashes, question, project_id))
    arms = {"keyword": bool(raw.keyword), "vector": bool(raw.vector), "words": bool(words)}
    used = ranking.arm_weights(recipe, arms)
    hits: dict[int, Scored] = {}
    for rid, row in rows.items():
        parts = {"keyword": keyword.get(rid, 0.0), "vector": vector.get(rid, 0.0)}
        if words:  # a text without codes: the similarity of the whole text instead
            parts["words"] = words.get(rid, parts["vector"])
        scored = ranking.score_hit(recipe, used, parts, row.standing, now)
        hits[rid] = Scored(row, scored.value, scored.signals)
    return hits, raw.used | ({"words"} if words else set())


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

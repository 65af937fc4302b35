"""Candidates of any kind become hits: raw scores in, one ranking with every part of a score out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory import ranking
from memory.engines.candidates import Candidates, Question
from memory.engines.late import word_similarity


@dataclass(slots=True)
class Row:
    """What ranking looks at in a candidate, whatever kind of memory it is."""

    rid: int
    uid: UUID
    text: str
    content_hash: str  # of the text: the key of its vector
    standing: ranking.Standing
    same: str = ""  # equal for rows that say the same
    session_id: str = ""
    kind: str = ""


@dataclass(slots=True)
class Scored:
    row: Row
    score: float
    signals: dict[str, float]


def score_all(
    rows: Mapping[int, Row], raw: Candidates, question: Question, recipe: ranking.Recipe, project_id: UUID,
    now: datetime,
) -> tuple[dict[int, Scored], set[str]]:  # fmt: skip
    """The score of each row by its id, and the signals that took part."""
    words: dict[int, float] = {}
    lengths = {rid: len(row.text.split()) for rid, row in rows.items()}
    keyword, vector = ranking.shares(ranking.relengthed(raw.keyword, lengths)), ranking.shares(raw.vector)
    if "vector" in raw.used and recipe.words:
        hashes = {rid: row.content_hash for rid, row in rows.items()}
        words = ranking.shares(word_similarity(hashes, question, project_id))
    arms = {"keyword": bool(raw.keyword), "vector": bool(raw.vector), "words": bool(words)}
    used = ranking.weights(recipe, arms)
    hits: dict[int, Scored] = {}
    for rid, row in rows.items():
        parts = {"keyword": keyword.get(rid, 0.0), "vector": vector.get(rid, 0.0)}
        if words:  # a text without codes: its whole vector stands in
            parts["words"] = words.get(rid, parts["vector"])
        scored = ranking.score(recipe, used, parts, row.standing, now)
        hits[rid] = Scored(row, scored.value, scored.signals)
    return hits, raw.used | ({"words"} if words else set())


def in_order(hits: Mapping[int, Scored]) -> list[Scored]:
    """The best first; ties by id, which is by age."""
    return sorted(hits.values(), key=lambda hit: (-hit.score, hit.row.uid))


def collapse(hits: Sequence[Scored], shown: dict[int, list]) -> list[Scored]:
    """One hit for each text, at its best place. ``shown``, where each row is seen, is joined likewise."""
    best: dict[str, Scored] = {}
    for hit in hits:
        kept = best.setdefault(hit.row.same, hit)
        places = shown[kept.row.rid]
        places += [place for place in shown[hit.row.rid] if place not in places]
    return list(best.values())

"""How hits are scored: plain arithmetic on plain values, and the named recipes.

score = (w_k · keyword + w_v · vector + w_w · words) × recency × boosts. Each part is between 0 and 1 or
near 1, and goes out with the hit, so that a person can see why.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple


@dataclass(frozen=True)
class Recipe:
    """The weights of a mix. ``half_life_days`` 0 turns recency off; ``pool`` is the rows asked per arm."""

    name: str
    keyword: float
    vector: float
    words: float = 0.0
    replies: bool = False  # whether an answer shares the score of the question before it
    following: float = 0.0  # the share of the next message's score that a message gets
    half_life_days: float = 30.0
    pool: int = 50
    verified: float = 1.05
    p1: float = 1.05
    p2: float = 1.02
    confidence: float = 0.1  # × (0.9 + 0.1 · c): the share that confidence decides
    confirmation: float = 0.02  # × (1 + 0.02 · n), n at most 5


RECIPES: Mapping[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe("seed", 0.3, 0.7),
        Recipe("hybrid", 0.4, 0.6),
        Recipe("words", 0.2, 0.3, words=0.5),
        Recipe("default", 0.2, 0.3, words=0.5, replies=True, following=0.05),
        Recipe("timeless", 0.2, 0.3, words=0.5, replies=True, following=0.05, half_life_days=0),
    )
}


class Standing(NamedTuple):
    """What a recipe looks at in a fact, beside its two scores."""

    created_at: datetime
    verified: bool
    priority: str
    confidence: float
    confirmations: int
    age_cycles: int | None = None


class Score(NamedTuple):
    value: float
    signals: dict[str, float]


def shares(scores: Mapping[int, float]) -> dict[int, float]:
    """Each score divided by the best, so that the best is 1; nothing is negative."""
    best = max(scores.values(), default=0.0)
    if best <= 0:
        return dict.fromkeys(scores, 0.0)
    return {key: max(0.0, value / best) for key, value in scores.items()}


def relengthed(scores: Mapping[int, float], lengths: Mapping[int, int]) -> dict[int, float]:
    """BM25 scores as k1 = 0.9 and b = 0.4 would give them, the usual choice for short passages.

    The index has k1 = 1.2 and b = 0.75 built in. ``lengths`` are the words of each candidate; their mean
    stands in for the mean of all texts. Exact for words that occur once in a text (Robertson and
    Zaragoza, The Probabilistic Relevance Framework, 2009).
    """
    if not scores:
        return {}
    known = [lengths.get(key, 0) for key in scores]
    mean = max(sum(known) / len(known), 1.0)
    return {key: value * _length_factor(lengths.get(key, 0) / mean) for key, value in scores.items()}


def _length_factor(relative: float) -> float:
    had = 2.2 / (1 + 1.2 * (0.25 + 0.75 * relative))
    wanted = 1.9 / (1 + 0.9 * (0.6 + 0.4 * relative))
    return wanted / had


def weights(recipe: Recipe, arms: Mapping[str, bool]) -> dict[str, float]:
    """The weights of a query, which add up to 1: an arm that found nothing leaves its share to the others."""
    given = {name: getattr(recipe, name) if found else 0.0 for name, found in arms.items()}
    total = sum(given.values())
    return {name: value / total if total else 0.0 for name, value in given.items()}


def tokens(text: str) -> int:
    """About how many tokens a text costs a prompt: four characters each, one for each of a dense script."""
    dense = sum(char > "\u2e7f" for char in text)
    return dense + -(-(len(text) - dense) // 4)


def line(essence: str) -> str:
    """A fact's line for a prompt: one line, whatever its essence holds."""
    return f"- {' '.join(essence.split())}"


def cost(essence: str) -> int:
    """How many tokens that line costs a prompt, with its end."""
    return tokens(f"{line(essence)}\n")


def recency(age: float, half_life: float) -> float:
    """From 1 (new) down to 0.5 (old): 0.5 + 0.5 · 0.5^(age / half-life). Both in days, or both in cycles."""
    if half_life <= 0:
        return 1.0
    return 0.5 + 0.5 * 0.5 ** (max(0.0, age) / half_life)


def boosts(recipe: Recipe, fact: Standing) -> dict[str, float]:
    """The factors near 1 that a fact's standing gives."""
    priority = {"P1": recipe.p1, "P2": recipe.p2}.get(fact.priority, 1.0)
    return {
        "verification": recipe.verified if fact.verified else 1.0,
        "priority": priority,
        "confidence": 1 - recipe.confidence + recipe.confidence * fact.confidence,
        "confirmations": 1 + recipe.confirmation * min(fact.confirmations, 5),
    }


def score(
    recipe: Recipe, used: Mapping[str, float], parts: Mapping[str, float], fact: Standing, now: datetime
) -> Score:
    """The score of one hit with all its parts; ``parts`` are the shares of the arms in ``used``."""
    days = (now - fact.created_at).total_seconds() / 86_400
    age = days if fact.age_cycles is None else float(fact.age_cycles)
    fresh = recency(age, recipe.half_life_days)
    factors = boosts(recipe, fact)
    value = sum(used[name] * part for name, part in parts.items()) * fresh
    for factor in factors.values():
        value *= factor
    return Score(value, {**parts, "recency": fresh, **factors})


def at_most(kinds: Sequence[bool], limit: int, share: float) -> list[int]:
    """The first ``limit`` positions in order, of which those marked take at most ``share`` of the page."""
    most, taken = int(limit * share), 0
    chosen: list[int] = []
    for position, marked in enumerate(kinds):
        if len(chosen) == limit:
            break
        if marked and taken >= most:
            continue
        taken += marked
        chosen.append(position)
    return chosen

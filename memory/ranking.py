"""Scoring of search hits: pure functions of plain values, and the named recipes.

score = (w_k · keyword + w_v · vector + w_w · words) × recency × boosts; the learned mix of ranking_mix may
take the place of the sum. Each part is between 0 and 1 or near 1 and is returned with the hit, so that its
rank can be explained.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from memory.texts import count_dense

EXACT = 0.25  # what is left of a relevance where rows have the word asked for alone: they begin above it
SHORT_LENGTH = 64  # words of a text up to which its length takes nothing off

Columns = dict[str, np.ndarray]  # of each signal its value for every row, in the order of the rows


@dataclass(frozen=True)
class Recipe:
    """The weights of a ranking.

    ``half_life_days`` 0 turns recency off; ``pool`` is the number of rows per arm.
    """

    name: str
    keyword: float
    vector: float
    words: float = 0.0
    replies: bool = False  # whether an answer shares the score of the question before it
    reply_share: float = 1.0  # of the question's score
    reply_by_other: bool = False  # whether what the one who asked says next is no answer
    length_allowance: float = 0.0  # off the match of a word, for each doubling of a text over 64 words
    mix: bool = False  # whether the learned mix joins the signals, where words were matched
    following: float = 0.0  # the share of the next message's score that a message gets
    half_life_days: float = 30.0
    pool: int = 100  # no less than a page: what is found does not depend on how much is shown
    verified: float = 1.05
    p1: float = 1.05
    p2: float = 1.02
    confidence: float = 0.1  # × (0.9 + 0.1 · c): the share that confidence decides
    confirmation: float = 0.02  # × (1 + 0.02 · n), n at most 5


DEFAULT = Recipe(
    "default",
    keyword=0.2,
    vector=0.3,
    words=0.5,
    replies=True,
    reply_share=0.95,
    reply_by_other=True,
    length_allowance=0.06,
    mix=True,
)
RECIPES: Mapping[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe("seed", 0.3, 0.7),
        Recipe("hybrid", 0.4, 0.6),
        Recipe("words", 0.2, 0.3, words=0.5),
        Recipe("answers", 0.2, 0.3, words=0.5, replies=True, following=0.05),
        DEFAULT,
        replace(DEFAULT, name="timeless", half_life_days=0),
    )
}


class RankingInputs(NamedTuple):
    """The properties of facts that a recipe uses, besides their scores: a column of each."""

    ages: np.ndarray  # in days or in cycles, as is the half-life
    verified: np.ndarray
    priorities: Sequence[str]
    confidence: np.ndarray
    confirmations: np.ndarray


def normalise_scores(scores: np.ndarray) -> np.ndarray:
    """Divide scores by the best, so that the best is 1; negative ones become 0. No score, nan, stays none."""
    best = np.fmax.reduce(scores, initial=0.0)
    found: np.ndarray = np.maximum(scores / best if best > 0 else scores, 0.0)
    return found


def take_floor_off(cosines: np.ndarray, floor: float) -> np.ndarray:
    """Return cosines as if unrelated texts had 0: some models give all texts .7 and more."""
    return (cosines - floor) / (1 - floor) if floor else cosines


def length_normalise(scores: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Rescale BM25 scores to k1 = 0.9 and b = 0.4, the usual choice for short passages.

    The index has k1 = 1.2 and b = 0.75 built in. ``lengths`` are the words of each candidate; their mean
    replaces the mean of all texts. Exact for words that occur once in a text (Robertson and Zaragoza, The
    Probabilistic Relevance Framework, 2009).
    """
    known = lengths[~np.isnan(scores)]
    relative = lengths / max(known.mean() if len(known) else 0.0, 1.0)
    had = 2.2 / (1 + 1.2 * (0.25 + 0.75 * relative))
    requested = 1.9 / (1 + 0.9 * (0.6 + 0.4 * relative))
    found: np.ndarray = scores * (requested / had)
    return found


def arm_weights(recipe: Recipe, arms: Mapping[str, bool]) -> dict[str, float]:
    """Return weights that add up to 1; an arm without hits passes its share to the others."""
    shares = {name: getattr(recipe, name) if found else 0.0 for name, found in arms.items()}
    total = sum(shares.values())
    return {name: value / total if total else 0.0 for name, value in shares.items()}


def count_tokens(text: str) -> int:
    """Estimate a text's tokens in a prompt: one for each dense-script character, one for four others."""
    dense = count_dense(text)
    return dense + -(-(len(text) - dense) // 4)


def prompt_line(essence: str) -> str:
    """Format a fact as one line of a prompt; line breaks in its essence become spaces."""
    return f"- {' '.join(essence.split())}"


def token_cost(essence: str) -> int:
    """Estimate the tokens of a fact's prompt line, with its line end."""
    return count_tokens(f"{prompt_line(essence)}\n")


def recency_factors(ages: np.ndarray, half_life: float) -> np.ndarray:
    """Return 0.5 + 0.5 · 0.5^(age / half-life) of each: 1 when new, 0.5 when old. Both in days, or both in
    cycles.
    """
    if half_life <= 0:
        return np.ones(len(ages))
    factors: np.ndarray = 0.5 + 0.5 * 0.5 ** (np.maximum(ages, 0.0) / half_life)
    return factors


def boost_factors(recipe: Recipe, facts: RankingInputs) -> Columns:
    """Return the factors near 1 for verification, priority, confidence and confirmations of each fact."""
    by_priority = {"P1": recipe.p1, "P2": recipe.p2}
    return {
        "verification": np.where(facts.verified, recipe.verified, 1.0),
        "priority": np.array([by_priority.get(priority, 1.0) for priority in facts.priorities]),
        "confidence": 1 - recipe.confidence + recipe.confidence * facts.confidence,
        "confirmations": 1 + recipe.confirmation * np.minimum(facts.confirmations, 5),
    }


def count_doublings(words: Iterable[int]) -> np.ndarray:
    """Return how often texts of so many words have twice the length of a short one: in a long one more
    matches by chance.
    """
    found: np.ndarray = np.log2(np.maximum(np.fromiter(words, dtype=float) / SHORT_LENGTH, 1.0))
    return found


def weigh_parts(used: Mapping[str, float], parts: Columns) -> np.ndarray:
    """Return the weighted sum of the arms' normalised scores of each row; 0 where no arm found anything."""
    total = np.zeros(len(next(iter(parts.values()))))
    for name, weight in used.items():
        total += weight * parts[name]
    return total


def raise_exact(relevance: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Return the relevance with the exact rows above all others, whatever recency and boosts do to both."""
    raised: np.ndarray = EXACT * relevance + np.where(exact, 1 - EXACT, 0.0)
    return raised


def score_hits(recipe: Recipe, relevance: np.ndarray, facts: RankingInputs) -> tuple[np.ndarray, Columns]:
    """Return the score of each hit, and the factors that its relevance was multiplied by."""
    factors = {
        "recency": recency_factors(facts.ages, recipe.half_life_days),
        **boost_factors(recipe, facts),
    }
    return np.prod([relevance, *factors.values()], axis=0), factors


def cap_share(kinds: Sequence[bool], limit: int, share: float) -> list[int]:
    """Return the first ``limit`` positions in order, of which marked ones fill at most ``share``."""
    max_taken, taken = int(limit * share), 0
    chosen: list[int] = []
    for position, marked in enumerate(kinds):
        if len(chosen) == limit:
            break
        if marked and taken >= max_taken:
            continue
        taken += marked
        chosen.append(position)
    return chosen

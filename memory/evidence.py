"""Evidence: how likely a text answers a question, as an absolute number between 0 and 1.

A score is divided by the best of its search, so that the best hit of any question has nearly 1. Evidence is a
logistic function of what can be compared between questions: the share of the question's words in the text,
the cosine of both, and the match of the words in their context. Decision 0025 says what it can tell.
"""

from math import exp
from typing import NamedTuple

# The least that counts as known where a project says no other, by the model that it was measured with.
MIN_EVIDENCE = {"minilm-l6-int8": 0.05}


class Likeness(NamedTuple):
    """What a question and a text have in common; None where it was not measured."""

    share: float
    cosine: float | None = None
    words: float | None = None
    by_other: bool = False  # the question names who speaks, and it is another


class Weights(NamedTuple):
    share: float
    cosine: float
    words: float
    offset: float
    by_other: float


MEASURED = Weights(1.5, 7.0, 9.0, -8.34, -2.0)  # chosen on chats for development, see decision 0025
WORDS_ALONE = Weights(6.0, 0.0, 0.0, -4.0, -2.0)  # without vectors of words that the weights were fitted to


def rate_evidence(likeness: Likeness) -> float:
    """Return the evidence of a text; it never falls when the likeness grows."""
    share, cosine, words, by_other = likeness
    weights = WORDS_ALONE if cosine is None or words is None else MEASURED
    value = weights.share * share + weights.cosine * (cosine or 0.0) + weights.words * (words or 0.0)
    return 1 / (1 + exp(-(value + weights.offset + weights.by_other * by_other)))

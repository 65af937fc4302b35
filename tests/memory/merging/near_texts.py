"""Texts that nearly say the same, or contradict each other, and the vectors that make them so."""

import numpy as np

from tests.memory.fake_provider import FakeProvider, direction

TOPICS = ("cache", "index")
WORDINGS = (
    "the {} is cleared every night",
    "every night the {} gets cleared",
    "the {} is never cleared every night",
)
NEGATION = "never"
COSINE = 0.95
TOPIC_OF = {wording.format(topic): topic for topic in TOPICS for wording in WORDINGS}
TEXTS = tuple(TOPIC_OF)


def are_near(one: str, two: str) -> bool:
    """Return whether two texts are wordings of one topic."""
    return one != two and one in TOPIC_OF and TOPIC_OF[one] == TOPIC_OF.get(two)


def find_reason(one: str, two: str) -> str:
    """Return the reason for which a merge asks about two near texts."""
    return "contested" if (NEGATION in one) != (NEGATION in two) else "near_duplicate"


def teach(provider: FakeProvider) -> None:
    """Let a provider give the wordings of a topic vectors beside each other."""
    for topic in TOPICS:
        first, *others = (wording.format(topic) for wording in WORDINGS)
        for text in others:
            own = direction(text) - (direction(text) @ direction(first)) * direction(first)
            vector = COSINE * direction(first) + np.sqrt(1 - COSINE**2) * own / np.linalg.norm(own)
            provider.vectors[text] = vector

"""Evidence: how likely a text answers a question, as an absolute number between 0 and 1.

A score is divided by the best of its search, so that the best hit of any question has nearly 1. Evidence is a
logistic function of what can be compared between questions: the share of the question's words in the text,
the cosine of both, the match of the words in their context, and what the question and the memory let expect.
Decision 0025 says what it can tell.
"""

import calendar
import re
from math import exp, log2
from typing import NamedTuple

INCOMPLETE = "What was written last is still being indexed: it is found by its words alone."
# The least that counts as known where a project says no other, by the model that it was measured with.
MIN_EVIDENCE = {"minilm-l6-int8": 0.05}
# English questions, by a word at their begin; what asks for one thing finds it said, or nothing.
ASKS = re.compile(
    r"\W*(?:\w+\W+){0,2}?(?P<word>who|whose|whom|when|where|why|how|what|which|do|does|did|is|are|were|can|could"
    r"|will|would|has|have|had|should|may|might)\b",
    re.IGNORECASE,
)
ONE_THING = frozenset({"who", "whose", "whom", "when", "where", "why", "how"})
OF_ONESELF = re.compile(
    r"(?<!\bdo )(?<!\bcan )(?<!\bshould )(?<!\bcould )\b(?:i|i['’](?:m|ve)|my|mine|me|we|our|us)\b", re.I
)
NAME = re.compile(r"(?<=\w[ ,“\"(])[^\W\d_]\w*(?:[-’'][^\W\d_]\w+)*")
DATES = frozenset(
    word.lower()
    for words in (calendar.month_name, calendar.month_abbr, calendar.day_name, calendar.day_abbr)
    for word in words
)
OTHERS = frozenset({"i", "i’m", "i'm", "i've", "i’ve", "i'd", "i'll"})
FEW = 128  # texts that a search looks at where a memory has more than a few


class Likeness(NamedTuple):
    """What a question and a text have in common; None where it was not measured."""

    share: float
    cosine: float | None = None
    words: float | None = None


class Weights(NamedTuple):
    share: float
    cosine: float
    words: float
    offset: float


MEASURED = Weights(1.5, 7.0, 9.0, -8.34)  # chosen on chats for development, see decision 0025
WORDS_ALONE = Weights(6.0, 0.0, 0.0, -4.0)  # without vectors of words that the weights were fitted to
# Added for a question of one thing, one of oneself, each halving of a small memory, a name that is nowhere.
FOR_ONE_THING, FOR_ONESELF, FOR_FEW, FOR_NO_NAME = -0.8, 1.0, 0.3, -1.5
# Where a question names who speaks, what is above ENOUGH counts little and who says it much: added is for the
# name, and for the share of others among the texts that fit best. With a SHARPNESS of 20 a text whose words
# match less by .035 counts half.
ENOUGH, BEYOND, FOR_NAMED, FOR_OTHERS, SHARPNESS = 0.5, 0.15, 1.4, -5.0, 20.0


class Expectation(NamedTuple):
    """What a question and the whole memory add to the evidence of each text; ``others`` is the share of those
    whom the question does not name, None where it names nobody who speaks.
    """

    added: float = 0.0
    others: float | None = None


NOTHING_EXPECTED = Expectation()


def rate_evidence(likeness: Likeness, expected: Expectation = NOTHING_EXPECTED) -> float:
    """Return the evidence of a text; it never falls when the likeness grows."""
    share, cosine, words = likeness
    is_measured = cosine is not None and words is not None
    weights = MEASURED if is_measured else WORDS_ALONE
    value = weights.share * share + weights.cosine * (cosine or 0.0) + weights.words * (words or 0.0)
    value += weights.offset + expected.added * is_measured
    if is_measured and expected.others is not None:
        value = min(value, ENOUGH) + BEYOND * max(value - ENOUGH, 0.0)
        value += FOR_NAMED + FOR_OTHERS * expected.others
    return 1 / (1 + exp(-value))


def expect_answer(question: str, texts: int) -> float:
    """Return what a kind of question, and how many texts a search had to choose from, add to the evidence."""
    found = ASKS.match(question)
    is_of_one = found is not None and found["word"].lower() in ONE_THING
    is_own = OF_ONESELF.search(question) is not None
    return FOR_ONE_THING * is_of_one + FOR_ONESELF * is_own + FOR_FEW * log2(FEW / min(max(texts, 1), FEW))


def list_names(question: str) -> list[str]:
    """Return the words of an English question that are written as names, without those of dates."""
    if not ASKS.match(question):
        return []
    words = (word for word in NAME.findall(question) if word[0].isupper() and word.lower() not in OTHERS)
    return [word for word in words if word.lower() not in DATES]

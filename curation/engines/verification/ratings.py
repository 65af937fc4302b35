"""Ratings of facts by a heuristic or a judge, their thresholds; how answers of judges are read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from memory.exceptions import ProviderNonsense
from memory.models import Fact, FactAssessment
from memory.patterns import lazy_pattern
from memory.providers.chat import iterate_sources
from memory.redaction import redact_all
from memory.texts import count_dense, make_storable

Status = FactAssessment.Status
DIMENSIONS = ("accuracy", "relevance", "specificity")
VERIFIED_FROM, INVALIDATED_BELOW = 0.6, 0.3  # averages; the second also for the accuracy alone
MAX_REASON = 500  # characters of a judge's reason that are kept
MAX_ANSWER = 100_000  # characters of an answer that are searched for a rating
RELEVANT = frozenset({"bug_fix", "architecture"})
SPECIFIC_WORDS = 20
READ_CHARACTERS = 2000  # hold more words than count
DENSE = lazy_pattern("[\u2e80-\uffff]+")


@dataclass(frozen=True)
class Rating:
    """Scores from 0 to 1 by dimension, and the reasons."""

    scores: Mapping[str, float]
    reasons: Mapping[str, str]

    @property
    def average(self) -> float:
        return round(sum(self.scores.values()) / len(self.scores), 6)  # so that three times 0.6 is 0.6

    @property
    def verdict(self) -> str:
        """Return what the thresholds make of the average; what lacks all support is never verified."""
        if self.average >= VERIFIED_FROM and self.scores["accuracy"] >= INVALIDATED_BELOW:
            return Status.VERIFIED
        return Status.INVALIDATED if self.average < INVALIDATED_BELOW else Status.UNVERIFIED


def rate_by_heuristic(fact: Fact) -> Rating:
    """Rate a fact by its confidence, category and length: little more than a guess."""
    scores = {
        "accuracy": min(1.0, max(0.0, fact.confidence)),
        "relevance": 0.7 if fact.category in RELEVANT else 0.5,
        "specificity": min(1.0, count_words(fact.fact_text) / SPECIFIC_WORDS),
    }
    return Rating(scores, {})


def guess_verdict(fact: Fact) -> str:
    """Return what the heuristic says of a fact: plausible or unverified."""
    return FactAssessment.read_status(rate_by_heuristic(fact).verdict, FactAssessment.Method.HEURISTIC)


def count_words(text: str) -> int:
    """Count the words at the start of a text; two characters of a script without spaces count as one."""
    start = text[:READ_CHARACTERS]
    if start.isascii():
        return len(start.split())
    return len(DENSE.sub(" ", start).split()) + (count_dense(start) + 1) // 2


def combine_votes(votes: Sequence[Rating]) -> Rating:
    """Return the median of each dimension, with a reason of a vote that is nearest to it."""
    names = votes[0].scores
    scores = {name: round(float(median(one.scores[name] for one in votes)), 4) for name in names}
    reasons = {name: find_nearest(votes, name, scores[name]).reasons[name] for name in names}
    return Rating(scores, reasons)


def find_nearest(votes: Sequence[Rating], name: str, score: float) -> Rating:
    return min(votes, key=lambda one: abs(one.scores[name] - score))


# ---- answers of a judge ----------------------------------------------------------------------------


def parse_rating(text: str, shown: str, dimensions: Sequence[str] = DIMENSIONS) -> Rating:
    """Parse the rating in a judge's answer to what it was shown, which may have words around it.

    Raises ProviderNonsense unless there is exactly one, whole and in range: where an answer repeats another
    rating from the text that it was shown, nobody knows which of them is the judge's. One that stands in that
    text is a quotation, and none of the judge's.
    """
    found: dict[str, Rating] = {}
    for source, value in iterate_sources(text[:MAX_ANSWER]):
        if set(dimensions) <= value.keys():
            rating = build_rating(value, dimensions)
            found |= {} if rating in found.values() else {strip_spaces(source): rating}
    if len(found) != 1:
        raise ProviderNonsense(reason="it has several ratings" if found else "it has no whole rating")
    ((source, rating),) = found.items()
    if source in strip_spaces(shown):
        raise ProviderNonsense(reason="it repeats a rating from what it was shown")
    return rating


def strip_spaces(text: str) -> str:
    return "".join(text.split())


def build_rating(value: Mapping[str, Any], dimensions: Sequence[str]) -> Rating:
    """Build a rating from an object. Raises ProviderNonsense for a score that is no number from 0 to 1."""
    parts = {name: read_part(name, value[name]) for name in dimensions}
    return Rating(
        {name: score for name, (score, _) in parts.items()},
        {name: reason for name, (_, reason) in parts.items()},
    )


def read_part(name: str, part: Any) -> tuple[float, str]:
    score, reason = (part.get("score"), part.get("reason")) if isinstance(part, dict) else (part, "")
    if score is None or type(score) not in (int, float) or not 0 <= score <= 1:
        raise ProviderNonsense(reason=f"its {name} is no number from 0 to 1")
    return float(score), clean_reason(reason)


def clean_reason(reason: Any) -> str:
    """Return a reason as it is stored: without secrets, and not too long."""
    return cut_text(redact_all(make_storable(reason.strip()))) if isinstance(reason, str) else ""


def cut_characters(most: int, text: str) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


cut_text = partial(cut_characters, MAX_REASON)

"""Evidence that a prompt needs a text: how near they are, and the words that they share.

Evidence is the cosine plus half of the share of the prompt's words; bench/decisions.py measures both.
"""

from collections.abc import Iterable
from functools import lru_cache

from memory.conf import conf
from memory.db.segmentation import search_phrases
from memory.engines.search.candidates import PreparedQuery
from memory.texts import count_dense
from memory.words import extract_keywords

MIN_PROMPT_EVIDENCE, SHARE_WEIGHT = 0.25, 0.5
# Of the share alone, in scripts without spaces: of their pairs of characters half are no word.
DENSE_WEIGHT = 2.0
MAX_PROMPTS = 16  # whose words are kept


def weigh(question: PreparedQuery, text: str, cosine: float | None) -> float:
    """Return the evidence that a prompt needs a text: how near they are, and the words that they share."""
    share = shared_words(question, text)
    if is_dense(question.text) or is_dense(text):
        return DENSE_WEIGHT * share
    if cosine is None or not is_calibrated():
        return share
    return cosine + SHARE_WEIGHT * share


def is_calibrated() -> bool:
    """Return whether the least evidence was measured with this embedder: each has a scale of its own."""
    return conf().embedder == "minilm"


def is_dense(text: str) -> bool:
    """Return whether a text is written without spaces, which the built-in model does not read."""
    return count_dense(text) * 4 > len(text)


def shared_words(question: PreparedQuery, text: str) -> float:
    """Return the share of the prompt's words that the text has."""
    requested = prompt_words(question)
    return len(requested & split_words(extract_keywords(text))) / len(requested) if requested else 0.0


def prompt_words(question: PreparedQuery) -> frozenset[str]:
    return split_prompt(tuple(question.words))


@lru_cache(maxsize=MAX_PROMPTS)  # one prompt is compared with many texts
def split_prompt(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(split_words(words))


def split_words(words: Iterable[str]) -> set[str]:
    return {phrase for word in words for phrase in search_phrases(word)}

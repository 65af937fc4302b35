"""Boolean-mode patterns of the query's words: any of them, a star marks a prefix."""

import re
from collections.abc import Sequence

from snowballstemmer import stemmer

from memory.db.segmentation import search_phrases

MAX_PATTERNS = 200
MAX_WORD_BYTES = 23  # bytes of a word that the index stores
MIN_STEM_LENGTH = 4  # letters of a stem that is still specific
_WORD = re.compile(r"\w+")
_LATIN = re.compile(r"[a-z]+")
_stem = stemmer("porter").stemWord


def build_pattern(words: Sequence[str]) -> str:
    """Return a pattern for any of the words; "" when no word is left.

    The index has no stemming, so a word is matched by the prefix that all its forms share.
    """
    found = [
        form for word in words for phrase in search_phrases(word.lower()) if (form := phrase_pattern(phrase))
    ]
    return " ".join(list(dict.fromkeys(found))[:MAX_PATTERNS])


def phrase_pattern(phrase: str) -> str:
    """Return the parts of a name in their order, a pair of characters, or the prefix of a word."""
    parts = [part for part in _WORD.findall(phrase) if part.strip("_")]
    if len(parts) == 1:
        return prefix_pattern(parts[0])
    return ("" if phrase[0] > "\u0e00" else ".").join(parts)  # a script without spaces, or a name with dots


def prefix_pattern(word: str) -> str:
    if len(word.encode()) > MAX_WORD_BYTES:
        return truncate_word(word) + "*"
    if not _LATIN.fullmatch(word):
        return word
    stem = _stem(word)
    if stem.endswith("i"):  # "deploi" of deploying, "citi" of cities, which is no prefix of "city"
        stem = word[: len(stem)] if word[len(stem) - 1] == "y" else stem[:-1]
    return stem + "*" if len(stem) >= MIN_STEM_LENGTH and word.startswith(stem) else word


def truncate_word(word: str) -> str:
    return word.encode()[:MAX_WORD_BYTES].decode(errors="ignore")

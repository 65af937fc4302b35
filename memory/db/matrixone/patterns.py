"""Words as a pattern of boolean mode: any of them, and a word with a star is how one may begin."""

import re
from collections.abc import Sequence

from snowballstemmer import stemmer

from memory.db.words import phrases

MOST = 200
LONGEST = 23  # bytes of a word that the index keeps
SHORTEST = 4  # letters of a stem that still says something
_WORD = re.compile(r"\w+")
_LATIN = re.compile(r"[a-z]+")
_stem = stemmer("porter").stemWord


def pattern_of(words: Sequence[str]) -> str:
    """Any of the words, as a pattern; "" where nothing is left to look for.

    The index keeps words as they stand, so a word is looked for by the beginning that all its forms share.
    """
    found = [form for word in words for phrase in phrases(word.lower()) if (form := _form(phrase))]
    return " ".join(list(dict.fromkeys(found))[:MOST])


def _form(phrase: str) -> str:
    """The parts of a name in their order, a pair of characters, or how a word begins."""
    parts = [part for part in _WORD.findall(phrase) if part.strip("_")]
    if len(parts) == 1:
        return _beginning(parts[0])
    return ("" if phrase[0] > "\u0e00" else ".").join(parts)  # a script without spaces, or a name with dots


def _beginning(word: str) -> str:
    if len(word.encode()) > LONGEST:
        return _cut(word) + "*"
    if not _LATIN.fullmatch(word):
        return word
    stem = _stem(word)
    if stem.endswith("i"):  # "deploi" of deploying, "citi" of cities, with which "city" does not begin
        stem = word[: len(stem)] if word[len(stem) - 1] == "y" else stem[:-1]
    return stem + "*" if len(stem) >= SHORTEST and word.startswith(stem) else word


def _cut(word: str) -> str:
    return word.encode()[:LONGEST].decode(errors="ignore")

"""Whether a text only repeats what memory gave to a session. Pure functions, no database.

The opposite of what was told, another number, name or limit is no echo, however alike the words are.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from memory.engines.statements.claims import is_negated
from memory.engines.statements.restatement import count_qualifiers
from memory.engines.support.similarity import MIN_JACCARD, extract_numbers, list_names
from memory.models.hashes import normalise_text
from memory.words import TOKEN

MIN_CONTAINED_SHARE = 0.6  # share of a text from which one contained in it is equivalent
# Around the text of a line of a context: when it was said, by whom, and what stands before it.
NOTE = re.compile(r"^\s*(?:- |before: |Session before \([^)]*\): )?(.*?)(?: \[[^\[\]]*\])?$")
SENTENCE_END = re.compile(r"[.!?。！？\n]")


class Known(NamedTuple):
    """A text that a session was given, as it is compared."""

    text: str
    plain: str
    words: frozenset[str]


class Spoken:
    """The texts that Day1 gave a session, prepared for many comparisons."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._known = [prepare(NOTE.sub(r"\1", text)) for text in dict.fromkeys(texts)]

    def says(self, text: str) -> bool:
        """Return whether one of the texts equals this one, contains it, or is most of it; claims the same."""
        own = prepare(text)
        return any(echoes(own, known) for known in self._known)


def prepare(text: str) -> Known:
    plain = normalise_text(text).rstrip(" .!。！")
    return Known(text, plain, frozenset(TOKEN.findall(plain)))


def echoes(own: Known, known: Known) -> bool:
    """Return whether a text says what a known one says, in nearly its words."""
    if own.plain in known.plain:
        return own.plain == known.plain or adds_nothing(find_rest(known.plain, own.plain))
    if known.plain in own.plain and len(known.plain) > MIN_CONTAINED_SHARE * len(own.plain):
        return adds_nothing(find_rest(own.plain, known.plain, whole=True))
    shared, every = len(own.words & known.words), len(own.words | known.words)
    return bool(own.words) and shared > MIN_JACCARD * every and claims_same(own.text, known.text)


def find_rest(longer: str, shorter: str, *, whole: bool = False) -> str:
    """Return what a text has beside a part of it, in the part's sentence or in all of it."""
    before, _, after = longer.partition(shorter)
    if not whole:
        before, after = SENTENCE_END.split(before)[-1], SENTENCE_END.split(after)[0]
    return f"{before} {after}"


def adds_nothing(rest: str) -> bool:
    """Return whether a text beside a claim neither denies nor limits it, and counts nothing."""
    return not (is_negated(rest.lower()) or extract_numbers(rest) or count_qualifiers(rest))


def claims_same(one: str, other: str) -> bool:
    """Return whether two texts of the same words deny, count, name and limit the same."""
    one, other = (unicodedata.normalize("NFKC", text) for text in (one, other))
    names, others = list_names(one, other)
    return (
        is_negated(one.lower()) == is_negated(other.lower())
        and sorted(extract_numbers(one)) == sorted(extract_numbers(other))
        and sorted(names) == sorted(others)
        and count_qualifiers(one) == count_qualifiers(other)
    )

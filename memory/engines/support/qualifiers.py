"""Whether two similar texts qualify their claims alike, and say the same of the same. Pure functions.

A vector hardly tells "before" from "after", "only" or "mostly" from nothing, nor who does something to whom.
"""

import re
import unicodedata
from collections import Counter

from memory.engines.support.revision_rules import FILLERS, stem
from memory.engines.support.similarity import CHOOSING
from memory.words import STOP_WORDS, TOKEN

# How far, when and on which condition a claim holds, and that it is only wished or thought of.
QUALIFIERS = frozenset(
    """some most least few only mostly mainly partly partially largely usually often sometimes occasionally
    temporarily provisionally almost nearly possibly probably perhaps maybe might could would should can if
    unless until till before after except excluding when whenever while during from against formerly
    previously later eventually someday tomorrow yesterday default fallback or but wish hope want plan plans
    planned consider considered try tried avoid stop stopped propose proposed suggest suggested""".split()
)
OPENING = re.compile(r"\b(?:from (?:now on|today(?: on)?)|as of (?:now|today))\b", re.I)
PHRASES = re.compile(
    r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bwas )(?<!\bwere )\bused to\b|\bevery(?= \d)", re.I
)
CHINESE_QUALIFIERS = re.compile(
    "曾|差一?点|几乎|可能|也许|或|大概|打算|计划|考虑|建议|尝试|如果|假如|除|只|仅|暂|临时|默认|备用|一些|部分"
    "|有些|多数|大多|主要|偶尔|有时|以前|之前|之后|直到|和|以及"
)
NEUTRAL = (STOP_WORDS | FILLERS | CHOOSING) - QUALIFIERS  # common to all claims
MAX_SHORT_WORDS = 8  # of a statement in which each word counts
PASSIVE = frozenset({"is", "are", "be", "been", "was", "were"})


def qualifies_otherwise(a: str, b: str) -> bool:
    """Return whether one text limits its claim where the other does not, says more, or turns it round."""
    a, b = (OPENING.sub(" ", unicodedata.normalize("NFKC", text)) for text in (a, b))
    one, other = count_qualifiers(a), count_qualifiers(b)
    return one != other or turns_round(a, b) or says_more(a, b) or says_more(b, a)


def count_qualifiers(text: str) -> Counter[str]:
    """Count the words that limit a claim, in English and Chinese; "may" is not the month."""
    words = (word for word in TOKEN.findall(text) if word == "may" or word.casefold() in QUALIFIERS)
    found = [*map(str.casefold, words), *map(str.casefold, PHRASES.findall(text))]
    return Counter(found if text.isascii() else [*found, *CHINESE_QUALIFIERS.findall(text)])


def says_more(a: str, b: str) -> bool:
    """Return whether a short text has the words of another and one more: "the public API", "the API"."""
    one, other = (Counter(list_words(text)) for text in (a, b))
    return len(one) <= MAX_SHORT_WORDS and not other - one and bool(one - other)


def list_words(text: str) -> list[str]:
    """Return the words that tell two claims apart, without endings; ideographs are not told apart."""
    words = (word for word in TOKEN.findall(text.casefold()) if word.isascii())
    return [stem(word) for word in words if word not in NEUTRAL]


def turns_round(a: str, b: str) -> bool:
    """Return whether two texts have the same words in another order: "the parser calls the lexer".

    One may begin with the end of the other ("In staging the parser sleeps"), or be passive.
    """
    one, other = (TOKEN.findall(text.casefold()) for text in (a, b))
    if PASSIVE.isdisjoint(one) != PASSIVE.isdisjoint(other):
        return False
    one, other = ([word for word in words if word not in NEUTRAL] for words in (one, other))
    return sorted(one) == sorted(other) and not is_rotated(one, other)


def is_rotated(one: list[str], other: list[str]) -> bool:
    """Return whether the end of three words and more stands before their beginning, or nothing is moved."""
    starts = range(1, len(one) if len(one) > 2 else 0)
    return one == other or any(one[at:] + one[:at] == other for at in starts)

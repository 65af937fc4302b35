"""Boolean-mode patterns of the query's words: any of them, a star marks a prefix.

The index has the texts as they are written: a folded word is looked for in all ways of writing it.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import islice, product

from snowballstemmer import stemmer

from memory.db.index_tokens import search_phrases
from memory.word_forms import UNSPACED, list_spellings, list_traditional, narrow_kana, widen_letters

MAX_PATTERNS = 200
MAX_SPELLINGS = 24  # of one word
MAX_WORD_BYTES = 23  # bytes of a word that the index stores
MIN_STEM_LENGTH = 4  # letters of a stem that is still specific
_WORD = re.compile(r"\w+")
_LATIN = re.compile(r"[a-z]+")
_OTHER = re.compile(
    "[\u0370-\u06ff]+"
)  # scripts of which the index has whole words; of others, three letters each
_DENSE = re.compile(f"[{UNSPACED}]")
_stem = stemmer("porter").stemWord

Range = tuple[str, bool]  # a word, or with True the beginning of words


def list_phrases(words: Sequence[str]) -> list[str]:
    """Return the phrases that the words are looked for by, without repeats."""
    return list(dict.fromkeys(phrase for word in words for phrase in search_phrases(word)))[:MAX_PATTERNS]


def build_pattern(phrases: Sequence[str], forms: Iterable[str] = ()) -> str:
    """Return a pattern for any of the phrases, and of their known forms; "" when none is left.

    The index has no stemming, so a word is matched by the prefix that its forms share.
    """
    is_dense = any(map(_DENSE.search, phrases))  # who writes so may write Latin letters in their full width
    found = [form for phrase in phrases for form in spell_phrase(phrase, is_dense)]
    starts = tuple(form[:-1] for form in found if form.endswith("*"))
    found += [form for form in forms if _WORD.fullmatch(form) and not form.startswith(starts)]
    return " ".join(list(dict.fromkeys(found))[:MAX_PATTERNS])


def list_ranges(phrase: str) -> list[Range]:
    """Return what words of the index may be forms of a phrase; none for a name of several words."""
    if _LATIN.fullmatch(phrase) and len(phrase) <= MAX_WORD_BYTES:
        prefix = re.sub("[ei]$", "", _stem(phrase))  # "hope" of hoping, "citi" of city
        is_open = len(prefix) > 1 and phrase.startswith(prefix)
        return [(prefix, True) if is_open else (phrase, False)]
    spelled = [form for form in spell_phrase(phrase, is_dense=False) if not re.search("[._]", form)]
    return [(form.rstrip("*"), form.endswith("*") or bool(_DENSE.match(form))) for form in spelled]


def spell_phrase(phrase: str, is_dense: bool) -> list[str]:
    """Return the patterns of a phrase; none for one without a letter."""
    if _OTHER.fullmatch(phrase):  # one letter would be the start of half of all words
        return [
            f"{truncate_word(form)}*"
            for form in islice(list_spellings(phrase), MAX_SPELLINGS)
            if len(phrase) > 1
        ]
    if _DENSE.match(phrase):
        units = phrase.split(" ")
        spelled = [
            "".join(spelling) for spelling in islice(product(*map(list_traditional, units)), MAX_SPELLINGS)
        ]
        return list(dict.fromkeys([*spelled, narrow_kana(spelled[0])]))
    pattern = phrase_pattern(phrase)
    return [form for form in (pattern, widen_letters(phrase) if is_dense else "") if form]


def phrase_pattern(phrase: str) -> str:
    """Return the parts of a name in their order, the prefix of a word, or a picture."""
    parts = [part for part in _WORD.findall(phrase) if part.strip("_")]
    if len(parts) == 1:
        return prefix_pattern(parts[0])
    return ".".join(parts) if phrase.isascii() else phrase  # a word with marks, or a picture


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

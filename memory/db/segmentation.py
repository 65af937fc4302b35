"""Segmentation for an index that splits at spaces: each word in the form that a query looks for."""

import re
from itertools import pairwise
from unicodedata import category

from memory.word_forms import MARKS, OTHER_FORM, PICTURE, fold_text, split_forms

_SIGNS = re.compile(f"{PICTURE}|[{MARKS}]")  # what an index takes for the end of a word
PRIVATE, PRIVATE_LETTERS = 0xE000, 0x1900  # characters of no meaning, which an index takes for letters


def space_characters(text: str) -> str:
    """Return the text for the index: words of other than Latin letters in the form that a query looks for,
    with spaces around each unit of an unspaced script.
    """
    if text.isascii():
        return strip_unstorable(text)
    return OTHER_FORM.sub(lambda run: index_run(run[0]), strip_unstorable(text))


def index_run(run: str) -> str:
    folded = " ".join(form for word in split_forms(fold_text(run)) for form in word)
    return f" {spell_signs(folded)} "


def search_phrases(word: str) -> list[str]:
    """Return phrases that find a folded word: its form, or the overlapping pairs of an unspaced run."""
    if word.isascii():  # as most are: no run of such a script
        return [strip_unstorable(word)] if word else []
    found: list[str] = []
    for forms in split_forms(strip_unstorable(word)):
        found += [f"{a} {b}" for a, b in pairwise(forms)] or forms
    return found


def spell_signs(phrase: str) -> str:
    """Return a phrase in characters that an index takes for letters; marks and pictures are none."""
    return phrase if phrase.isascii() else _SIGNS.sub(lambda sign: spell_sign(sign[0]), phrase)


def spell_sign(sign: str) -> str:
    if "\u0300" <= sign < "\u0370":  # the accents of Latin letters, which the index takes off
        return sign
    if category(sign[0])[0] == "M":
        return chr(PRIVATE + ord(sign) % PRIVATE_LETTERS)
    return "u" + "".join(f"{ord(char):x}" for char in sign) + "q"


def strip_unstorable(text: str) -> str:
    """Replace NULs and remove lone surrogates, which no index can store."""
    text = text.replace("\x00", " ")
    return text if text.isascii() else text.encode("utf-8", "ignore").decode()

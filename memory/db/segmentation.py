"""Segmentation for an index that splits at spaces: unspaced scripts become single characters."""

import re
from itertools import pairwise

# Han, Hiragana, Katakana, Hangul, Thai, Lao, Khmer, Myanmar.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_CHAR = re.compile(f"([{_UNSPACED}])")
_RUN = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")


def space_characters(text: str) -> str:
    """Return the text for the index, with spaces around each character of an unspaced script."""
    return _CHAR.sub(r" \1 ", strip_unstorable(text))


def search_phrases(word: str) -> list[str]:
    """Return phrases that find a word: itself, or the overlapping pairs of an unspaced run."""
    if word.isascii():  # as most are: no run of such a script
        return [strip_unstorable(word)] if word else []
    found: list[str] = []
    for run in _RUN.findall(strip_unstorable(word)):
        if not _CHAR.match(run) or len(run) == 1:
            found.append(run)
        else:
            found += [f"{a} {b}" for a, b in pairwise(run)]
    return found


def strip_unstorable(text: str) -> str:
    """Replace NULs and remove lone surrogates, which no index can store."""
    text = text.replace("\x00", " ")
    return text if text.isascii() else text.encode("utf-8", "ignore").decode()

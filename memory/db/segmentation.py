"""Words for an index that splits at spaces: scripts written without spaces become single characters."""

import re
from itertools import pairwise

# Han, Hiragana, Katakana, Hangul, Thai, Lao, Khmer, Myanmar.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_CHAR = re.compile(f"([{_UNSPACED}])")
_RUN = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")


def spaced(text: str) -> str:
    """The text as it is indexed: a space on both sides of each character of an unspaced script."""
    return _CHAR.sub(r" \1 ", _storable(text))


def phrases(word: str) -> list[str]:
    """What to look for to find a word: itself, or the overlapping pairs of an unspaced run."""
    found: list[str] = []
    for run in _RUN.findall(_storable(word)):
        if not _CHAR.match(run) or len(run) == 1:
            found.append(run)
        else:
            found += [f"{a} {b}" for a, b in pairwise(run)]
    return found


def _storable(text: str) -> str:
    """Without NULs and halves of surrogate pairs, which no index can hold."""
    text = text.replace("\x00", " ")
    return text if text.isascii() else text.encode("utf-8", "ignore").decode()

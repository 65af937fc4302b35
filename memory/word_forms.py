"""Forms of words in every script: what is written in several ways meets in one form.

A text of Thai, Lao, Khmer, Burmese, Chinese, Japanese or Korean is cut into units, a character with its marks
each, of which two in a row stand for a word: no space divides them. Elsewhere endings are taken off.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock

from memory.patterns import lazy_pattern

TRADITIONAL = Path(__file__).parent / "word_tables" / "opencc-traditional.txt"
MAX_CACHED_WORDS = 20_000
MARKED = (
    *range(0x300, 0x2000),
    *range(0x3099, 0x309B),
    *range(0xA800, 0xAC00),
)  # where combining marks stand
# Vowel points of Hebrew and Arabic, the dot of Hindi, which most leave out, and the long line of Arabic.
POINTS = (*range(0x591, 0x5C8), 0x640, *range(0x64B, 0x660), 0x670, 0x93C)
JOINERS = (*range(0x200B, 0x2010), 0x2060, *range(0xFE00, 0xFE10), 0xFEFF, *range(0x1F3FB, 0x1F400))
ACCENTED = (*range(0x370, 0x3FF), *range(0x1F00, 0x2000), 0x401, 0x451)  # Greek, and the Russian yo
LIKE = {"ς": "σ", "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ی": "ي", "ک": "ك"}

UNSPACED = (  # Thai, Lao, Burmese, Khmer, kana, Han, Hangul
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
SPACED = "\u0370-\u0dff\u0f00-\u0fff\u10a0-\u177f\u1800-\u1cff\u1f00-\u1fff\ua500-\uabff"  # no Latin letters
PRESENTED = "\ufb00-\ufdff\ufe70-\ufeff\uff00-\uffef"  # other shapes of letters, half and full width
PICTURES = "\u203c\u2049\u231a-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f1e5\U0001f200-\U0001faff"
PICTURE = f"[\U0001f1e6-\U0001f1ff]{{2}}|[{PICTURES}]"  # a flag is two letters
STACKED = "(?<=[\u17d2\u1039])"  # what follows stands below, in Khmer and Burmese


def list_ranges(codes: Iterable[int]) -> str:
    """Return characters as ranges inside a character class of a pattern."""
    runs: list[list[int]] = []
    for code in codes:
        if runs and code == runs[-1][1] + 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in runs)


MARKS = list_ranges(code for code in MARKED if unicodedata.category(chr(code))[0] == "M")
WORD_PATTERN = lazy_pattern(rf"[\w{MARKS}]+|{PICTURE}")
# All that is indexed in another form than it is written in.
OTHER_FORM = lazy_pattern(
    f"(?:[{UNSPACED}{SPACED}{PRESENTED}{PICTURES}\U0001f1e6-\U0001f1ff\u200b-\u200f\ufe0f])+"
)

_lock = Lock()  # a stemmer keeps the word that it works on


def fold_text(text: str) -> str:
    """Return a text in lower case, in the one form of what is written in several ways."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", text).lower()
    if not OTHER_FORM.search(plain):
        return plain
    return unicodedata.normalize("NFC", plain.translate(load_folding()))


@cache
def load_folding() -> dict[int, str | None]:
    """Load the characters that become others: simplified for traditional ones, plain digits, no points."""
    pairs = TRADITIONAL.read_text(encoding="utf-8").replace("\n", "")
    found: dict[int, str | None] = dict(zip(map(ord, pairs[::2]), pairs[1::2], strict=True))
    found |= {ord(other): plain for other, plain in LIKE.items()}
    found |= {code: unicodedata.normalize("NFD", chr(code))[0].replace("ς", "σ") for code in ACCENTED}
    digits = ((code, unicodedata.decimal(chr(code), None)) for code in range(0x600, 0x1B00))
    found |= {code: str(digit) for code, digit in digits if digit is not None}
    return found | dict.fromkeys((*POINTS, *JOINERS))


def split_forms(text: str) -> list[list[str]]:
    """Return the words of a folded text, each as the forms that an index has of it: units, or one form."""
    parts, unit = load_cutters()
    forms = []
    for part in parts.finditer(text):
        units = unit.findall(part[0]) if part["units"] else []
        forms.append(units or [stem_word(part[0]) if part["spaced"] else part[0]])
    return forms


@cache
def load_cutters() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a text's parts and of a unit; slow to compile, and many processes need none."""
    parts = f"(?P<units>[{UNSPACED}]+)|(?P<spaced>[{SPACED}]+)|{PICTURE}|[^{UNSPACED}{SPACED}]+"
    return re.compile(parts), re.compile(f"[{UNSPACED}](?:[{MARKS}]|{STACKED}[{UNSPACED}])*")


# ---- stems -----------------------------------------------------------------------------------------------


@lru_cache(MAX_CACHED_WORDS)
def stem_word(word: str) -> str:
    """Return a folded word of a script with spaces, other than Latin, without what its language adds."""
    for letters, stem in STEMMERS.items():
        if letters[0] <= word[0] <= letters[1]:
            with _lock:
                return (load_stemmer(stem)(word) if isinstance(stem, str) else stem(word)) or word
    return word


@cache
def load_stemmer(language: str) -> Callable[[str], str]:
    from snowballstemmer import stemmer  # slow: most texts need none

    found: Callable[[str], str] = stemmer(language).stemWord
    return found


def stem_arabic(word: str) -> str:
    """Take off the article with what stands before it, and the commonest endings."""
    plain = re.sub(r"^(?:و?(?:ال|بال|كال|فال|لل)|و)(?=\w{3})", "", word)
    return re.sub(r"(?<=\w\w)(?:ها|ان|ات|ون|ين|يه|ية|ه|ة|ي)$", "", plain)


def stem_hebrew(word: str) -> str:
    """Take off the article and the words of one letter that are written with the next."""
    while len(word) > 3 and word[0] in "הובכלמש":
        word = word[1:]
    return word


# By the first and the last letter of a script; Snowball's by their names.
STEMMERS: dict[tuple[str, str], str | Callable[[str], str]] = {
    ("\u0370", "\u03ff"): "greek",
    ("\u0400", "\u052f"): "russian",
    ("\u0530", "\u058f"): "armenian",
    ("\u0590", "\u05ff"): stem_hebrew,
    ("\u0600", "\u06ff"): stem_arabic,
    ("\u0900", "\u097f"): "hindi",
    ("\u0b80", "\u0bff"): "tamil",
}


# ---- ways of writing -------------------------------------------------------------------------------------

# What Arabic and Hebrew write with the next word, and letters that have accents, or carry a hamza.
BEFORE = {"\u0590": ("", *"הובכלמש", "וה", "שה"), "\u0600": ("", "ال", "و", "وال", "بال", "لل")}
LAST = {"\u0590": "\u05ff", "\u0600": "\u06ff"}
ACCENTS = {"α": "ά", "ε": "έ", "η": "ή", "ι": "ί", "ο": "ό", "υ": "ύ", "ω": "ώ", "е": "ё", "ا": "أإآ"}


def list_spellings(stem: str) -> Iterator[str]:
    """Yield ways in which the stem of a word may begin: with the article, with one letter accented."""
    accented = [
        stem[:at] + other + stem[at + 1 :]
        for at, letter in enumerate(stem)
        for other in ACCENTS.get(letter, "")
        if at == 0 or letter != "ا"
    ]
    script = min((first for first in BEFORE if first <= stem[0] <= LAST[first]), default="")
    for form in (stem, *accented):
        for before in BEFORE.get(script, ("",)):
            yield before + form


def list_traditional(unit: str) -> list[str]:
    """Return a folded unit, and the traditional characters that it stands for."""
    return [unit, *load_traditional().get(unit, ())]


@cache
def load_traditional() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for code, plain in load_folding().items():
        if plain and "\u3400" <= chr(code) <= "\u9fff":
            found.setdefault(plain, []).append(chr(code))
    return found


def narrow_kana(text: str) -> str:
    """Return katakana in half width; other characters as they are."""
    return "".join(load_narrow().get(char, char) for char in text)


@cache
def load_narrow() -> dict[str, str]:
    plain = {unicodedata.normalize("NFKC", chr(code)): chr(code) for code in range(0xFF65, 0xFFA0)}
    voiced = ((base + mark, narrow + half) for base, narrow in plain.items() for mark, half in VOICED.items())
    joined = {unicodedata.normalize("NFC", both): narrow for both, narrow in voiced}
    return plain | {both: narrow for both, narrow in joined.items() if len(both) == 1}


VOICED = {"\u3099": "\uff9e", "\u309a": "\uff9f"}


def widen_letters(text: str) -> str:
    """Return ASCII letters and digits in full width; "" for another text."""
    return "".join(chr(ord(char) + 0xFEE0) for char in text) if text.isalnum() and text.isascii() else ""

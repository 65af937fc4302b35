"""Tokens that look drawn by chance."""

import math
from collections import Counter

from memory.patterns import lazy_pattern
from memory.redaction.spans import Spans

KIND = "high entropy"
MIN_LENGTH = 32  # characters
MIN_ENTROPY = 4.0  # bits a character
MAX_LENGTH = 128
RUN = lazy_pattern(rf"[A-Za-z0-9_+-]{{{MIN_LENGTH},}}={{0,2}}")
RESTS_OF_ESCAPES = {
    "\\": lazy_pattern(r"[nrt]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}"),
    "%": lazy_pattern(r"[0-9a-fA-F]{2}"),
}
ESCAPE = lazy_pattern(r"\\(?:[nrt\"]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})")
BEFORE_HASH = lazy_pattern(
    r"(?i)sha\d{1,3}[-:=]|h1:|md5[-:=]|integrity|checksum|digest|base64,|=\?[\w-]{1,20}\?[bq]\?|//\S*#\Z"
)
HASH = lazy_pattern(r"(?i)(?:sha\d{1,3}|md5|h1)[-_]|_CPP|_Z")
WORDS = lazy_pattern(r"[A-Z]?[a-z]{3,}|[A-Z][a-z]\b")
ALPHABET = lazy_pattern("abcdefgh|ABCDEFGH|stuvwxyz|STUVWXYZ|23456789")


def find_random(text: str, spans: Spans) -> None:
    """Add the tokens of 32 characters or more that look random."""
    for run in RUN.finditer(text):
        start, end = skip_escape(text, run.start()), run.end()
        token = text[start:end]
        is_long = MIN_LENGTH <= len(token.rstrip("=")) <= MAX_LENGTH
        if is_long and looks_random(token) and not is_data(text, start, end):
            spans.add(start, end, KIND)


def skip_escape(text: str, start: int) -> int:
    """Return where a token begins whose first letters are the rest of an escape, as of a line end."""
    rest = RESTS_OF_ESCAPES.get(text[start - 1 : start])
    return found.end() if rest and (found := rest.match(text, start)) else start


def is_data(text: str, start: int, end: int) -> bool:
    """Return whether a token is a checksum, a part of a path, or data by what stands before it."""
    before, after = text[max(0, start - 120) : start], text[end : end + 1]
    word = "" if not before or before[-1].isspace() else before.split()[-1]
    in_path = (
        before.endswith(("/", "@", "\\")) or after == "/" or (after == "\\" and not ESCAPE.match(text, end))
    )
    return bool(in_path or BEFORE_HASH.search(word) or HASH.match(text, start))


def looks_random(token: str) -> bool:
    """Return whether a token of 32 characters or more looks random.

    Its mixture of upper case, lower case and digits is one that words and hexadecimal numbers do not have.
    """
    body = token.rstrip("=")
    upper, lower = sum(c.isupper() for c in body), sum(c.islower() for c in body)
    digits = sum(c.isdigit() for c in body)
    if min(upper, lower) < 4 or digits < 2 or ALPHABET.search(body):
        return False
    return measure_words(body) < 0.55 and text_entropy(body) >= MIN_ENTROPY


def measure_words(token: str) -> float:
    """Return the share of a token that looks like words."""
    return sum(len(word) for word in WORDS.findall(token)) / len(token)


def text_entropy(text: str) -> float:
    """Return the Shannon entropy of a text, in bits per character."""
    total = len(text)
    return -sum(n / total * math.log2(n / total) for n in Counter(text).values())

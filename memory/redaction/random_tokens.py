"""Tokens that look drawn by chance."""

import math
import re
from collections import Counter

from memory.redaction.spans import Spans

MIN_LENGTH = 32  # characters
MIN_ENTROPY = 4.0  # bits a character
MAX_LENGTH = 128
RUN = re.compile(rf"[A-Za-z0-9_+-]{{{MIN_LENGTH},}}={{0,2}}")
REST_OF_ESCAPE = re.compile(r"[nrt]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}")
ESCAPED_ENDS = ("\\n", "\\r", "\\t", '\\"')
BEFORE_HASH = re.compile(
    r"(?i)sha\d{1,3}[-:=]|h1:|md5[-:=]|integrity|checksum|digest|base64,|=\?[\w-]{1,20}\?[bq]\?|//\S*#\Z"
)
HASH = re.compile(r"(?i)(?:sha\d{1,3}|md5|h1)[-_]|_CPP|_Z")
WORDS = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z][a-z]\b")
ALPHABET = re.compile("abcdefgh|ABCDEFGH|stuvwxyz|STUVWXYZ|23456789")


def find_random(text: str, spans: Spans) -> None:
    """Add the tokens of 32 characters or more that look random."""
    for run in RUN.finditer(text):
        start, end = run.span()
        if text[start - 1 : start] == "\\":  # of an escaped line end, which is no part of it, or of a path
            escape = REST_OF_ESCAPE.match(run[0])
            start = escape.end() + start if escape else end
        token = text[start:end]
        if MIN_LENGTH <= len(token.rstrip("=")) <= MAX_LENGTH and looks_random(token):
            if not is_data(text, start, end):
                spans.add(start, end, "high entropy")


def is_data(text: str, start: int, end: int) -> bool:
    """Return whether a token is a checksum, a part of a path, or data by what stands before it."""
    before, after = text[max(0, start - 120) : start], text[end : end + 2]
    word = "" if not before or before[-1].isspace() else before.split()[-1]
    in_path = before.endswith(("/", "@")) or (after[:1] in ("/", "\\") and after not in ESCAPED_ENDS)
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

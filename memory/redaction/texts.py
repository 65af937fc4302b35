"""Redaction of a text."""

import re
import threading
from collections.abc import Iterator, Sequence

from memory.patterns import lazy_pattern
from memory.redaction import prefixes, random_tokens
from memory.redaction.commands import COMMANDS
from memory.redaction.formats import find_formats
from memory.redaction.named_values import find_named, has_value
from memory.redaction.prefixes import find_prefixed
from memory.redaction.random_tokens import find_random
from memory.redaction.spans import MARK, NAMED, Spans, fold_case, reveal_text

# What bytes become: small letters of ASCII, without others; x where a word of ASCII is, and blanks.
OTHERS = bytes(range(0x80, 0x100))
SMALL = bytes(range(0x100)).lower()
SHAPES = bytes(ord("x" if "!" <= chr(byte) <= "~" else " ") for byte in range(0x100))
LONG_WORD = b"x" * prefixes.MIN_LENGTH
MAX_RECENT = 500  # redacted texts that a thread remembers, by length and hash
HINTS = ('"-', "'-", '"/user:', "'/user:")  # an option in quotes: no list without it is taken for a command
QUOTED = r"(?:\\{{0,3}}{0}[^{0}\\\n]*+\\{{0,3}}{0})"
LIST = lazy_pattern(
    "|".join(rf"{word}(?:\s{{0,40}},\s{{0,40}}{word})++" for word in map(QUOTED.format, "\"'"))
)
WORD = lazy_pattern(r"\"(?P<d>[^\"\\\n]*+)\\{0,3}\"|'(?P<q>[^'\\\n]*+)\\{0,3}'")
KINDS = (
    NAMED,
    "redis setting",
    "keystore password",
    "Windows password",
)  # those where the secret is a word of its own
Found = tuple[int, int, str]  # number of a word, start of the secret in it, kind


class Recent(threading.local):
    """The texts that a thread redacted last, each by its length and hash."""

    def __init__(self) -> None:
        self.texts: set[tuple[int, int]] = set()


_recent = Recent()


def redact_text(text: str) -> str:
    """Return the text without its secrets.

    A recent result is returned as it is: hooks redact texts before they cut them, and the engines redact
    every text again.
    """
    recent = _recent.texts
    if (len(text), hash(text)) in recent:
        return text
    found = redact_anew(text)
    if len(recent) >= MAX_RECENT:
        recent.clear()
    recent.add((len(found), hash(found)))
    return found


def redact_anew(text: str) -> str:
    """Return the text without its secrets, whether or not it was redacted before."""
    plain = reveal_text(text)
    spans = find_secrets(plain)
    return spans.replace_in(text, plain) if spans else text


def find_kind(text: str, *, drawn: bool = True) -> str:
    """Return the kind of the first secret in a text, or ""; without ``drawn`` none that only looks random."""
    kinds = (kind for *_, kind in find_secrets(reveal_text(text)).merge())
    return next((kind for kind in kinds if drawn or kind != random_tokens.KIND), "")


def find_secrets(text: str) -> Spans:
    """Return where the secrets of a text are that has no hidden characters."""
    spans, data = Spans(), text.encode(errors="replace")
    words = cut_long_words(data)
    longest = [word for word in words if len(word) >= random_tokens.MIN_LENGTH]
    letters = data.translate(SMALL, OTHERS).decode()
    if words:
        find_prefixed(text, " ".join(words), spans)
    find_formats(text, letters, " ".join(longest), spans)
    if words or has_value(text):
        find_named(text, fold_case(text), letters, spans)
    find_in_lists(text, spans)
    if longest:
        find_random(text, spans)
    return spans


def cut_long_words(data: bytes) -> list[str]:
    """Return the words of ASCII that could hold a token; many languages put no blanks around them."""
    shapes = data.translate(SHAPES) + b" "
    words, start = [], shapes.find(LONG_WORD)
    while start >= 0:
        end = shapes.find(b" ", start)
        words.append(data[start:end].decode())
        start = shapes.find(LONG_WORD, end)
    return words


# ---- lists of words ----------------------------------------------------------------------------------


def find_in_lists(text: str, spans: Spans) -> None:
    """Add the secrets of lists of words in quotes, as in code and in JSON."""
    if not ("-" in text or "/user:" in text) or not any(hint in text for hint in HINTS):
        return
    for listed in LIST.finditer(text):
        places = [found.span(found.lastgroup or 0) for found in WORD.finditer(text, *listed.span())]
        for number, start, kind in find_in_words([text[first:last] for first, last in places]):
            spans.add(places[number][0] + start, places[number][1], kind)


def redact_words(words: Sequence[str]) -> list[str]:
    """Return the words of a command without the secrets that the words before them announce."""
    found = list(words)
    for number, start, kind in find_in_words(words):
        found[number] = f"{words[number][:start]}{MARK}{kind}]"
    return found


def find_in_words(words: Sequence[str]) -> Iterator[Found]:
    """Yield the secrets that words of a command announce; each reaches to the end of its word."""
    if not any(word.startswith(("-", "/user:")) for word in words):
        return
    line, starts = join_words(words)
    spans, number = Spans(), 0
    letters = line.encode("ascii", "ignore").decode().lower()
    find_formats(line, letters, "", spans)
    find_named(line, fold_case(line), letters, spans)
    for place, _, kind in spans.merge():
        while number + 1 < len(words) and starts[number + 1] <= place:
            number += 1
        start = place - starts[number]
        if 0 <= start < len(words[number]) and (kind in COMMANDS or (start == 0 and kind in KINDS)):
            yield number, start, kind


def join_words(words: Sequence[str]) -> tuple[str, list[int]]:
    """Return the words as a line of a shell, and where each of them starts in it."""
    line, starts, end = [], [], 0
    for word in words:
        quote = ("'" if "'" not in word else '"') if re.search(r"[\s&;|<>]", word) else ""
        starts.append(end + len(quote))
        line.append(f"{quote}{word}{quote} ")
        end += len(line[-1])
    return "".join(line).rstrip(" "), starts

"""Redaction of a text."""

import threading

from memory.redaction import prefixes, random_tokens
from memory.redaction.formats import find_formats
from memory.redaction.named_values import find_named, has_value
from memory.redaction.prefixes import find_prefixed
from memory.redaction.random_tokens import find_random
from memory.redaction.spans import Spans, fold_case, reveal_text
from memory.redaction.word_lists import find_in_lists

# What bytes become: small letters of ASCII, without others; x where a word of ASCII is, and blanks.
OTHERS = bytes(range(0x80, 0x100))
SMALL = bytes(range(0x100)).lower()
SHAPES = bytes(ord("x" if "!" <= chr(byte) <= "~" else " ") for byte in range(0x100))
LONG_WORD = b"x" * prefixes.MIN_LENGTH
MAX_RECENT = 500  # redacted texts that a thread remembers, by length and hash


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

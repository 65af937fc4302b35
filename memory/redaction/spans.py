"""The places of secrets in a text, and the letters that could hide them."""

import re
import unicodedata
from collections.abc import Collection

MARK = "[redacted: "
NAMED = "named secret"
Span = tuple[int, int, str]
# A secret may start after an escaped line end or sign, as in JSON within JSON and in addresses.
ESCAPE = re.compile(r"\\[nrt]|\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|%[0-9a-fA-F]{2}")
ESCAPE_LENGTHS = (2, 4, 6, 3)
WORD_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
# What no reader sees: characters of no width, marks of direction and variation, colours of a terminal.
NO_WIDTH = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0"
)
HIDDEN = re.compile(rf"[{NO_WIDTH}\U000e0000-\U000e0fff\x1b](?:(?<!\x1b)|\[[0-9;]{{0,20}}[A-Za-z])")
# Blocks with other forms of ASCII characters: full width, mathematical, in circles.
FORMS = (
    (0xFF01, 0xFF5E),
    (0x1D400, 0x1D7FF),
    (0x2460, 0x24FF),
    (0x2100, 0x214F),
    (0x2070, 0x209C),
    (0x1F100, 0x1F189),
    (0x017F, 0x017F),  # the long s
)
JOINER = "[ _.-]?"  # what may stand for a space between the words of a name


def list_forms() -> dict[str, str]:
    """Return the ASCII character that each other form of it stands for."""
    points = (point for first, last in FORMS for point in range(first, last + 1))
    plain = ((chr(point), unicodedata.normalize("NFKC", chr(point))) for point in points)
    return {sign: form for sign, form in plain if len(form) == 1 and "!" <= form <= "~"}


_forms = list_forms()
_by_point = str.maketrans(_forms)
WIDE_SIGNS = "，：；！？（）"  # in most texts in Chinese and Japanese
MAX_REPLACED = 20  # other forms in a text, such as those of punctuation, that are sooner replaced one by one
# Hidden characters and other forms in UTF-8, by their first byte: bytes are sooner searched than characters.
ODD = {
    lead[0]: re.compile(lead + rest, re.S)
    for lead, rest in (
        (b"\xef", rb"[\xb8-\xbe]."),
        (b"\xe2", rb"(?:\x80[\x8b-\x8f\xaa-\xae]|[\x81-\x85\x91-\x93].)"),
        (b"\xe1", rb"[\x85\x9e\xa0]."),
        (b"\xe3", rb"\x85\xa4"),
        (b"\xf0", rb"(?:\x9d..|\x9f[\x84-\x86].)"),
        (b"\xf3", rb"\xa0.."),
        (b"\xc2", rb"\xad"),
        (b"\xc5", rb"\xbf"),
        (b"\xcd", rb"\x8f"),
        (b"\xd8", rb"\x9c"),
        (b"\x1b", b""),
    )
}


def reveal_text(text: str) -> str:
    """Return a text as a reader sees it: without hidden characters, other forms of letters as ASCII."""
    if text.isascii():
        return HIDDEN.sub("", text) if "\x1b" in text else text
    for sign in WIDE_SIGNS:
        text = text.replace(sign, _forms[sign])
    data = text.encode(errors="replace")
    odd = {found for lead, form in ODD.items() if lead in data for found in form.findall(data)}
    odd = {found.decode() for found in odd}
    forms = odd & _forms.keys()
    if len(forms) > MAX_REPLACED:
        text = text.translate(_by_point)
    else:
        for form in forms:
            text = text.replace(form, _forms[form])
    return HIDDEN.sub("", text) if len(odd) > len(forms) else text


def fold_case(text: str) -> str:
    """Return a text of the same length in which names are found whatever their case."""
    lower = text.lower()
    if len(lower) != len(text):  # a few capital letters have two characters as small ones
        return "".join(low if len(low := sign.lower()) == 1 else sign for sign in text)
    return lower


def is_start(text: str, position: int) -> bool:
    """Return whether a token may start there: behind no letter, digit or _, or behind an escape."""
    if position == 0 or text[position - 1] not in WORD_CHARACTERS:
        return True
    before = text[max(0, position - max(ESCAPE_LENGTHS)) : position]
    return any(ESCAPE.fullmatch(before[-length:]) for length in ESCAPE_LENGTHS)


class Spans:
    """Where secrets are in a text. Of those that overlap, the kind of the first that was added counts."""

    def __init__(self) -> None:
        self._spans: list[tuple[int, int, int, str]] = []

    def __bool__(self) -> bool:
        return bool(self._spans)

    def add(self, start: int, end: int, kind: str) -> None:
        self._spans.append((start, end, len(self._spans), kind))

    def merge(self) -> list[Span]:
        """Return the spans in the order of the text, those that overlap as one."""
        merged: list[tuple[int, int, int, str]] = []
        for start, end, order, kind in sorted(self._spans):
            if merged and start < merged[-1][1]:
                first, last, earlier, known = merged.pop()
                order, kind = min((earlier, known), (order, kind))
                start, end = first, max(last, end)
            merged.append((start, end, order, kind))
        return [(start, end, kind) for start, end, _, kind in merged]

    def replace_in(self, text: str, plain: str) -> str:
        """Return the text with marks in place of the spans, which were found in its plain form."""
        spans = self.merge()
        if len(plain) != len(text):
            places = find_places(text)
            spans = [(places[start], places[end - 1] + 1, kind) for start, end, kind in spans]
        parts, last = [], 0
        for start, end, kind in spans:
            parts += [text[last:start], f"{MARK}{kind}]"]
            last = end
        return "".join([*parts, text[last:]])


def find_places(text: str) -> list[int]:
    """Return where each character of a text that is not hidden stands in it."""
    places: list[int] = []
    last = 0
    for found in HIDDEN.finditer(text):
        places += range(last, found.start())
        last = found.end()
    return [*places, *range(last, len(text))]


def join_forms(forms: Collection[str]) -> str:
    """Return a pattern of any of the texts, the longest first; a space in them may be any sign that joins."""
    rests: dict[str, set[str]] = {}
    for form in filter(None, forms):
        rests.setdefault(form[0], set()).add(form[1:])
    parts = [
        (JOINER if head == " " else re.escape(head)) + join_forms(rest)
        for head, rest in sorted(rests.items())
    ]
    return f"(?:{'|'.join(parts)}){'?' if '' in forms else ''}" if parts else ""

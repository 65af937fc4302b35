"""Texts as every surface spells them: what a database can store, how much they say, the tag of a briefing.

Standard library alone: the command line imports transcripts without Django.
"""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Mapping
from io import BufferedReader, BytesIO
from typing import IO, Any

BRIEFING_TAG = "day1-memory"  # around what Day1 tells a program at the start of a session
OWN_SUMMARY = ("Asked: ", "Last answer: ")  # how Day1's own summary of a session begins
MAX_OWN_SUMMARY = 300  # characters of each of its two parts
UUID_PATTERN = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MAX_DEPTH = 64  # levels of a JSON value, as of a body
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
BYTE_ORDER_MARK = "\ufeff"
# Around a statement that holds no more, or may not, with what was said later: "was: X; later: Y".
WAS, LATER = "was: ", "; later: "
ANSWERED = re.compile(r" \(to: (.*)\)\Z", re.S)  # the question that a short statement answers
# After these a point ends no sentence: a pattern that is joined to one of ends.
ABBREVIATIONS = "Mr Mrs Ms Dr Prof Hr Frl Sra Mme Mlle Ing e.g i.e z.B d.h p.ej vs bzw".split()
NO_ABBREVIATION = "".join(rf"(?<!\b{re.escape(word)}\.)" for word in ABBREVIATIONS)
DENSE = re.compile("[\u2e80-\U0010ffff]+")  # characters of scripts without spaces
TAKEN_BACK = re.compile(r" \(takes back: (.*)\)\Z", re.S)


def is_deep(value: Any, max_depth: int = MAX_DEPTH) -> bool:
    """Return whether a JSON value has more levels than that: later code would exhaust the stack."""
    wholes = [value] if isinstance(value, dict | list) else []
    for _ in range(max_depth):
        wholes = [part for whole in wholes for part in list_parts(whole) if isinstance(part, dict | list)]
    return bool(wholes)


def list_parts(whole: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return whole.values() if isinstance(whole, dict) else whole


def add_taken_back(text: str, older: str) -> str:
    """Return a text that means little alone with the statement that it takes back, in its words."""
    return f"{text} (takes back: {split_taken_back(older)[0]})"


def split_taken_back(text: str) -> tuple[str, str]:
    """Return what was said, and the statement that it takes back; "" for none."""
    found = TAKEN_BACK.search(text)
    return (text[: found.start()], found.group(1)) if found else (text, "")


def count_dense(text: str) -> int:
    """Count the characters of scripts that are written without spaces, such as Chinese."""
    return 0 if text.isascii() else sum(map(len, DENSE.findall(text)))


def measure_text(text: str) -> int:
    """Return how much a text says, in letters: a dense character says as much as two."""
    return len(text) + count_dense(text)


def split_names(text: str) -> list[str]:
    """Return the names of a text that separates them by commas, without the empty ones."""
    return [name for part in text.split(",") if (name := part.strip())]


def make_storable(text: str) -> str:
    """Replace what no database stores: NUL, and halves of surrogate pairs."""
    if text.isascii() and "\x00" not in text:  # as most are
        return text
    return UNSTORABLE.sub("\ufffd", text)


def open_as_utf8(stream: IO[bytes]) -> IO[bytes]:
    """Return a stream of the same text in UTF-8: some programs of Windows write UTF-16, with its mark."""
    head = stream.peek(2)[:2] if isinstance(stream, BufferedReader) else b""
    if head not in (BOM_UTF16_LE, BOM_UTF16_BE):
        return stream
    return BytesIO(stream.read().decode("utf-16", "replace").encode())


def clean_value(value: Any) -> Any:
    """Return a value of JSON whose texts, names included, can be stored and sent."""
    if isinstance(value, str):
        return make_storable(value)
    if isinstance(value, Mapping):
        return {make_storable(str(name)): clean_value(one) for name, one in value.items()}
    return [clean_value(one) for one in value] if isinstance(value, list | tuple) else value


def summarise_session(first: str, last: str) -> str:
    """Return the first prompt and the last answer of a session as its summary, without what is empty."""
    parts = zip(OWN_SUMMARY, (cut_line(text, MAX_OWN_SUMMARY) for text in (first, last)), strict=True)
    return " ".join(name + text for name, text in parts if text)


def cut_line(text: str, max_length: int) -> str:
    """Return a text as one line of at most ``max_length`` characters, with a mark where it was cut."""
    line = " ".join(text[: 4 * max_length].split())
    return line if len(line) <= max_length else line[: max_length - 1] + "…"

"""Secrets in commands that are lists of words: ``["sshpass", "-p", "…"]``, in JSON and in texts."""

import re
from collections.abc import Iterator, Sequence

from memory.redaction.commands import COMMANDS
from memory.redaction.formats import find_formats
from memory.redaction.named_values import find_named
from memory.redaction.spans import MARK, NAMED, Spans, fold_case

HINTS = ('"-', "'-", '"/user:', "'/user:")  # an option in quotes: no list without it is taken for a command
QUOTED = r"(?:\\{{0,3}}{0}[^{0}\\\n]*+\\{{0,3}}{0})"
LIST = re.compile("|".join(rf"{word}(?:\s{{0,40}},\s{{0,40}}{word})++" for word in map(QUOTED.format, "\"'")))
WORD = re.compile(r"\"(?P<d>[^\"\\\n]*+)\\{0,3}\"|'(?P<q>[^'\\\n]*+)\\{0,3}'")
KINDS = (
    NAMED,
    "redis setting",
    "keystore password",
    "Windows password",
)  # those where the secret is a word of its own
Found = tuple[int, int, str]  # number of a word, start of the secret in it, kind


def find_in_lists(text: str, spans: Spans) -> None:
    """Add the secrets of lists of words in quotes, as in code and in JSON."""
    if not any(hint in text for hint in HINTS):
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

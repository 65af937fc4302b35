"""The sentences of a message's prose. Pure functions, no database."""

import re
from collections.abc import Iterator

from memory.texts import count_dense

MIN_SENTENCE_LENGTH, MAX_SENTENCE_LENGTH = 10, 400  # characters of a sentence
MIN_PART_LENGTH = 2  # of a sentence of a prompt: an answer may be one word

CODE_BLOCK = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.S | re.M)
QUOTE = re.compile(r"^[^\S\n]*(?:>|//|/\*|<!--).*$", re.M)  # of a message, or of code
MARK = re.compile(r"^\s*(?:[-*+•]|\d+[.)]|#+)\s+")
END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
LOG_LINE = re.compile(r"^\W*(?:\d{2,4}[-:/]\d\d\b|(?:WARN(?:ING)?|ERROR|INFO|DEBUG|FATAL)\b)")


def sentences(text: str, min_length: int = MIN_SENTENCE_LENGTH) -> Iterator[str]:
    """Yield the sentences of a message's prose: no code, no quotations, none too short or long."""
    prose = QUOTE.sub("", CODE_BLOCK.sub("\n", text))
    for part in END.split(prose):
        line = " ".join(MARK.sub("", part).replace("**", "").split())
        if LOG_LINE.match(part):
            continue
        if len(line) <= MAX_SENTENCE_LENGTH and measure_length(line) >= min_length:
            yield line


def measure_length(text: str) -> int:
    """Return the number of characters; one of a script without spaces counts as three."""
    return len(text) + 2 * count_dense(text)

"""Search for many texts at once, each character looked at once, and their replacement."""

import json
from collections.abc import Iterator, Mapping

from memory.texts import measure_text

KEY_LENGTH = 16  # characters by which texts are found: of fewer, too many texts would have the same
SHORT_KEY_LENGTH = 8  # of shorter texts, which dense scripts have; a text of fewer is too common
MIN_PART = 40  # letters from which on the beginning of a text counts as the text: it may have been cut


class TextFinder:
    """Finder of texts, whole, or cut after 40 letters, or written on one line, or in JSON.

    ``texts`` says how many letters of each are needed at least to tell that it is this text; a character of a
    dense script, such as Chinese, counts as two.
    """

    def __init__(self, texts: Mapping[str, int]) -> None:
        self._by_start: dict[str, dict[str, int]] = {}
        for text, least in texts.items():
            for form in list_forms(text):
                if len(form) >= SHORT_KEY_LENGTH and measure_text(form) >= least:
                    forms = self._by_start.setdefault(take_key(form), {})
                    forms[form] = max(least, MIN_PART)
        self._key_lengths = sorted({len(key) for key in self._by_start})

    def __bool__(self) -> bool:
        return bool(self._by_start)

    def redact(self, value: str, mark: str) -> str:
        """Return the value with each of the texts replaced; the value itself where there is none."""
        parts, last = [], 0
        for start, end in self._find_spans(value):
            parts += [value[last:start], mark]
            last = end
        return "".join([*parts, value[last:]]) if parts else value

    def _find_spans(self, value: str) -> Iterator[tuple[int, int]]:
        position, last = 0, len(value) - min(self._key_lengths, default=0)
        while self._by_start and position <= last:
            end = position + self._match_at(value, position)
            if end > position:
                yield position, end
            position = max(end, position + 1)

    def _match_at(self, value: str, position: int) -> int:
        """Return how many characters of a text stand at a position; 0 where there is none."""
        longest = 0
        for length in self._key_lengths:
            for form, part in self._by_start.get(value[position : position + length], {}).items():
                longest = max(longest, matched_length(value, position, form, part))
        return longest


def take_key(form: str) -> str:
    return form[: KEY_LENGTH if len(form) >= KEY_LENGTH else SHORT_KEY_LENGTH]


def list_forms(text: str) -> set[str]:
    """Return the ways in which other rows may repeat a text."""
    one_line = " ".join(text.split())
    escaped = (json.dumps(text, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))
    return {text, text.strip(), one_line, *escaped}


def matched_length(value: str, position: int, form: str, part: int) -> int:
    """Return how many characters of a form stand at a position; 0 where they are too few to be that text."""
    if value.startswith(form, position):
        return len(form)
    low, high = 0, min(len(form), len(value) - position)
    while low < high:  # the longest common beginning
        middle = (low + high + 1) // 2
        low, high = (middle, high) if value.startswith(form[:middle], position) else (low, middle - 1)
    return low if measure_text(form[:low]) >= part else 0

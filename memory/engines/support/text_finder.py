"""Search for many texts at once, each character looked at once, and their replacement."""

import json
from collections.abc import Iterable, Iterator

MIN_LENGTH = 8  # characters; a shorter text is too common to be searched for outside its own memory
MIN_PART = 40  # characters from which on the beginning of a text counts as the text: it may have been cut


class TextFinder:
    """Finder of texts, whole, or cut after 40 characters, or written on one line, or in JSON."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._by_start: dict[str, set[str]] = {}
        for text in texts:
            for form in list_forms(text):
                self._by_start.setdefault(form[:MIN_LENGTH], set()).add(form)

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
        position, last = 0, len(value) - MIN_LENGTH
        while self._by_start and position <= last:
            forms = self._by_start.get(value[position : position + MIN_LENGTH])
            end = position + max((matched_length(value, position, form) for form in forms or ()), default=0)
            if end > position:
                yield position, end
            position = max(end, position + 1)


def list_forms(text: str) -> set[str]:
    """Return the ways in which other rows may repeat a text, those of them that are long enough."""
    one_line = " ".join(text.split())
    escaped = (json.dumps(text, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))
    forms = {text, text.strip(), one_line, *escaped}
    return {form for form in forms if len(form) >= MIN_LENGTH}


def matched_length(value: str, position: int, form: str) -> int:
    """Return how many characters of a form stand at a position; 0 where they are too few to be that text."""
    if value.startswith(form, position):
        return len(form)
    low, high = 0, min(len(form), len(value) - position)
    while low < high:  # the longest common beginning
        middle = (low + high + 1) // 2
        low, high = (middle, high) if value.startswith(form[:middle], position) else (low, middle - 1)
    return low if low >= MIN_PART else 0

"""Synthetic texts and queries of made-up words, with word frequencies like those of English."""

import re
from collections.abc import Iterator, Sequence

import numpy as np

WORDS = 30_000
SHIFT = 25.0  # Zipf-Mandelbrot: the most frequent word of content is in about 8 % of the texts
CONTENT, FILL = 15, 10  # words of a text: content words, and stop words between them
ASKING = 0.15  # the share of texts that are questions
SMALL = re.findall(r"\w+", "the a to and of in it was for on with that at by is be this from we they")
QUESTION_WORDS = ("what", "when", "where", "who", "how", "which")
CONSONANTS, VOWELS = "bdfgklmnprtvz", "aeiou"


class Vocabulary:
    """Vocabulary with distinct stems: syllables that end in a, o or u, which no stemmer shortens."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.words = np.array(_words(rng), dtype=object)
        chances = 1 / (np.arange(len(self.words)) + SHIFT)
        self.until = np.cumsum(chances / chances.sum())

    def draw(self, *shape: int) -> np.ndarray:
        """Draw content words, frequent ones more often."""
        at = np.searchsorted(self.until, self.rng.random(shape))
        return self.words[np.minimum(at, len(self.words) - 1)]

    def texts(self, count: int) -> Iterator[str]:
        """Yield distinct texts of about 25 words."""
        seen: set[str] = set()
        while len(seen) < count:
            size = min(10_000, count - len(seen))
            content = self.draw(size, CONTENT)
            small = np.array(SMALL, dtype=object)[self.rng.integers(0, len(SMALL), (size, FILL))]
            ends = np.where(self.rng.random(size) < ASKING, "?", ".")
            for row, fill, end in zip(content, small, ends, strict=True):
                text = _sentence(row, fill) + str(end)
                if text not in seen:
                    seen.add(text)
                    yield text

    def query(self) -> str:
        """Return a question of 3 to 6 content words, with stop words as people type them."""
        words = self.draw(int(self.rng.integers(3, 7)))
        return f"{self.rng.choice(QUESTION_WORDS)} is the {' '.join(words)}?"

    def unit(self, count: int, dimensions: int) -> np.ndarray:
        """Return random unit vectors, one per row."""
        rows = self.rng.standard_normal((count, dimensions), dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def edited(text: str, number: int) -> str:
    """Return an earlier version of a text: with another first word, so that it is distinct."""
    return f"before{number}o {text}"


def _words(rng: np.random.Generator) -> list[str]:
    open_ = [c + v for c in CONSONANTS for v in VOWELS]
    last = [c + v for c in CONSONANTS for v in "aou"]
    found = [first + middle + end for first in open_ for middle in open_ for end in last]
    return [str(word) for word in rng.permutation(found)[:WORDS]]


def _sentence(content: Sequence[str], fill: Sequence[str]) -> str:
    """Return a sentence with a stop word before two of every three content words."""
    words: list[str] = []
    small = iter(fill)
    for index, word in enumerate(content):
        words += [word] if index % 3 == 2 else [next(small), word]
    return " ".join(words)

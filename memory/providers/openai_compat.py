"""Vectors from OpenAI, or from any server with its API (Ollama, vLLM, LiteLLM, ...)."""

import logging
from time import monotonic
from typing import Any

import numpy as np

from memory.exceptions import ProviderNonsense, ProviderUnavailable
from memory.providers.metering import Tokens, estimate_tokens
from memory.providers.openai_server import OpenAIServer, refuses_text, sendable_text
from memory.providers.vectors import Vectors, unit_rows

CUT_LENGTHS = (24_000, 6_000, 1_500, 400)  # characters: for models of 8192, 2048, 512 tokens, or less
MIN_SECONDS = 1.0  # for a text that was cut

logger = logging.getLogger(__name__)


class OpenAICompatible(OpenAIServer):
    """Sentence vectors from a server.

    ``base_url`` "" means OpenAI itself; ``dimensions`` 0 means the model's own number; ``timeout`` is in
    seconds for a whole answer, ``query_timeout`` for that to a query; more than ``batch`` texts are sent in
    several requests.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        dimensions: int,
        timeout: float,
        *,
        query_timeout: float = 3.0,
        batch: int = 64,
    ) -> None:
        super().__init__(base_url, api_key, timeout)
        self._name = model
        self._requested = dimensions
        self._query_timeout = min(query_timeout, timeout)
        self._batch = max(1, batch)
        self.model = f"openai:{model}:{dimensions}" if dimensions else f"openai:{model}"
        self.dimensions: int | None = dimensions or None

    def can_read(self, text: str) -> bool:
        return True

    def embed(self, texts: list[str]) -> Vectors:
        """Return one unit vector for each text, in their order, shape (n, d), float32.

        A text that the server refuses by itself is cut until it is taken: the vector is of its beginning.
        Raises ProviderUnavailable if the server does not answer or refuses; its ``data`` has ``status`` and
        ``retry_after`` (seconds) when the server sent them. Raises ProviderNonsense unless the answer is one
        usable vector for each text, all of one dimension. No message ever contains the key.
        """
        if not texts:
            return np.zeros((0, self.dimensions or 0), dtype=np.float32)
        chunks = [texts[at : at + self._batch] for at in range(0, len(texts), self._batch)]
        return np.concatenate([self._request_cut(chunk, self.timeout) for chunk in chunks])

    def query_words(self, text: str) -> tuple[Vectors, None]:
        """Return the vector of a query, shape (d,), and None for its words. Raises as ``embed`` does."""
        return self._request_cut([text], self._query_timeout)[0], None

    def _request_cut(self, texts: list[str], seconds: float) -> Vectors:
        """Return the vectors of texts; of one alone that is too long for the model, that of its beginning."""
        if len(texts) > 1:
            return self._request_vectors(texts, seconds)
        (text,), until = texts, monotonic() + seconds
        lengths = [len(text), *(length for length in CUT_LENGTHS if length < len(text))]
        for length in lengths:
            try:
                left = seconds if length == len(text) else max(until - monotonic(), MIN_SECONDS)
                return self._request_vectors([text[:length]], left)
            except ProviderUnavailable as error:
                if length == lengths[-1] or not refuses_text(error):
                    raise
                logger.info("A text of %d characters is cut for its vector: %s", length, error)
        raise AssertionError("the last length is taken or raises")

    def _request_vectors(self, texts: list[str], seconds: float) -> Vectors:
        rows = parse_rows(self._ask([sendable_text(text) for text in texts], seconds), len(texts))
        found = rows.shape[1]
        if self.dimensions not in (None, found):
            raise ProviderNonsense(reason=f"vectors of {found} dimensions came, not {self.dimensions}")
        vectors = unit_rows(rows)
        self.dimensions = found
        return vectors

    def _ask(self, texts: list[str], seconds: float) -> Any:
        import openai

        return self.request(
            lambda client, timeout: client.embeddings.with_streaming_response.create(
                model=self._name,
                input=texts,
                encoding_format="float",
                dimensions=self._requested or openai.omit,
                timeout=timeout,
            ),
            seconds,
            Tokens(estimate_tokens(*texts)),
        )


def parse_rows(answer: Any, count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Parse the vectors in the order of their texts, shape (count, d). Raises ProviderNonsense."""
    try:
        items = answer["data"]
        by_index = {item["index"]: item["embedding"] for item in items}
    except (KeyError, TypeError):
        raise ProviderNonsense(reason="it is not a list of vectors in JSON") from None
    if len(items) != count or set(by_index) != set(range(count)):
        raise ProviderNonsense(reason=f"{count} texts got {len(items)} vectors, or wrong index numbers")
    rows = [by_index[at] for at in range(count)]
    if not all(_is_vector(row) for row in rows):
        raise ProviderNonsense(reason="a vector is not a list of numbers")
    if len({len(row) for row in rows}) != 1:
        raise ProviderNonsense(reason="the vectors have different dimensions")
    try:
        return np.array(rows, dtype=np.float64)
    except OverflowError:
        raise ProviderNonsense(reason="a vector holds a number out of range") from None


def _is_vector(row: Any) -> bool:
    return isinstance(row, list) and bool(row) and all(type(value) in (int, float) for value in row)

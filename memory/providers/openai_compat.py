"""Vectors from OpenAI, or from any server with its API (Ollama, vLLM, LiteLLM, ...)."""

import json
import math
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from memory.db.work_slots import work_slots
from memory.exceptions import ProviderNonsense, ProviderUnavailable
from memory.providers.vectors import Vectors, unit_rows

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

MAX_ABANDONED_REQUESTS = 4  # requests that timed out and have not ended
MAX_ANSWER_BYTES = 64 * 2**20  # of an answer
SERVER_WORDS = 200  # characters of the server's error message that are passed on

REASONS = {
    400: "it refuses the request",
    401: "it does not accept the API key",
    403: "the API key may not use this model",
    404: "it does not know the address or the model",
    429: "it asks for fewer requests",
}
EXPLAINED = (400, 404, 422)  # messages of other statuses may quote the key, or say nothing useful


class OpenAICompatible:
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
        self._base_url = base_url
        self._key = api_key.strip()  # a line end from a secrets file is not allowed in a header
        self._name = model
        self._requested = dimensions
        self._timeout = timeout
        self._query_timeout = min(query_timeout, timeout)
        self._batch = max(1, batch)
        self._late: set[Thread] = set()
        self.model = f"openai:{model}:{dimensions}" if dimensions else f"openai:{model}"
        self.dimensions: int | None = dimensions or None

    def embed(self, texts: list[str]) -> Vectors:
        """Return one unit vector for each text, in their order, shape (n, d), float32.

        Raises ProviderUnavailable if the server does not answer or refuses; its ``data`` has ``status`` and
        ``retry_after`` (seconds) when the server sent them. Raises ProviderNonsense unless the answer is one
        usable vector for each text, all of one dimension. No message ever contains the key.
        """
        if not texts:
            return np.zeros((0, self.dimensions or 0), dtype=np.float32)
        chunks = [texts[at : at + self._batch] for at in range(0, len(texts), self._batch)]
        return np.concatenate([self._request_vectors(chunk, self._timeout) for chunk in chunks])

    def query_words(self, text: str) -> tuple[Vectors, None]:
        """Return the vector of a query, shape (d,), and None for its words. Raises as ``embed`` does."""
        return self._request_vectors([text], self._query_timeout)[0], None

    def _request_vectors(self, texts: list[str], seconds: float) -> Vectors:
        rows = parse_rows(self._ask_in_thread([sendable_text(text) for text in texts], seconds), len(texts))
        found = rows.shape[1]
        if self.dimensions not in (None, found):
            raise ProviderNonsense(reason=f"vectors of {found} dimensions came, not {self.dimensions}")
        vectors = unit_rows(rows)
        self.dimensions = found
        return vectors

    def _ask_in_thread(self, texts: list[str], seconds: float) -> bytes:
        """Return the body of the server's answer, read in a thread to enforce the timeout.

        The client's own timeout restarts with each part that arrives, headers included.
        """
        import openai  # noqa: F401  # it takes long, and is not the server's time

        self._late -= {thread for thread in tuple(self._late) if not thread.is_alive()}
        if len(self._late) >= MAX_ABANDONED_REQUESTS:
            raise ProviderUnavailable(
                reason=f"{MAX_ABANDONED_REQUESTS} requests before this one have no answer yet"
            )
        answer: Future[bytes] = Future()
        asking = Thread(target=self._settle_future, args=(answer, texts, seconds), daemon=True)
        asking.start()
        try:
            with work_slots.leave_slot():
                return answer.result(seconds)
        except TimeoutError:
            self._give_up(asking)
            raise ProviderUnavailable(reason=f"no answer within {seconds:g} s") from None

    def _give_up(self, asking: Thread) -> None:
        """Record a timed-out request; too many of them close the client's connections."""
        self._late.add(asking)
        if len(self._late) >= MAX_ABANDONED_REQUESTS and (client := self.__dict__.pop("_client", None)):
            client.close()

    def _settle_future(self, answer: Future[bytes], texts: list[str], seconds: float) -> None:
        try:
            answer.set_result(self._send_request(texts, seconds))
        except BaseException as error:  # the waiting thread raises it
            answer.set_exception(error)

    def _send_request(self, texts: list[str], seconds: float) -> bytes:
        import openai

        until = monotonic() + seconds
        try:
            # The raw answer, because the client would accept an answer of another shape; in parts,
            # because it may have no end.
            with self._client.embeddings.with_streaming_response.create(
                model=self._name,
                input=texts,
                encoding_format="float",
                dimensions=self._requested or openai.omit,
                timeout=seconds,
            ) as answer:
                return b"".join(iterate_until(until, answer.iter_bytes()))
        # "from None": a cause can quote the header with the key.
        except (openai.APITimeoutError, TimeoutError):
            raise ProviderUnavailable(reason=f"no answer within {seconds:g} s") from None
        except openai.APIStatusError as error:
            raise self._build_error(error) from None
        except ProviderNonsense:
            raise
        except Exception as error:  # httpx's errors (an address, a header, a pause) share no public base
            late = monotonic() > until
            reason = f"no answer within {seconds:g} s" if late else f"no connection ({type(error).__name__})"
            raise ProviderUnavailable(reason=reason) from None

    @cached_property
    def _client(self) -> "OpenAI":
        import openai  # takes more than a second, which a process that embeds nothing should not spend

        return openai.OpenAI(
            base_url=self._base_url or None, api_key=self._key, timeout=self._timeout, max_retries=0
        )

    def _build_error(self, error: "APIStatusError") -> ProviderUnavailable:
        status = error.status_code
        otherwise = "the server failed" if status >= 500 else REASONS[400]
        reason = f"{REASONS.get(status, otherwise)} (HTTP {status})"
        if status in EXPLAINED:
            reason += self._server_words(error)
        data: dict[str, Any] = {"reason": reason, "status": status}
        wait = parse_retry_after(error.response.headers.get("retry-after", ""))
        if wait is not None:
            data["retry_after"] = wait
        return ProviderUnavailable(**data)

    def _server_words(self, error: "APIStatusError") -> str:
        body = error.body
        words = body.get("message") if isinstance(body, dict) else None
        if not isinstance(words, str) or not words:
            return ""
        return ": " + (words.replace(self._key, "***") if self._key else words)[:SERVER_WORDS]


def iterate_until(until: float, parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the parts as they arrive. Raises TimeoutError, or ProviderNonsense beyond MAX_ANSWER_BYTES."""
    size = 0
    for part in parts:
        size += len(part)
        if monotonic() > until:
            raise TimeoutError
        if size > MAX_ANSWER_BYTES:
            raise ProviderNonsense(reason=f"it is longer than {MAX_ANSWER_BYTES // 2**20} MiB")
        yield part


def sendable_text(text: str) -> str:
    """Return ``text`` without lone surrogates, which are no UTF-8; a space for "", which OpenAI refuses."""
    return text.encode("utf-8", "replace").decode() or " "


def parse_rows(body: bytes, count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Parse the vectors in the order of their texts, shape (count, d). Raises ProviderNonsense."""
    try:
        items = json.loads(body)["data"]
        by_index = {item["index"]: item["embedding"] for item in items}
    except (ValueError, KeyError, TypeError, RecursionError):
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


def parse_retry_after(header: str) -> int | None:
    """Parse a Retry-After header (seconds or a date) into seconds from now; None if it is neither."""
    try:
        return max(0, math.ceil(float(header)))
    except (ValueError, OverflowError):
        pass  # not a finite number: perhaps a date
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    if moment.tzinfo is None:  # "-0000", which means UTC here
        moment = moment.replace(tzinfo=UTC)
    return max(0, math.ceil((moment - datetime.now(UTC)).total_seconds()))

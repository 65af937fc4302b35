"""A server with OpenAI's API (OpenAI itself, Ollama, vLLM, …): requests with a deadline, and its errors."""

import json
import logging
import math
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from django.core.exceptions import ImproperlyConfigured

from memory.db.work_slots import work_slots
from memory.exceptions import ProviderNonsense, ProviderUnavailable
from memory.providers.metering import Tokens, get_payer, read_spent

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

MAX_ABANDONED_REQUESTS = 4  # requests that timed out and have not ended
MAX_ANSWER_BYTES = 64 * 2**20  # of an answer
MAX_SERVER_WORDS = 300  # characters of the server's error message that are logged
OPENAI_URL = "https://api.openai.com/v1"  # the client's own default is the embedder's OPENAI_BASE_URL

REDIRECTS = (301, 302, 303, 307, 308)
REFUSED_TEXTS = (400, 413, 422)  # a single text may be the cause
REFUSING = (*REDIRECTS, 401, 403, 404)  # no later request fares better
# Other servers tell of a long text as of a failure of their own.
TOO_LONG = re.compile(
    r"too (long|large|many tokens)|context (length|window|size)|max(imum)? (\w+ ){0,3}(length|tokens)", re.I
)
REASONS = {
    **dict.fromkeys(REDIRECTS, "it redirects to another address, which is not followed"),
    400: "it refuses the request",
    401: "it does not accept the API key",
    403: "the API key may not use this model",
    404: "it does not know the address or the model",
    429: "it asks for fewer requests",
}
NOT_CONNECTED = "ConnectError"  # of httpx: nothing was sent
QUOTING_KEY = (401, 403)  # messages of these may quote a part of the key

logger = logging.getLogger(__name__)

Server = TypeVar("Server")
# Opens a streamed answer with a client, within these seconds.
Send = Callable[["OpenAI", float], AbstractContextManager[Any]]


def find_configured(get: Callable[[], Server | None]) -> tuple[Server | None, str]:
    """Return a server of the settings, and why there is none although they name one."""
    try:
        return get(), ""
    except ImproperlyConfigured as error:
        return None, str(error)


class OpenAIServer:
    """The server. ``base_url`` "" means OpenAI itself; ``timeout`` is in seconds for a whole answer."""

    def __init__(self, base_url: str, api_key: str, timeout: float) -> None:
        self._base_url = base_url
        self._key = api_key.strip()  # a line end from a secrets file is not allowed in a header
        self.timeout = timeout
        self._late: set[Thread] = set()

    def request(self, send: Send, seconds: float, expected: Tokens) -> Any:
        """Return the server's answer as JSON, None for any other; somebody pays for it.

        Raises ModelBudgetSpent, and as ``_read_body``.
        """
        bill = get_payer().buy(expected)
        try:
            body = self._read_body(send, seconds)
        except ProviderUnavailable as error:
            # A refusal costs nothing; what did not arrive in time may have been worked on.
            bill.settle(replace(expected, are_estimated=True) if error.may_cost else Tokens())
            raise
        answer = parse_json(body)
        bill.settle(read_spent(answer, expected, len(body)))
        return answer

    def _read_body(self, send: Send, seconds: float) -> bytes:
        """Return the body of the server's answer, read in a thread to enforce the timeout.

        The client's own timeout restarts with each part that arrives, headers included. Raises
        ProviderUnavailable; its ``data`` has ``status`` and ``retry_after`` (seconds) when the server sent
        them. No message ever contains the key.
        """
        import openai  # noqa: F401  # it takes long, and is not the server's time

        self._late -= {thread for thread in tuple(self._late) if not thread.is_alive()}
        if len(self._late) >= MAX_ABANDONED_REQUESTS:
            raise ProviderUnavailable(
                reason=f"{MAX_ABANDONED_REQUESTS} requests before this one have no answer yet"
            )
        answer: Future[bytes] = Future()
        asking = Thread(target=self._settle_future, args=(answer, send, seconds), daemon=True)
        asking.start()
        try:
            with work_slots.leave_slot():
                return answer.result(seconds)
        except TimeoutError:
            self._give_up(asking)
            raise build_unanswered(seconds) from None

    def _give_up(self, asking: Thread) -> None:
        """Record a timed-out request; too many of them close the client's connections."""
        self._late.add(asking)
        if len(self._late) >= MAX_ABANDONED_REQUESTS and (client := self.__dict__.pop("_client", None)):
            client.close()

    def _settle_future(self, answer: Future[bytes], send: Send, seconds: float) -> None:
        try:
            answer.set_result(self._send_request(send, seconds))
        except BaseException as error:  # the waiting thread raises it
            answer.set_exception(error)

    def _send_request(self, send: Send, seconds: float) -> bytes:
        import openai

        until = monotonic() + seconds
        try:
            # The raw answer, because the client would accept an answer of another shape; in parts,
            # because it may have no end.
            with send(self._client, seconds) as answer:
                return b"".join(iterate_until(until, answer.iter_bytes()))
        # "from None": a cause can quote the header with the key.
        except (openai.APITimeoutError, TimeoutError):
            raise build_unanswered(seconds) from None
        except openai.APIStatusError as error:
            raise self._build_error(error) from None
        except ProviderNonsense:
            raise
        except Exception as error:  # httpx's errors (an address, a header, a pause) share no public base
            if monotonic() > until:
                raise build_unanswered(seconds) from None
            broken = ProviderUnavailable(reason=f"no connection ({type(error).__name__})")
            broken.may_cost = type(error.__cause__ or error).__name__ != NOT_CONNECTED
            raise broken from None

    @cached_property
    def _client(self) -> "OpenAI":
        import openai  # takes more than a second, which a process that asks nothing should not spend

        return openai.OpenAI(
            base_url=self._base_url or OPENAI_URL,
            api_key=self._key,
            timeout=self.timeout,
            max_retries=0,  # a body that was sent is sent again by those alone who know what it costs
            # Whoever answers at a named address must not choose where else the texts and the key go.
            http_client=openai.DefaultHttpxClient(follow_redirects=False),
        )

    def _build_error(self, error: "APIStatusError") -> ProviderUnavailable:
        status = error.status_code
        otherwise = "the server failed" if status >= 500 else REASONS[400]
        words = self._read_words(error)
        logger.warning("The model server %s answered HTTP %d: %s", error.request.url.host, status, words)
        data: dict[str, Any] = {
            "reason": f"{REASONS.get(status, otherwise)} (HTTP {status})",
            "status": status,
        }
        wait = parse_retry_after(error.response.headers.get("retry-after", ""))
        if wait is not None:
            data["retry_after"] = wait
        refused = ProviderUnavailable(**data)
        refused.server_words = words
        return refused

    def _read_words(self, error: "APIStatusError") -> str:
        """Return what the server said, as a line without the key."""
        if error.status_code in QUOTING_KEY:
            return ""
        if error.status_code in REDIRECTS:
            return repr(error.response.headers.get("location", ""))[:MAX_SERVER_WORDS]
        body = error.body
        words = body.get("message") if isinstance(body, dict) else body
        if not isinstance(words, str):
            return ""
        return repr(words.replace(self._key, "***") if self._key else words)[:MAX_SERVER_WORDS]


def build_unanswered(seconds: float) -> ProviderUnavailable:
    """Return the error of a request that has no answer in time."""
    error = ProviderUnavailable(reason=f"no answer within {seconds:g} s")
    error.may_cost = True
    return error


def refuses_text(error: ProviderUnavailable) -> bool:
    """Return whether a server refuses what it was sent, such as a text that is too long for its model."""
    return error.data.get("status") in REFUSED_TEXTS or bool(TOO_LONG.search(error.server_words))


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


def parse_json(body: bytes) -> Any:
    """Return the value of an answer; None for one that is no JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def sendable_text(text: str) -> str:
    """Return ``text`` without lone surrogates, which are no UTF-8; a space for "", which OpenAI refuses."""
    return text.encode("utf-8", "replace").decode() or " "


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

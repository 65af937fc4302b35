"""A server with OpenAI's embeddings API, and predictable vectors."""

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Event
from typing import Any, Self

import numpy as np
from django.db import connection
from werkzeug import Request, Response

from memory.models import Vector
from memory.models.hashes import content_hash
from tests.http_doubles import DoubleServer, start_serving
from tests.waiting import TIMEOUT_SECONDS

DIMENSIONS = 16
KEY = "sk-not-to-be-told"


def direction(text: str, dimensions: int = DIMENSIONS) -> np.ndarray:
    """Return a unit vector that depends on the text alone; two texts are nearly orthogonal."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).normal(size=dimensions)
    return vector / np.linalg.norm(vector)


def beside(text: str, cosine: float) -> np.ndarray:
    """Return a unit vector with this cosine to the direction of the text."""
    base, other = direction(text), direction(text + " another way")
    other = other - (other @ base) * base
    return cosine * base + np.sqrt(1 - cosine**2) * other / np.linalg.norm(other)


class FakeProvider:
    """Fake provider: answers each text with its direction, or as the test demands. ``calls`` has the
    texts.
    """

    def __init__(self) -> None:
        self._server = DoubleServer(threaded=True)
        self.calls: list[list[str]] = []
        self.vectors: dict[str, np.ndarray] = {}
        self.poison: set[str] = set()  # a batch with one of these gets NaN
        self.refused: set[str] = set()  # … gets HTTP 400
        self.max_length = 2**20  # characters of a text; a batch with a longer one gets HTTP 400
        self.next: deque[Response] = deque()  # responses that precede the regular ones
        self.always: Response | None = None  # the response to everything
        self.dimensions = DIMENSIONS
        self.before: Callable[[list[str]], Any] | None = None  # called with the texts of each request

    def __enter__(self) -> Self:
        self._server.start()
        self._server.expect_request("/v1/embeddings", method="POST").respond_with_handler(self._answer)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()

    def settings(self, model: str = "fake", batch: int = 4, **more: Any) -> dict[str, Any]:
        """Return the settings.DAY1 that select this server."""
        return {
            "embedder": "openai",
            "embedding_model": model,
            "embedding_base_url": self._server.url_for("/v1"),
            "embedding_api_key": KEY,
            "embedding_batch": batch,
            "embedding_timeout": float(TIMEOUT_SECONDS),
            **more,
        }

    def fail(self, status: int, **headers: str) -> None:
        """Let the next response be an error."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        self.next.append(Response("{}", status=status, headers=given, content_type="application/json"))

    def _answer(self, request: Request) -> Response:
        texts = request.json["input"]
        self.calls.append(texts)
        if self.before:
            self.before(texts)
        if self.next:
            return self.next.popleft()
        if self.always:
            return self.always
        if self.refused.intersection(texts) or max(map(len, texts)) > self.max_length:
            return _json({"error": {"message": "an input is too long"}}, status=400)
        return _json({"object": "list", "model": "fake", "usage": {}, "data": self._data(texts)})

    def _data(self, texts: list[str]) -> list[dict[str, Any]]:
        spoilt = bool(self.poison.intersection(texts))
        return [
            {
                "object": "embedding",
                "index": at,
                "embedding": [float("nan")] if spoilt else self._vector(text),
            }
            for at, text in enumerate(texts)
        ]

    def _vector(self, text: str) -> list[float]:
        return list(map(float, self.vectors.get(text, direction(text, self.dimensions))))


def _json(body: Any, status: int = 200) -> Response:
    return Response(json.dumps(body), status=status, content_type="application/json")


def nonsense(body: Any) -> Response:
    """Return a response of the wrong form."""
    return _json(body)


def row(text, model="openai:fake"):
    return Vector.objects.get(content_hash=content_hash(text), model=model)


def states():
    return dict(Vector.objects.values_list("content_hash", "state"))


def ready(*texts):
    return {content_hash(text): "ready" for text in texts}


@contextmanager
def failing(part):
    """Fail every statement that contains ``part``, as if the process had died there."""

    def wrapper(execute, sql, params, many, context):
        if part in sql:
            raise KeyboardInterrupt
        return execute(sql, params, many, context)

    with connection.execute_wrapper(wrapper):
        yield


@contextmanager
def dripping(start: bytes) -> Iterator[str]:
    """Yield the URL of a server that sends ``start``, and then a byte now and then, without end."""

    class Dripping(StreamRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):  # the client has disconnected
                self.wfile.write(start)
                while not over.wait(0.1):
                    self.wfile.write(b"a")

    over = Event()
    with ThreadingTCPServer(("127.0.0.1", 0), Dripping) as server:
        start_serving(server)
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        over.set()
        server.shutdown()

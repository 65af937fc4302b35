import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest
from django.core.cache import cache
from django.db import connections

from day1site import asgi
from day1site.server import process
from memory.models import Project
from tests.events.sse_client import Follow, Follower, Server, key_for
from tests.waiting import TIMEOUT_SECONDS


@pytest.fixture
def served(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, Server]]:
    """Start a server; return its port and the server."""
    cache.clear()
    monkeypatch.setattr(process, "GRACE", TIMEOUT_SECONDS)  # what does not end by itself is seen
    with process.listening("127.0.0.1", 0) as listener:
        # The system would buffer megabytes for a client that reads nothing.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16 * 1024)
        one = Server()
        thread = threading.Thread(target=one.run, args=(listener,))
        thread.start()
        one.started.wait()
        yield listener.getsockname()[1], one
        one.stop()
        thread.join()
    for _ in range(asgi.THREADS * 4):
        with suppress(RuntimeError):
            asgi.django.executor.submit(connections.close_all).result()
    assert asgi.request_budget.requests == 0


@pytest.fixture
def port(served: tuple[int, Server]) -> int:
    return served[0]


@pytest.fixture
def follow(port: int) -> Iterator[Follow]:
    """Return a function that connects a follower with a token; close all at the end."""
    with ExitStack() as stack:
        yield lambda token, query="", **headers: stack.enter_context(Follower(port, token, query, **headers))


@pytest.fixture
def token(project: Project) -> str:
    return key_for(project)[1]

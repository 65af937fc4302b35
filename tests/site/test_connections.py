"""Many idle connections: they make room for requests, and the log stays short."""

import http.client
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from day1site import asgi, connections
from day1site.server import process
from tests.waiting import TIMEOUT_SECONDS

MAXIMUM = 40


@pytest.fixture
def go_on() -> threading.Event:
    return threading.Event()


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch, go_on: threading.Event) -> Iterator[int]:
    """Start a server with few connections; /slow answers on demand."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        if scope["path"] == "/echo/slow":
            await send({"type": "http.response.body", "body": b"begun ", "more_body": True})
            await asgi.asyncio.to_thread(go_on.wait, 30)
        await send({"type": "http.response.body", "body": b"done"})

    monkeypatch.setattr(asgi, "ASYNC_APPS", [("/echo", app)])
    monkeypatch.setattr(connections.connections, "maximum", MAXIMUM)
    started = threading.Event()
    with process.listening("127.0.0.1", 0) as listener:
        running = process.Server(asgi.application, started.set)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
        thread.start()
        started.wait()
        yield listener.getsockname()[1]
        go_on.set()
        running.should_exit = True
        thread.join()
    assert connections.connections.count == 0
    assert connections.connections._waiting == {}


def open_to(port: int, sent: bytes = b"") -> socket.socket:
    link = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_SECONDS)
    link.sendall(sent)
    return link


def ask(port: int, path: str = "/echo") -> tuple[int, bytes]:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
    link.request("GET", path)
    answer = link.getresponse()
    result = answer.status, answer.read()
    link.close()
    return result


HALF_HEAD = b"GET /echo HTTP/1.1\r\n"
HALF_BODY = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nab"


@pytest.mark.parametrize("sent", [b"", HALF_HEAD, HALF_BODY])
def test_connections_that_send_no_whole_request_make_room(
    port: int, sent: bytes, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections.connections, "_complaint", connections.Complaint())
    with ExitStack() as stack:
        silent = [stack.enter_context(open_to(port, sent)) for _ in range(5 * MAXIMUM)]
        assert [ask(port) for _ in range(20)] == [(200, b"done")] * 20
        assert connections.connections.count <= MAXIMUM
        assert len(silent) == 5 * MAXIMUM
    messages = [record.message for record in caplog.records if record.name == "day1site.connections"]
    assert messages == [f"There are {MAXIMUM} connections: those that send nothing are closed."]


def test_a_request_that_is_being_answered_is_not_cut_off(port: int, go_on: threading.Event) -> None:
    with ExitStack() as stack:
        slow = stack.enter_context(open_to(port, b"GET /echo/slow HTTP/1.1\r\nHost: x\r\n\r\n"))
        assert b"begun" in read_until(slow, b"begun")
        for _ in range(3 * MAXIMUM):
            stack.enter_context(open_to(port))
        assert ask(port) == (200, b"done")
        go_on.set()
        assert b"done" in read_until(slow, b"done")


def test_with_nothing_but_requests_the_next_one_is_refused(port: int, go_on: threading.Event) -> None:
    with ExitStack() as stack:
        for _ in range(MAXIMUM):
            slow = stack.enter_context(open_to(port, b"GET /echo/slow HTTP/1.1\r\nHost: x\r\n\r\n"))
            read_until(slow, b"begun")
        with pytest.raises((ConnectionError, http.client.RemoteDisconnected)):
            ask(port)
        go_on.set()


def read_until(link: socket.socket, word: bytes) -> bytes:
    received = b""
    while word not in received and (piece := link.recv(65536)):
        received += piece
    return received


@pytest.mark.parametrize(("descriptors", "most"), [(1024, 768), (8192, 7936), (256, 128)])
def test_descriptors_are_left_for_the_database(descriptors: int, most: int) -> None:
    assert connections.get_max_connections(descriptors) == most


@pytest.fixture
def without_descriptors() -> Iterator[Callable[[], None]]:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    def use_up() -> None:
        probe = os.open(os.devnull, os.O_RDONLY)
        os.close(probe)
        resource.setrlimit(resource.RLIMIT_NOFILE, (probe, hard))

    yield use_up
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_without_a_descriptor_one_line_is_logged_and_nothing_waits(
    without_descriptors: Callable[[], None], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections.Listener, "_complaint", connections.Complaint())
    with process.listening("127.0.0.1", 0) as listener, ExitStack() as stack:
        listener.setblocking(False)
        port = listener.getsockname()[1]
        clients = [stack.enter_context(open_to(port)) for _ in range(5)]
        without_descriptors()
        for _ in clients:
            with pytest.raises(BlockingIOError):
                listener.accept()
        for client in clients:
            assert client.recv(1) == b""
        with pytest.raises(BlockingIOError):  # no pending connection is left for the system to report again
            listener.accept()
    messages = [record.message for record in caplog.records if record.name == "day1site.connections"]
    assert messages == ["No descriptor is left: a connection is refused. Raise the limit (ulimit -n)."]

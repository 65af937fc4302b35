"""Slow and stalled clients over real sockets: they delay nobody else."""

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from day1site import asgi, connections
from day1site.server import process
from tests.waiting import TIMEOUT_SECONDS, wait_until

HEAD = b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"


@pytest.fixture
def port(monkeypatch) -> Iterator[int]:
    """Start a server as `up` does, with an application that returns a body's length, and short timeouts."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        length = len((await receive())["body"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": str(length).encode()})

    monkeypatch.setattr(asgi, "ASYNC_APPS", [("/echo", app)])
    monkeypatch.setattr(asgi, "BODY_SECONDS", 1.0)
    monkeypatch.setattr(connections, "HEAD_SECONDS", 1.0)
    started = threading.Event()
    with process.listening("127.0.0.1", 0) as listener:
        running = process.Server(asgi.application, started.set)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
        thread.start()
        started.wait()
        yield listener.getsockname()[1]
        running.should_exit = True
        thread.join()
    assert (asgi.request_budget.requests, asgi.request_budget.buffered) == (0, 0)


def open_to(port: int, sent: bytes) -> socket.socket:
    link = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_SECONDS)
    link.sendall(sent)
    return link


def everything_from(link: socket.socket) -> bytes:
    """Read until the server closes the connection."""
    return b"".join(iter(lambda: link.recv(65536), b""))


def echo(port: int, body: bytes) -> tuple[int, bytes]:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
    link.request("POST", "/echo", body)
    answer = link.getresponse()
    told = answer.status, answer.read()
    link.close()
    return told


def problem_in(answer: bytes) -> dict[str, Any]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head
    assert b"connection: close" in head
    problem = json.loads(body)
    assert f"HTTP/1.1 {problem['status']} ".encode() in head
    return problem


@pytest.mark.slow
def test_two_hundred_slow_clients_hold_up_nobody(port: int) -> None:
    with ExitStack() as stack:
        slow = [stack.enter_context(open_to(port, HEAD + b"half")) for _ in range(200)]
        assert [echo(port, b"x" * 100_000) for _ in range(20)] == [(200, b"100000")] * 20
        for link in slow:
            problem = problem_in(everything_from(link))
            assert (problem["status"], problem["code"]) == (408, "too_slow")
    assert echo(port, b"after") == (200, b"5")


@pytest.mark.slow
def test_a_body_that_drips_has_no_more_time_than_one_that_stops(port: int) -> None:
    answer = b""
    with open_to(port, HEAD) as link:
        link.settimeout(0.1)
        for _ in range(999):
            try:
                if not answer:
                    link.sendall(b"x")
                answer += link.recv(65536)  # its head may come before its body
                if answer.endswith(b"}"):
                    break
            except TimeoutError:
                continue
    assert problem_in(answer)["code"] == "too_slow"


@pytest.mark.slow
@pytest.mark.parametrize("sent", [b"", b"GET /ec", HEAD[:-2], b"GET /echo HTTP/1.1\r\nHost: localhost\r\n"])
def test_a_head_that_never_ends_is_not_waited_for(port: int, sent: bytes) -> None:
    with open_to(port, sent) as link:
        assert everything_from(link) == b""


@pytest.mark.slow
def test_a_second_request_has_its_own_time_for_its_head(port: int) -> None:
    with open_to(port, b"GET /echo HTTP/1.1\r\nHost: localhost\r\n\r\n") as link:
        assert link.recv(65536).startswith(b"HTTP/1.1 200")
        link.sendall(b"GET /ec")
        assert b"HTTP/1.1" not in everything_from(link)


@pytest.mark.slow
def test_more_requests_than_the_server_takes_are_told_so_at_once(port: int, monkeypatch) -> None:
    monkeypatch.setattr(asgi, "REQUESTS", 3)
    monkeypatch.setattr(asgi, "BODY_SECONDS", TIMEOUT_SECONDS)
    with ExitStack() as stack:
        slow = [stack.enter_context(open_to(port, HEAD)) for _ in range(3)]
        wait_until(lambda: asgi.request_budget.requests == 3)
        with open_to(port, HEAD) as link:
            answer = everything_from(link)
        assert b"retry-after: 1" in answer
        assert problem_in(answer)["code"] == "unavailable"
        for link in slow:
            link.close()
        wait_until(lambda: echo(port, b"after") == (200, b"5"))


@pytest.mark.slow
def test_large_bodies_share_a_room_and_small_ones_always_fit(port: int, monkeypatch) -> None:
    monkeypatch.setattr(asgi, "BODY_BUDGET_BYTES", 100_000)
    monkeypatch.setattr(asgi, "BODY_SECONDS", TIMEOUT_SECONDS)
    large = HEAD.replace(b"1000", b"200000")
    with open_to(port, large + b"x" * 90_000):
        wait_until(lambda: asgi.request_budget.buffered >= 90_000)
        assert echo(port, b"x" * 60_000) == (200, b"60000")
        with open_to(port, large + b"x" * 200_000) as second:
            status = second.recv(65536)
        assert b"HTTP/1.1 503" in status

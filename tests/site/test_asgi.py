"""Limits of bodies and of time, without a server: an application is a function of messages."""

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from day1site import asgi
from day1site.wsgi_bridge import WSGIBridge

MIB = 1024 * 1024


class Client:
    """Client that sends pieces of a body, and records the responses and how much was read."""

    def __init__(self, pieces: list[bytes], headers: dict[str, str] | None = None, cut: bool = False) -> None:
        self.messages: list[dict[str, Any]] = [
            {"type": "http.request", "body": piece, "more_body": cut or place < len(pieces) - 1}
            for place, piece in enumerate(pieces)
        ]
        self.messages += [{"type": "http.disconnect"}]
        raw = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
        self.scope = {"type": "http", "method": "POST", "path": "/echo", "headers": raw}
        self.sent: list[dict[str, Any]] = []

    async def receive(self) -> dict[str, Any]:
        return self.messages.pop(0)

    async def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)

    def run(self) -> "Client":
        asyncio.run(asgi.application(self.scope, self.receive, self.send))
        return self


@pytest.fixture
def echo(monkeypatch) -> list:
    """Install an application that records its messages."""
    seen: list = []

    async def app(scope, receive, send) -> None:
        seen.append((scope, await receive(), await receive()))

    monkeypatch.setattr(asgi, "ASYNC_APPS", [("/echo", app)])
    return seen


@pytest.mark.parametrize("begun", [False, True])
def test_a_request_that_a_stopping_server_waits_for_no_longer(monkeypatch, begun: bool) -> None:
    """It is answered with 503, unless its response has begun."""

    async def endless(scope, receive, send) -> None:
        if begun:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.Event().wait()

    monkeypatch.setattr(asgi, "ASYNC_APPS", [("/echo", endless)])
    client = Client([b""])

    async def stop() -> None:
        task = asyncio.create_task(asgi.application(client.scope, client.receive, client.send))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(stop())
    assert client.sent[0]["status"] == (200 if begun else 503)
    assert len(client.sent) == (1 if begun else 2)
    if not begun:
        assert json.loads(client.sent[1]["body"])["detail"] == asgi.STOPPING[3]


def test_a_body_within_the_limit_arrives_in_one_piece(echo) -> None:
    Client([b"a" * MIB] * 8, {"content-length": str(8 * MIB)}).run()
    scope, message, after = echo[0]
    assert message == {"type": "http.request", "body": b"a" * 8 * MIB, "more_body": False}
    assert after == {"type": "http.disconnect"}
    assert scope["headers"] == [(b"content-length", str(8 * MIB).encode())]


def test_a_chunked_body_gets_the_length_that_wsgi_needs(echo) -> None:
    Client([b"ab", b"c"]).run()
    scope, message, _ = echo[0]
    assert (message["body"], scope["headers"]) == (b"abc", [(b"content-length", b"3")])


def test_a_body_that_says_that_it_is_too_long_is_refused_before_it_is_read(echo) -> None:
    client = Client([b"x", b""], {"content-length": str(8 * MIB + 1)}).run()
    assert_refused(client, echo)


def test_a_browser_gets_a_page(echo) -> None:
    headers = {"content-length": str(8 * MIB + 1), "accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    start, body = Client([b"x", b""], headers).run().sent
    assert (echo, start["status"]) == ([], 413)
    assert (b"content-type", b"text/html; charset=utf-8") in start["headers"]
    for words in (b"<h1>Content Too Large</h1>", b"over the limit of 8 MiB", b"Go back: what you typed"):
        assert words in body["body"]


def test_a_stream_that_grows_over_the_limit_is_refused(echo) -> None:
    client = Client([b"a" * MIB] * 20).run()
    assert_refused(client, echo)
    assert client.messages == [{"type": "http.disconnect"}]  # the rest was read and dropped


def test_a_client_that_never_stops_sending_is_cut_off(echo) -> None:
    client = Client([b"a" * MIB] * 100).run()
    assert_refused(client, echo)
    assert len(client.messages) > 30


def test_half_a_body_reaches_nobody(echo) -> None:
    client = Client([b"half"], {"content-length": "8"}, cut=True).run()
    assert (echo, client.sent) == ([], [])


def test_only_the_path_and_what_is_below_it_belongs_to_an_asynchronous_application(echo) -> None:
    app = asgi.ASYNC_APPS[0][1]
    assert asgi.find_app("/echo") == asgi.find_app("/echo/1") == ("/echo", app)
    assert asgi.find_app("/echoes") == asgi.find_app("/") == ("", asgi.django)


def assert_refused(client: Client, seen: list) -> None:
    start, body = client.sent
    assert (seen, start["status"]) == ([], 413)
    assert (b"content-type", b"application/problem+json") in start["headers"]
    problem = json.loads(body["body"])
    assert (problem["code"], problem["detail"]) == (
        "too_large",
        "The request body is over the limit of 8 MiB.",
    )


class Page(list):
    """A WSGI response that notes in which thread it is closed."""

    closed_in = ""

    def close(self) -> None:
        self.closed_in = threading.current_thread().name


def test_a_wsgi_response_leaves_its_thread_in_one_piece() -> None:
    page, seen = Page([b"one ", b"two"]), {}

    def app(environ, start_response) -> Page:
        seen.update(environ, body=environ["wsgi.input"].read())
        start_response("201 Created", [("Location", " /there"), ("Set-Cookie", "a"), ("Set-Cookie", "b")])
        return page

    with ThreadPoolExecutor(thread_name_prefix="Django") as pool:
        sent = call_bridge(WSGIBridge(app, pool), b"said")
    headers = [(b"location", b"/there"), (b"set-cookie", b"a"), (b"set-cookie", b"b")]
    assert sent == [
        {"type": "http.response.start", "status": 201, "headers": headers},
        {"type": "http.response.body", "body": b"one two"},
    ]
    assert page.closed_in.startswith("Django")
    assert (seen["REQUEST_METHOD"], seen["PATH_INFO"], seen["body"]) == ("POST", "/here", b"said")


def test_an_application_that_fails_sends_nothing() -> None:
    def app(environ, start_response) -> list[bytes]:
        raise ZeroDivisionError

    with ThreadPoolExecutor() as pool, pytest.raises(ZeroDivisionError):
        call_bridge(WSGIBridge(app, pool), b"")


class Parts:
    """A WSGI response of unknown length, as Django gives one; it counts what was asked of it."""

    streaming = True

    def __init__(self, *parts: bytes) -> None:
        self.parts, self.given, self.closed_in = parts, 0, ""

    def __iter__(self) -> Iterator[bytes]:
        for part in self.parts:
            self.given += 1
            yield part

    def close(self) -> None:
        self.closed_in = threading.current_thread().name


def send_parts(response: Parts, *after: dict[str, Any]) -> list[bytes]:
    """Return the bodies that a client gets, which sends these messages after its request."""
    bodies: list[bytes] = []
    messages = iter([{"type": "http.request", "body": b"", "more_body": False}, *after])

    def app(environ, start_response) -> Parts:
        start_response("200 OK", [("Content-Type", "text/csv")])
        return response

    async def receive() -> dict[str, Any]:
        if message := next(messages, None):
            return message
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message) -> None:
        if message["type"] == "http.response.body":
            bodies.append(message["body"])
            assert message.get("more_body", False) is bool(message["body"])

    scope = {"type": "http", "method": "GET", "path": "/here", "query_string": b"", "http_version": "1.1"}
    with ThreadPoolExecutor(thread_name_prefix="Django") as pool:
        asyncio.run(WSGIBridge(app, pool)(scope | {"headers": [(b"host", b"here")]}, receive, send))
    return bodies


def test_a_response_of_unknown_length_comes_in_parts() -> None:
    response = Parts(b"one", b"", b"two")
    assert send_parts(response) == [b"one", b"two", b""]
    assert response.closed_in.startswith("Django")


def test_no_part_is_made_when_the_reader_has_gone() -> None:
    response = Parts(*[b"part"] * 1000)
    assert len(send_parts(response, {"type": "http.disconnect"})) < 10
    assert response.given < 10
    assert response.closed_in.startswith("Django")


def call_bridge(bridge: WSGIBridge, body: bytes) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/here", "query_string": b"", "http_version": "1.1"}
    asyncio.run(bridge(scope | {"headers": [(b"host", b"here")]}, receive, send))
    return sent

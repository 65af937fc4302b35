"""Applications started by their first request, and stopped with the server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from day1site import asgi
from memory.request_context import get_request_id

HERE = f"{__name__}.running"
seen: list[str] = []
fails: list[Exception] = []


@asynccontextmanager
async def running(threads: Any) -> AsyncIterator[Any]:
    assert threads is asgi.django.executor
    seen.append(f"started{get_request_id()}")
    if fails:
        raise fails.pop()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["path"])

    yield app
    seen.append("ended")


@pytest.fixture(autouse=True)
def later(monkeypatch: pytest.MonkeyPatch) -> asgi.LazyApp:
    seen.clear()
    app = asgi.LazyApp(HERE)
    monkeypatch.setattr(asgi, "ASYNC_APPS", [("/later", app)])
    return app


async def request(path: str) -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        seen.append(str(message["status"]))

    await asgi.application({"type": "http", "method": "GET", "path": path, "headers": []}, receive, send)


async def life(*work: Any) -> list[str]:
    """Run the lifespan with some requests in the middle; return its messages."""
    told, steps = [], iter(["lifespan.startup", "lifespan.shutdown"])

    async def receive() -> dict[str, Any]:
        if told:
            await asyncio.gather(*work)
        return {"type": next(steps)}

    async def send(message: Any) -> None:
        told.append(message["type"])

    await asgi.application({"type": "lifespan"}, receive, send)
    return told


COMPLETE = ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_the_first_request_starts_it_once_and_the_server_ends_it() -> None:
    told = asyncio.run(life(request("/later"), request("/later/a")))
    assert told == COMPLETE
    assert seen == ["started", "/later", "/later/a", "ended"]


def test_what_nobody_asked_for_is_never_started() -> None:
    assert asyncio.run(life()) == COMPLETE
    assert seen == []


def test_after_a_failure_it_is_tried_again(later: asgi.LazyApp) -> None:
    async def story() -> None:
        fails.append(RuntimeError("not now"))
        with pytest.raises(RuntimeError, match="not now"):
            await request("/later")
        await request("/later")
        await later.stop()

    asyncio.run(story())
    assert seen == ["started", "started", "/later", "ended"]


def test_it_lives_anew_in_another_loop(later: asgi.LazyApp) -> None:
    async def story() -> None:
        await request("/later")
        await later.stop()

    asyncio.run(story())
    asyncio.run(story())
    assert seen == ["started", "/later", "ended"] * 2

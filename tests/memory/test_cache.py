"""Counters in Redis: they count while it answers, and block nobody when it does not."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory.cache import PatientRedisCache
from tests.memory.api.client import Api, api_for, refused

OPTIONS = {"OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1}}


def free_port() -> int:
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return some.getsockname()[1]


@pytest.fixture(autouse=True)
def asked_at_once() -> Iterator[None]:
    yield
    PatientRedisCache._silent_until = 0.0


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen]]:
    if not shutil.which("redis-server"):
        pytest.skip("redis-server is not installed")
    port = str(free_port())
    words = ["redis-server", "--port", port, "--bind", "127.0.0.1", "--dir", str(tmp_path), "--save", ""]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as server:
        for _ in range(100):
            with socket.socket() as asking:
                if not asking.connect_ex(("127.0.0.1", int(port))):
                    break
            time.sleep(0.1)
        yield f"redis://127.0.0.1:{port}/0", server
        server.kill()


def test_without_redis_nothing_is_there_and_nothing_fails() -> None:
    cache = PatientRedisCache(f"redis://127.0.0.1:{free_port()}/0", OPTIONS)
    assert cache.add("a", 1) is True
    assert cache.get("a", 7) == 7
    for change in (cache.incr, cache.decr):
        with pytest.raises(ValueError, match="not found"):
            change("a")
    assert cache.get_or_set("b", lambda: 5) == 5


def test_with_redis_it_counts_until_redis_goes(redis: tuple[str, Any]) -> None:
    url, server = redis
    one, two = PatientRedisCache(url, OPTIONS), PatientRedisCache(url, OPTIONS)
    assert one.add("a", 1, 60) is True
    assert two.add("a", 1, 60) is False
    assert (one.incr("a"), two.incr("a"), two.decr("a"), one.get("a")) == (2, 3, 2, 2)
    server.kill()
    server.wait()
    assert one.get("a", "gone") == "gone"


@pytest.mark.django_db(transaction=True)
def test_the_rate_of_a_key_holds_through_redis(project, settings, redis: tuple[str, Any]) -> None:
    url, server = redis
    backend = {"BACKEND": "memory.cache.PatientRedisCache", "LOCATION": url, **OPTIONS}
    settings.CACHES = {"default": backend}
    api: Api = api_for(project, rate_per_minute=3)
    assert [api.get("/branches").status_code for _ in range(3)] == [200, 200, 200]
    refused(api.get("/branches"), 429, "rate_limited")
    server.kill()
    server.wait()
    assert api.get("/branches").status_code == 200

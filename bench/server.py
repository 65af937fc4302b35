"""A server for a benchmark: started by ``up`` on a temporary folder, stopped at the end."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
START = 180  # seconds
LOG = "bench-server.log"


class Refused(RuntimeError):
    """Error response of the server, with its ``status`` and body."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"{status}: {body[:500]}")
        self.status = status


class Client:
    """Client with one persistent connection. Not thread-safe."""

    def __init__(self, url: str, key: str) -> None:
        parts = urlsplit(url)
        self._host = (parts.hostname or "127.0.0.1", parts.port or 80)
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self.answered: Any = {}  # the headers of the last response
        self._connection = http.client.HTTPConnection(*self._host, timeout=120)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request and return the response as JSON. Raises Refused; a rate limit is waited for."""
        packed = None if body is None else json.dumps(body).encode()
        while True:
            status, headers, text = self.raw(method, path, packed)
            self.answered = headers
            if status != 429:
                break
            time.sleep(float(headers.get("Retry-After") or 1))
        if status >= 400:
            raise Refused(status, text.decode("utf-8", "replace"))
        return json.loads(text) if text else None

    def raw(self, method: str, path: str, body: bytes | None) -> tuple[int, Any, bytes]:
        self._connection.request(method, f"/api/v1{path}", body, self.headers)
        answer = self._connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def close(self) -> None:
        self._connection.close()


class Running:
    """Running server, with its URL and key."""

    def __init__(self, process: subprocess.Popen, folder: Path, url: str) -> None:
        self.process, self.folder, self.url = process, folder, url
        file = folder / "first-key.json"
        self.key = json.loads(file.read_text())["key"] if file.exists() else ""

    def client(self) -> Client:
        return Client(self.url, self.key)


@contextmanager
def serving(folder: Path, embedder: str = "minilm") -> Iterator[Running]:
    """Run ``manage.py up`` on a data folder and a free port, until the block ends."""
    process = _start(folder, embedder)
    try:
        yield Running(process, folder, _address(process, folder / LOG))
    finally:
        _end(process)


def time_first_answer(folder: Path, key: str, embedder: str = "minilm") -> float:
    """Start a server; return the milliseconds until it has answered with a fact list, and stop it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    started = time.perf_counter()
    process = _start(folder, embedder, port)
    try:
        _wait_for_port(process, port, folder / LOG)
        client = Client(f"http://127.0.0.1:{port}", key)
        client.ask("GET", "/facts?limit=1")  # waits in the queue of the socket until somebody serves
        took = time.perf_counter() - started
        client.close()
    finally:
        _end(process)
    return took * 1000


def _wait_for_port(process: subprocess.Popen, port: int, log: Path) -> None:
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except ConnectionRefusedError:
            time.sleep(0.005)
    raise RuntimeError(f"The server did not start:\n{log.read_text()[-2000:]}")


def _start(folder: Path, embedder: str, port: int = 0) -> subprocess.Popen:
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "DAY1_EMBEDDER": embedder, "DAY1_NO_BOOTSTRAP": "1"}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    # A user's server keeps its compiled modules; without them each start compiles 1,100, which takes .8 s.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, str(ROOT / "manage.py"), "up", "--port", str(port), "--data-dir", str(folder)]
    with (folder / LOG).open("wb") as output:
        return subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)


def _address(process: subprocess.Popen, log: Path) -> str:
    until = time.monotonic() + START
    while time.monotonic() < until:
        text = log.read_text(errors="replace")
        if "Ctrl-C stops it" in text and (found := re.search(r"API\s+(http://[^/\s]+)", text)):
            return found[1]
        if process.poll() is not None:
            raise RuntimeError(f"The server did not start:\n{text[-2000:]}")
        time.sleep(0.1)
    raise RuntimeError(f"The server did not start within {START} s:\n{log.read_text()[-2000:]}")


def _end(process: subprocess.Popen) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def in_path(name: str) -> str:
    """Return a branch's name as a part of a path."""
    return quote(name, safe="")

"""A server in this process, as `up` runs it, and SSE clients over real sockets."""

import http.client
import json
import threading
from collections.abc import Callable
from typing import Any

from day1site import asgi
from day1site.server import process
from memory.actors import Actor, local_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.facts.engine import FactEngine
from memory.models import Project
from tests.waiting import TIMEOUT_SECONDS

PATH = "/api/v1/events"


class Server:
    def __init__(self) -> None:
        self.started, self.stopped = threading.Event(), threading.Event()
        self.running = process.Server(asgi.application, self.started.set)

    def run(self, listener: Any) -> None:
        self.running.run(sockets=[listener])
        self.stopped.set()  # it did not end by an error

    def stop(self) -> None:
        self.running.should_exit = True


class Follower:
    """Client that reads a stream message by message."""

    def __init__(self, port: int, token: str, query: str = "", **headers: str) -> None:
        self.link = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
        sent = {"Authorization": f"Bearer {token}"} | {n.replace("_", "-"): v for n, v in headers.items()}
        self.link.request("GET", PATH + query, headers=sent)
        self.answer = self.link.getresponse()

    def __enter__(self) -> "Follower":
        return self

    def __exit__(self, *_: Any) -> None:
        self.link.close()

    def message(self) -> dict[str, str]:
        """Return the next message; {} at the end of the stream. A comment has the name ""."""
        found: dict[str, str] = {}
        for raw in self.answer:
            line = raw.decode().rstrip("\n")
            if not line and found:
                return found
            name, _, value = line.partition(":")
            found[name] = value.removeprefix(" ")
        return found

    def events(self, many: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while len(found) < many:
            message = self.message()
            assert message, found
            if "event" not in message and "data" in message:
                found.append(json.loads(message["data"]))
                assert message["id"] == str(found[-1]["id"])
        return found

    def lines(self, many: int) -> list[str]:
        return [event["changes"][0]["line"] for event in self.events(many)]

    def started(self) -> int:
        """Wait for the first message; return its position."""
        message = self.message()
        assert (message["event"], message["retry"]) == ("start", "2000")
        return int(message["id"])

    def problem(self, status: int, code: str) -> dict[str, Any]:
        assert (self.answer.status, self.answer.headers["Content-Type"]) == (
            status,
            "application/problem+json",
        )
        found = json.loads(self.answer.read())
        assert (found["status"], found["code"]) == (status, code)
        assert found["title"]
        return found


Follow = Callable[..., Follower]


def key_for(project: Project, **options: Any) -> tuple[Any, str]:
    wanted = {"label": "agent", "scopes": ["read"], **options}
    return KeyEngine().create_key(actor=local_actor(project.pk), **wanted)


def write(actor: Actor, text: str, branch: str = "main") -> None:
    FactEngine().write_fact(fact_text=text, actor=actor, branch_name=branch)

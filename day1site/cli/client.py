"""The client of every command: the REST API, over HTTP to a server or in this process on the local store.

What is longer than a request, such as a file, is done by the streams of either side.
Answers are plain dicts in the shapes of the REST API. Errors have ``code`` and ``text``.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

from day1site.cli.errors import CliError, UsageError
from day1site.cli.transport.rest import PREFIX, Answer, Api, Transport, drop_none, quote_place
from day1site.cli.transport.streams import Streams

OPERATIONS = Path(__file__).with_name("operations.json")


@cache
def load_operations() -> dict[str, dict[str, Any]]:
    """Return the declared operations by name, such as ``tasks.join``."""
    operations: dict[str, dict[str, Any]] = json.loads(OPERATIONS.read_text(encoding="utf-8"))
    return operations


class Client:
    """The questions and writes of all commands."""

    def __init__(self, transport: Transport, open_streams: Callable[[], Streams]) -> None:
        self.transport, self.api, self._open_streams = transport, Api(transport), open_streams

    @contextmanager
    def answering_within(self, seconds: float) -> Iterator[None]:
        """Wait at most so long for each answer."""
        usual, self.transport.timeout = self.transport.timeout, seconds
        try:
            yield
        finally:
            self.transport.timeout = usual

    @property
    def streams(self) -> Streams:
        return self._open_streams()

    def call(self, action: str, /, **values: Any) -> Answer:
        """Return what the REST API answers to a declared operation, such as ``keys.create``."""
        known, inputs = load_operations()[action], drop_none(values)
        places = {name: quote_place(str(inputs.pop(name))) for name in known["places"]}
        answer: Answer = getattr(self.api, known["verb"])(known["path"].format(**places), **inputs)
        return answer


def open_client(project: str, makes_store: bool = False, of_server: bool = False) -> Client:
    """Return the client of the server that DAY1_URL names, else of the local store.

    ``makes_store`` makes a store where there is none yet. One ``of_server`` is in no project of the local
    store.
    """
    return open_http(project) if server_url() else open_local(project, makes_store, of_server)


def open_http(project: str) -> Client:
    return open_server(server_url(), server_key(project))


def open_server(url: str, key: str) -> Client:
    """Return the client of a server, whose address may be given as that of its API."""
    from day1site.cli.transport.http_streams import HttpStreams
    from day1site.cli.transport.http_transport import HttpTransport

    transport = HttpTransport(base_address(url), key)
    return Client(transport, partial(HttpStreams, Api(transport)))


def open_local(project: str, makes_store: bool, of_server: bool = False) -> Client:
    from day1site.cli.transport.local_store import find_actor, find_keeper, open_store

    open_store(make=makes_store)
    from day1site.cli.transport.local_transport import (
        LocalTransport,  # its models need Django, which is started now
    )

    actor = find_keeper() if of_server else find_actor(project)
    return Client(LocalTransport(actor), partial(open_local_streams, actor))


def open_local_streams(actor: Any) -> Streams:
    from day1site.cli.transport.local_streams import LocalStreams

    return LocalStreams(actor)


def server_url() -> str:
    """Return the address of the server to work on; "" for the local store."""
    return base_address(os.environ.get("DAY1_URL", ""))


def base_address(url: str) -> str:
    """Return the address of a server, which may be given as that of its API."""
    return url.rstrip("/").removesuffix(PREFIX)


def server_key(project: str) -> str:
    """Return the key of the server to work on. Raises UsageError, CliError."""
    if project:
        raise UsageError("--project is for the local store: on a server the key decides.")
    if not (key := os.environ.get("DAY1_KEY", "")):
        raise CliError("unauthenticated", "DAY1_URL is set, but DAY1_KEY is not: both are needed.")
    return key

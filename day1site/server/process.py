"""The one process that `up` starts: the web server in the main thread, background work in others."""

import asyncio
import errno
import fcntl
import gc
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, Any, Protocol

import uvicorn
from django.db import DatabaseError, connections
from h11 import IDLE
from uvicorn.protocols.http.h11_impl import H11Protocol

from memory.engines.buffers import buffer

if TYPE_CHECKING:
    from day1site.asgi import App

GRACE = 3  # seconds that running requests, and each background thread, get to finish
BACKLOG = 2048
HEAD_SECONDS = 20.0  # in which a client must have sent the head of a request that it began


class CannotStart(Exception):
    """Its text is the one sentence that the user reads."""


class Stoppable(Protocol):
    def stop(self, timeout: float) -> object: ...


@contextmanager
def only_server(folder: Path) -> Iterator[IO[str]]:
    """Holds the data directory. The lock ends with the process, however that ends. Raises CannotStart."""
    with closing(open_lock(folder)) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotStart(f"Day1 is running already on {folder}{who_holds(file)}.") from None
        yield file


def open_lock(folder: Path) -> IO[str]:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return open(folder / "up.lock", "a+")
    except OSError as error:
        reason = "it is a file" if isinstance(error, FileExistsError) else error.strerror
        raise CannotStart(f"The data directory {folder} cannot be written: {reason}.") from None


def who_holds(file: IO[str]) -> str:
    file.seek(0)
    try:
        holder = json.load(file)
        return f", at {holder['url']} (process {holder['pid']})"
    except (ValueError, KeyError, TypeError):
        return ""


def sign(file: IO[str], url: str) -> None:
    """Write who holds the lock, for the sentence that the next one is refused with."""
    file.seek(0)
    file.truncate()
    json.dump({"pid": os.getpid(), "url": url}, file)
    file.flush()


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that already takes connections; they wait until the server runs. Raises CannotStart."""
    with closing(bind(host, port)) as listener:
        yield listener


def bind(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # With the protocol named, asyncio sets TCP_NODELAY; without, answers wait 40 ms for an ACK.
        listener = socket.socket(family, kind, protocol)
    except (OSError, OverflowError):
        raise CannotStart(f"This machine has no address {host}: choose another --host.") from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise CannotStart(why_not(error, host, port)) from None
    return listener


def why_not(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} of {host} is taken by another program: stop that one or choose another --port."
    if error.errno == errno.EACCES:
        return f"Port {port} is reserved for the system: choose a --port above 1023."
    return f"This machine cannot listen on {host}, port {port}: {error.strerror}."


def url_of(host: str, listener: socket.socket) -> str:
    """The address to open in a browser on this machine."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{listener.getsockname()[1]}"


class PatientProtocol(H11Protocol):
    """HTTP with a limit to its patience: who sends no whole head in time loses the connection."""

    deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.await_head(True)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self.await_head(self.conn.their_state is IDLE)

    def connection_lost(self, exc: Exception | None) -> None:
        self.await_head(False)
        super().connection_lost(exc)

    def await_head(self, wanted: bool) -> None:
        if self.deadline and not wanted:
            self.deadline.cancel()
            self.deadline = None
        elif wanted and not self.deadline:
            self.deadline = self.loop.call_later(HEAD_SECONDS, self.transport.close)


class Server(uvicorn.Server):
    """uvicorn that keeps signals to itself, and starts the rest when it listens."""

    def __init__(self, app: "App", on_start: Callable[[], None]) -> None:
        config = uvicorn.Config(
            app, http=PatientProtocol, lifespan="on", ws="none", loop="asyncio", log_config=None,
            log_level="warning", access_log=False, server_header=False, proxy_headers=False,
            backlog=BACKLOG, timeout_keep_alive=65, timeout_graceful_shutdown=GRACE,
        )  # fmt: skip
        super().__init__(config)
        self.on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        await asyncio.to_thread(self.on_start)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        from day1site.asgi import end_streams

        for listener in self.servers:
            listener.close()  # a client whose stream ended comes back at once, and finds nobody
        await end_streams()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn would raise the signal again after serving, and end the process before our own stop.
        yield

    def ask_to_stop(self, number: int, frame: FrameType | None) -> None:
        """The first signal stops cleanly; the second waits for no request; the third for nothing."""
        if self.force_exit:
            os._exit(1)
        self.force_exit = self.should_exit
        self.should_exit = True


def serve(listener: socket.socket, worker: bool, announce: Callable[[], None]) -> None:
    """Run until SIGINT or SIGTERM, then stop everything that was started."""
    from day1site.asgi import application

    running: list[Stoppable] = [buffer]

    def start() -> None:
        buffer.start()
        if worker:
            running.extend(start_background())
        settle()
        announce()

    server = Server(application, start)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, server.ask_to_stop)
    try:
        server.run(sockets=[listener])
    finally:
        stop_all(running)


def start_background() -> list[Stoppable]:
    from day1site.celery import start_beat, start_worker
    from memory.queue import enqueue

    running: list[Stoppable] = [start_worker(), start_beat()]
    enqueue("memory.catch_up")  # the embedder may be another than before
    return running


def settle() -> None:
    """Take what is loaded by now out of the sight of the collector of garbage.

    It stays for good, and a look through it costs the request that it falls into up to 100 ms.
    """
    gc.collect()
    gc.freeze()


def stop_all(running: list[Stoppable]) -> None:
    """Last started, first stopped; the buffer writes its rest when nobody adds to it any more."""
    for part in reversed(running):
        part.stop(GRACE)
    end_threads()
    # One complete database file is left, also where a busy thread still holds a connection.
    gc.unfreeze()
    gc.collect()
    fold(connections["default"])
    connections.close_all()


def fold(connection: Any) -> None:
    """Put the write-ahead log into the database file. What cannot be folded now, the next start reads."""
    try:
        connection.fold_log()
    except DatabaseError:
        logging.getLogger(__name__).warning("The write-ahead log could not be folded in.", exc_info=True)


def end_threads() -> None:
    """Django's threads end, and their database connections with them, unless one is still busy."""
    from day1site.asgi import django

    django.executor.shutdown(wait=False, cancel_futures=True)
    for thread in list(django.executor._threads):
        thread.join(0.2)


def leave() -> None:
    """End the process now: a request that was cut off may still hold a thread."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)

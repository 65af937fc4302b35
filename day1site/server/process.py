"""The processes of `up`: the web server in the main thread; in one of them, background work in others."""

import asyncio
import errno
import gc
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from types import FrameType
from typing import IO, TYPE_CHECKING, Any, Protocol

import uvicorn
from django.conf import settings
from django.db import DatabaseError, connections
from django.urls import get_resolver

from day1site.connections import (
    ACCEPT_BATCH,
    HeaderTimeoutProtocol,
    Listener,
    get_max_connections,
    raise_descriptor_limit,
)
from day1site.connections import (
    connections as clients,
)
from day1site.loading import pause_gc
from day1site.running_servers import LOCK_NAME
from day1site.server.supervisor import Supervisor
from memory.db.backend import get_file_check
from memory.db.process_group import end_group, get_group, start_group
from memory.engines.support.write_buffer import buffer
from memory.file_locks import try_lock
from memory.processes import CAN_FORK, IS_WINDOWS, is_running
from memory.providers.embedding import load_for_children
from memory.tracing import tracing

if TYPE_CHECKING:
    from day1site.asgi import App

GRACE = 3  # seconds for running requests, and for each background thread, to finish
KILLED_SECONDS = 5.0  # for the processes of a killed server to end
EXCLUSIVE = getattr(socket, "SO_EXCLUSIVEADDRUSE", 0)  # of Windows
CANNOT_FORK = "DAY1_PROCESSES is {count}, but this system cannot fork processes: leave it out, one serves."
# Windows ends a console program by a break, which `day1 service` and others send.
SIGNALS = [signal.SIGINT, signal.SIGTERM, *filter(None, [getattr(signal, "SIGBREAK", None)])]


class CannotStart(Exception):
    """Error that prevents the start; its text is the one sentence for the user."""


class Stoppable(Protocol):
    def stop(self, timeout: float) -> object: ...


@contextmanager
def data_dir_lock(folder: Path, database: Path | None = None) -> Iterator[list[IO[str]]]:
    """Lock the data directory, and a database file elsewhere. Raises CannotStart, ForeignFile.

    The locks end with the process, however that ends. Nothing is put beside a database of another program.
    """
    if database is not None:
        get_file_check().refuse_foreign()
    with ExitStack() as stack:
        files = [stack.enter_context(hold_lock(folder / LOCK_NAME, folder))]
        if database is not None:
            path = database.resolve()
            files.append(stack.enter_context(hold_lock(path.with_name(f"{path.name}-up.lock"), path)))
        yield files


@contextmanager
def hold_lock(path: Path, target: Path) -> Iterator[IO[str]]:
    with closing(open_lock(path)) as file:
        if not try_lock(file.fileno()) and not (is_abandoned(file) and wait_for_lock(file)):
            raise CannotStart(f"Day1 is running already on {target}{who_holds(file)}.")
        yield file


def is_abandoned(file: IO[str]) -> bool:
    """Tell whether the server that holds a lock was killed; its processes end as soon as they see it."""
    file.seek(0)
    try:
        return not is_running(int(json.load(file)["pid"]))
    except (ValueError, KeyError, TypeError, OSError):
        return False


def wait_for_lock(file: IO[str]) -> bool:
    """Wait for the processes of a killed server; return whether the lock is free."""
    until = monotonic() + KILLED_SECONDS
    while monotonic() < until:
        sleep(0.05)
        if try_lock(file.fileno()):
            return True
    return False


def open_lock(path: Path) -> IO[str]:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return open(path, "a+", encoding="utf-8")
    except OSError as error:
        reason = "it is a file" if isinstance(error, FileExistsError) else error.strerror
        raise CannotStart(f"The data directory {path.parent} cannot be written: {reason}.") from None


def database_file() -> Path | None:
    """Return the file of the database; None for one that several servers may share."""
    settings = connections["default"].settings_dict
    is_file = getattr(connections["default"].features, "has_online_backup", False)
    return Path(settings["NAME"]) if is_file else None


def who_holds(file: IO[str]) -> str:
    file.seek(0)
    try:
        holder = json.load(file)
        return f", at {holder['url']} (process {holder['pid']})"
    except (ValueError, KeyError, TypeError):
        return ""


def write_lock_info(files: list[IO[str]], url: str) -> None:
    """Write the lock holder's process id and URL, for the refusal of another server."""
    for file in files:
        file.seek(0)
        file.truncate()
        json.dump({"pid": os.getpid(), "url": url}, file)
        file.flush()


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Open a listening socket; connections wait until the server runs. Raises CannotStart."""
    with closing(bind(host, port)) as listener:
        yield listener


def bind(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # With the protocol named, asyncio sets TCP_NODELAY; without, responses wait 40 ms for an ACK.
        listener = Listener(family, kind, protocol)
    except (OSError, OverflowError):
        raise CannotStart(f"This machine has no address {host}: choose another --host.") from None
    try:
        # On Windows SO_REUSEADDR would share the port with the program that has it.
        listener.setsockopt(socket.SOL_SOCKET, EXCLUSIVE if IS_WINDOWS else socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
    except OSError as error:
        listener.close()
        raise CannotStart(bind_error(error, host, port)) from None
    return listener


def bind_error(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} of {host} is taken by another program: stop that one or choose another --port."
    if error.errno == errno.EACCES and port < 1024:
        return f"Port {port} is reserved for the system: choose a --port above 1023."
    return f"This machine cannot listen on {host}, port {port}: {error.strerror}."


def build_url(host: str, listener: socket.socket) -> str:
    """Return the URL to open in a browser on this machine."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{listener.getsockname()[1]}"


class Server(uvicorn.Server):
    """uvicorn server that leaves signals alone, and calls ``on_start`` when it listens."""

    def __init__(self, app: "App", on_start: Callable[[], None]) -> None:
        config = uvicorn.Config(
            app,
            http=HeaderTimeoutProtocol,
            lifespan="on",
            ws="none",
            loop="asyncio",
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            # One at a time where processes share the socket, or one of them takes all that wait.
            backlog=1 if get_group() else ACCEPT_BATCH,
            timeout_keep_alive=65,
            timeout_graceful_shutdown=GRACE,
        )
        super().__init__(config)
        self.on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        await asyncio.to_thread(self.on_start)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        from day1site.asgi import end_streams

        for listener in self.servers:
            listener.close()  # a client whose stream ended reconnects at once and must be refused
        await end_streams()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn would raise the signal again after serving, and end the process before our cleanup.
        yield

    def ask_to_stop(self, number: int, frame: FrameType | None) -> None:
        """Stop on signals: the first stops cleanly, the second aborts requests, the third exits at once."""
        if self.force_exit:
            os._exit(1)
        self.force_exit = self.should_exit
        self.should_exit = True


def serve_all(listener: socket.socket, processes: int, worker: bool, announce: Callable[[], None]) -> None:
    """Serve in so many processes until SIGINT or SIGTERM. Raises CannotStart when they end by themselves."""
    if processes == 1:
        serve(listener, worker, announce)
        return
    if not CAN_FORK:
        raise CannotStart(CANNOT_FORK.format(count=processes))

    def work(number: int, first: bool) -> None:
        is_last = number == processes - 1  # those before it answer what waits already, undisturbed
        serve(listener, worker and is_last, announce if first and is_last else lambda: None)
        sys.stdout.flush()

    start_group(has_worker=worker)
    prepare_to_fork()
    # The socket stays open as long as anybody has it: new connections are to be refused at once.
    kept_running = Supervisor(processes, work, before_stop=listener.close).run()
    end_group()
    checkpoint_wal(connections["default"])
    connections.close_all()
    if not kept_running:
        raise CannotStart("The server's processes ended again and again, and were stopped: see the log.")


@cache
def begin_loading_model() -> Thread:
    """Load the model for the processes that will be forked, in a thread: mostly without Python's lock, so
    what else a start does goes on.
    """
    thread = Thread(target=load_for_children)
    thread.start()
    return thread


def prepare_to_fork() -> None:
    """Load once what every process needs, and leave no connection and no thread."""
    model = begin_loading_model()
    load_application()
    str(settings.SECRET_KEY)  # one file, written by one process
    model.join()
    connections.close_all()
    freeze_gc()


def load_application() -> "App":
    """Load everything that answers requests, and return the application."""
    with pause_gc():
        from day1site.asgi import application

        get_resolver().url_patterns  # noqa: B018  # imports all views
    return application


def serve(listener: socket.socket, worker: bool, announce: Callable[[], None]) -> None:
    """Serve until SIGINT or SIGTERM, then stop everything that was started."""
    application = load_application()
    running: list[Stoppable] = [tracing, buffer]
    clients.maximum = get_max_connections(raise_descriptor_limit())

    def start() -> None:
        buffer.start()
        tracing.start()
        if worker:
            running.extend(start_background())
        freeze_gc()
        announce()

    server = Server(application, start)
    for number in SIGNALS:
        signal.signal(number, server.ask_to_stop)
    try:
        server.run(sockets=[listener])
    finally:
        stop_all(running)


def start_background() -> list[Stoppable]:
    from day1site.celery import start_beat, start_worker
    from memory.queue.producer import enqueue

    running: list[Stoppable] = [start_worker(), start_beat()]
    enqueue("memory.catch_up")  # the embedder may have changed since
    enqueue("memory.count_usage")  # a store of an earlier release, or the end of a process
    for name in ("memory.sweep_erasures", "memory.sweep_removals"):
        enqueue(name)  # one may have been interrupted by the end of the process before
    return running


def freeze_gc() -> None:
    """Freeze the objects loaded so far for the garbage collector.

    They are permanent, and scanning them would delay a request by up to 100 ms.
    """
    gc.collect()
    gc.freeze()


def stop_all(running: list[Stoppable]) -> None:
    """Stop in reverse order of starting; the buffer comes last and writes its rest."""
    for part in reversed(running):
        part.stop(GRACE)
    end_threads()
    # Leaves one complete database file, even where a busy thread still has a connection.
    gc.unfreeze()
    gc.collect()
    checkpoint_wal(connections["default"])
    connections.close_all()


def checkpoint_wal(connection: Any) -> None:
    """Checkpoint the write-ahead log into the database file. On failure, the next start reads the log."""
    try:
        connection.checkpoint_log()
    except DatabaseError:
        logging.getLogger(__name__).warning("The write-ahead log could not be folded in.", exc_info=True)


def end_threads() -> None:
    """Stop Django's threads and their database connections, except busy ones."""
    from day1site.asgi import django

    django.executor.shutdown(wait=False, cancel_futures=True)
    for thread in list(django.executor._threads):
        thread.join(0.2)


def exit_now() -> None:
    """Exit the process now: an interrupted request may still occupy a thread."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)

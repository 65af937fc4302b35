"""Client connections: their maximum, and which are closed first when it is reached.

A connection costs a file descriptor, and a process has few. Idle connections and slow requests are closed
first; a request in progress is never cut off.
"""

import errno
import logging
import os
import socket
import time
from asyncio import TimerHandle, Transport
from collections import OrderedDict
from contextlib import suppress
from typing import Any

from h11 import IDLE, SEND_BODY
from uvicorn.protocols.http.h11_impl import H11Protocol

logger = logging.getLogger(__name__)

BACKLOG = 2048  # connections queued by the system until accepted
ACCEPT_BATCH = 50  # accepted in one batch
HEAD_SECONDS = 20.0  # for a client to complete the head of a request
MAX_DESCRIPTORS = 8192
MIN_DESCRIPTORS = 1024  # the usual limit, before it is raised
RESERVED_DESCRIPTORS = 256  # for the database, the log, and accepted connections not yet counted
LOG_SECONDS = 60.0  # between two log lines on the same problem


def raise_descriptor_limit() -> int:
    """Raise the limit of file descriptors, within reason; return the limit."""
    try:
        import resource
    except ImportError:  # Windows has none
        return MAX_DESCRIPTORS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < target:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
            soft = target
    return MAX_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft


def get_max_connections(descriptors: int) -> int:
    """Return the maximum number of connections for so many file descriptors."""
    return max(descriptors // 2, descriptors - RESERVED_DESCRIPTORS)


class Complaint:
    """Problem that is logged once a minute, however often it occurs."""

    def __init__(self) -> None:
        self._next = 0.0

    def log(self, text: str, *args: Any) -> None:
        if (now := time.monotonic()) >= self._next:
            self._next = now + LOG_SECONDS
            logger.warning(text, *args)


class Connections:
    """Connections of this process, and those among them that wait for their client, by address."""

    def __init__(self, maximum: int) -> None:
        self.maximum, self.count = maximum, 0
        self._waiting: dict[str, OrderedDict[HeaderTimeoutProtocol, None]] = {}
        self._complaint = Complaint()

    def add(self, protocol: "HeaderTimeoutProtocol") -> bool:
        """Count a new connection; return False when the maximum is reached and none can be closed."""
        if self.count >= self.maximum:
            self._complaint.log("There are %d connections: those that send nothing are closed.", self.count)
            if not self.evict():
                return False
        self.count += 1
        protocol.is_counted = True
        self.set_waiting(protocol)
        return True

    def remove(self, protocol: "HeaderTimeoutProtocol") -> None:
        if protocol.is_counted:
            protocol.is_counted = False
            self.count -= 1
            self.set_working(protocol)

    def set_waiting(self, protocol: "HeaderTimeoutProtocol") -> None:
        """Mark a connection as waiting for its client, which was active just now."""
        if protocol.is_counted:
            self.set_working(protocol)
            self._waiting.setdefault(protocol.address, OrderedDict())[protocol] = None

    def set_working(self, protocol: "HeaderTimeoutProtocol") -> None:
        """Mark a connection as busy: the client waits for the server."""
        if (own := self._waiting.get(protocol.address)) is not None:
            own.pop(protocol, None)
            if not own:
                del self._waiting[protocol.address]

    def evict(self) -> bool:
        """Close the longest idle connection of the address that has most of them; return False without
        any.
        """
        if not self._waiting:
            return False
        address = max(self._waiting, key=lambda one: len(self._waiting[one]))
        protocol = next(iter(self._waiting[address]))
        self.remove(protocol)
        protocol.transport.abort()
        return True


connections = Connections(get_max_connections(MIN_DESCRIPTORS))  # until the server runs, see `serve`


class HeaderTimeoutProtocol(H11Protocol):
    """HTTP protocol that closes a connection whose request head is not complete in time."""

    deadline: TimerHandle | None = None
    is_counted = False
    address = ""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # uvicorn narrows it too
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        if not connections.add(self):
            transport.abort()
            return
        self.await_head(True)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self.await_head(self.conn.their_state is IDLE)
        self.note_state()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.note_state()

    def connection_lost(self, exc: Exception | None) -> None:
        connections.remove(self)
        self.await_head(False)
        super().connection_lost(exc)

    def note_state(self) -> None:
        """Record whether the server waits for the client, or the client for the server."""
        if self.conn.their_state in (IDLE, SEND_BODY):
            connections.set_waiting(self)
        else:
            connections.set_working(self)

    def await_head(self, requested: bool) -> None:
        if self.deadline and not requested:
            self.deadline.cancel()
            self.deadline = None
        elif requested and not self.deadline:
            self.deadline = self.loop.call_later(HEAD_SECONDS, self.transport.close)


class Listener(socket.socket):
    """Listening socket that keeps working when the process has no file descriptor left.

    asyncio would log a traceback for each pending connection, and accept none for a second.
    """

    _spare: int | None = None
    _complaint = Complaint()

    def listen(self, backlog: int = BACKLOG) -> None:
        """Listen with a long queue: asyncio passes the number that it accepts at once."""
        super().listen(BACKLOG)
        self._reserve()

    def accept(self) -> tuple[socket.socket, Any]:
        try:
            return super().accept()
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise
        self._complaint.log("No descriptor is left: a connection is refused. Raise the limit (ulimit -n).")
        connections.evict()
        self._refuse_one()
        raise BlockingIOError

    def close(self) -> None:
        self._release()
        super().close()

    def _refuse_one(self) -> None:
        """Accept and close a pending connection: the system would report it again and again."""
        self._release()
        try:
            super().accept()[0].close()
        except OSError:
            time.sleep(0.01)  # another thread accepted it; avoids a busy loop
        self._reserve()

    def _reserve(self) -> None:
        if self._spare is None:
            with suppress(OSError):
                self._spare = os.open(os.devnull, os.O_RDONLY)

    def _release(self) -> None:
        if self._spare is not None:
            os.close(self._spare)
            self._spare = None

"""A publisher that sends tasks to an external broker from one thread, so that no request waits.

The database is authoritative and a message only a hint: one that cannot be sent is dropped, and a sweep finds
its work. After a failure nothing is sent for some seconds.
"""

import logging
import queue
import threading
from time import monotonic
from typing import Any

from celery import Celery

from memory.processes import after_fork

logger = logging.getLogger(__name__)

MAX_WAITING = 1000  # messages; a sweep finds the work of further ones
PAUSE_SECONDS = 5.0  # without sending, after a broker failed to answer
FLUSH_SECONDS = 1.0  # that the end of a process waits for unsent messages

Message = tuple[Celery, str, tuple[Any, ...]]


class Publisher:
    """The unsent messages, and whether the broker accepts them."""

    def __init__(self) -> None:
        self._waiting: queue.Queue[Message] = queue.Queue(MAX_WAITING)
        self._starting = threading.Lock()
        self._checking = threading.Lock()
        self._thread: threading.Thread | None = None
        self._retry_at = 0.0
        self.is_answering = True

    def queue_task(self, app: Celery, name: str, args: tuple[Any, ...]) -> None:
        """Queue a message to be sent soon; never waits and never fails."""
        if monotonic() < self._retry_at:
            return
        try:
            self._waiting.put_nowait((app, name, args))
        except queue.Full:
            return
        self._start_thread()

    def flush(self, timeout: float = FLUSH_SECONDS) -> None:
        """Wait up to ``timeout`` seconds for unsent messages."""
        end = monotonic() + timeout
        with self._waiting.all_tasks_done:
            while self._waiting.unfinished_tasks and (left := end - monotonic()) > 0:
                self._waiting.all_tasks_done.wait(left)

    def ping_broker(self, app: Celery) -> bool:
        """Ping the broker and return whether it answers; during a pause or another ping, the last result."""
        if monotonic() >= self._retry_at and self._checking.acquire(blocking=False):
            try:
                self._try_call(lambda: ping_broker(app))
            finally:
                self._checking.release()
        return self.is_answering

    def _start_thread(self) -> None:
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._send_queued, name="day1-publisher", daemon=True)
                self._thread.start()

    def _send_queued(self) -> None:
        while True:
            message = self._waiting.get()
            try:
                if monotonic() >= self._retry_at:
                    self._try_call(lambda message=message: send_task(*message))
            finally:
                self._waiting.task_done()

    def _try_call(self, call: Any) -> None:
        try:
            call()
            self.is_answering = True
        except Exception as error:
            self.is_answering = False
            self._retry_at = monotonic() + PAUSE_SECONDS
            logger.warning("The broker does not answer, the sweeps will find the work: %s", error)


def send_task(app: Celery, name: str, args: tuple[Any, ...], **options: Any) -> None:
    """Send a task once, now."""
    app.send_task(name, args=args, ignore_result=True, retry=False, **options)


def ping_broker(app: Celery) -> None:
    with app.connection_for_write() as link:
        link.default_channel.client.ping()  # type: ignore[attr-defined]  # Redis has it


publisher = Publisher()


def _start_anew() -> None:
    """Reset the publisher in a forked child, without the locks and the thread of its parent."""
    Publisher.__init__(publisher)


after_fork(_start_anew)

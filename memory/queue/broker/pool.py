"""A pool of task threads that never delays the server's exit: an interrupted task is delivered again."""

import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue
from time import monotonic
from typing import Any, NamedTuple

from billiard.einfo import ExceptionInfo
from celery.app import app_or_default
from celery.concurrency.base import BasePool, apply_target
from django.db import DatabaseError, connections

from memory.queue.broker import in_database

logger = logging.getLogger(__name__)

STOP_TIMEOUT_SECONDS = 1.5  # seconds that a stop waits for running tasks


class Job(NamedTuple):
    target: Callable[..., Any]
    args: Any
    kwargs: Any
    callback: Callable[[Any], Any]
    accept_callback: Any


def get_delivery_tag(job: Job) -> str:
    """Return the delivery tag of a job from the database; "" for another."""
    request = job.args[2] if isinstance(job.args, tuple) and len(job.args) > 2 else {}
    tag = request.get("properties", {}).get("delivery_tag") if isinstance(request, dict) else None
    return str(tag) if tag and in_database(app_or_default().conf.broker_url) else ""


class TaskPool(BasePool):
    """A pool like Celery's "threads", whose threads however need not end before the process."""

    body_can_be_buffer = True
    signal_safe = False

    def on_start(self) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._running: set[str] = set()
        self._threads = [
            threading.Thread(target=self._run_tasks, name=f"day1-task-{number}", daemon=True)
            for number in range(self.limit)
        ]
        for thread in self._threads:
            thread.start()

    def on_apply(
        self,
        target: Callable[..., Any],
        args: Any = None,
        kwargs: Any = None,
        callback: Any = None,
        accept_callback: Any = None,
        **_: Any,
    ) -> None:
        self._jobs.put(Job(target, args, kwargs, callback, accept_callback))

    def on_stop(self) -> None:
        for _ in self._threads:
            self._jobs.put(None)
        end = monotonic() + STOP_TIMEOUT_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, end - monotonic()))
        self._take_back_tries()

    def _take_back_tries(self) -> None:
        """Uncount the tries of tasks that the end of the process interrupts: they did not fail."""
        from memory.queue.broker.transport import take_back_tries

        if tags := list(self._running):
            try:
                take_back_tries(tags)
            except DatabaseError:
                logger.exception("The tries of %s running tasks were not taken back", len(tags))

    on_terminate = on_stop

    def _run_tasks(self) -> None:
        from memory.queue.broker.transport import begin_try  # its models need Django, which is ready by now

        while job := self._jobs.get():
            tag = get_delivery_tag(job)
            try:
                if tag:
                    begin_try(tag)
                    self._running.add(tag)
                apply_target(*job)
            except Exception:
                self._give_up(job)
            finally:
                self._running.discard(tag)
        connections.close_all()

    def _give_up(self, job: Job) -> None:
        # Celery could not even start it. Reported as a failure, or the message would be claimed for ever.
        try:
            job.callback((True, ExceptionInfo(), 0.0))
        except Exception:
            logger.exception("A task could neither be run nor given up")

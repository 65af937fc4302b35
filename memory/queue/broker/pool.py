"""Task threads that never keep the server from stopping: a task cut off is delivered again."""

import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue
from time import monotonic
from typing import Any, NamedTuple

from billiard.einfo import ExceptionInfo
from celery.concurrency.base import BasePool, apply_target
from django.db import connections

logger = logging.getLogger(__name__)

PATIENCE = 1.5  # seconds that a stop waits for running tasks


class Job(NamedTuple):
    target: Callable[..., Any]
    args: Any
    kwargs: Any
    callback: Callable[[Any], Any]
    accept_callback: Any


class TaskPool(BasePool):
    """Like Celery's pool "threads", whose threads a process must wait for at its end."""

    body_can_be_buffer = True
    signal_safe = False

    def on_start(self) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._threads = [
            threading.Thread(target=self._work, name=f"day1-task-{number}", daemon=True)
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
        end = monotonic() + PATIENCE
        for thread in self._threads:
            thread.join(max(0.0, end - monotonic()))

    on_terminate = on_stop

    def _work(self) -> None:
        while job := self._jobs.get():
            try:
                apply_target(*job)
            except Exception:
                self._give_up(job)
        connections.close_all()

    def _give_up(self, job: Job) -> None:
        # Celery could not even begin. Told as a failure, or the message would be held for ever.
        try:
            job.callback((True, ExceptionInfo(), 0.0))
        except Exception:
            logger.exception("A task could neither be run nor given up")

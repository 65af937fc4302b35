"""Slots for the threads that work at the same time: fewer than there are threads.

Python lets one thread run at a time, and each call of the database passes the turn to another. With many at
work a thread waits at each of its calls, and with it all who wait for the lock that it holds. A thread that
waits for a lock or for another server leaves its slot to others meanwhile.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from memory.processes import after_fork

MAX_WAIT_SECONDS = 1.0  # for a slot: a few long requests must not keep out all others
SLOTS = 3  # one thread in Python, others in the database, the model or numpy
T = TypeVar("T")


class WorkSlots:
    """Slots of this process, in the order of asking."""

    def __init__(self) -> None:
        self._free = threading.Semaphore(SLOTS)
        self._own = threading.local()

    @contextmanager
    def hold_slot(self) -> Iterator[None]:
        """Hold a slot while working; work without one where none was free for long."""
        self._take_slot()
        try:
            yield
        finally:
            self.give_back_slot()

    @contextmanager
    def leave_slot(self) -> Iterator[None]:
        """Leave the slot of this thread, if it has one, while it waits for something else."""
        had_slot = self.give_back_slot()
        try:
            yield
        finally:
            if had_slot:
                self._take_slot()

    def _take_slot(self) -> None:
        self._own.has_slot = self._free.acquire(timeout=MAX_WAIT_SECONDS)

    def give_back_slot(self) -> bool:
        """Free the slot of this thread, which goes on without one; return whether it had one."""
        had_slot, self._own.has_slot = getattr(self._own, "has_slot", False), False
        if had_slot:
            self._free.release()
        return had_slot

    def reset_slots(self) -> None:
        """Free all slots: a forked child has none of its parent's threads."""
        WorkSlots.__init__(self)


work_slots = WorkSlots()
after_fork(work_slots.reset_slots)


class SlotExecutor(ThreadPoolExecutor):
    """A pool of threads, each of which holds a slot while it works."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> "Future[T]":
        return super().submit(run_in_slot, fn, *args, **kwargs)


def run_in_slot(fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
    with work_slots.hold_slot():
        return fn(*args, **kwargs)

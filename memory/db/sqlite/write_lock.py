"""A fair lock per database file: the writers of a process queue in order of arrival.

SQLite's own busy handler polls, so that under load some writers starve; it is only used between processes.
"""

import os
import threading
from collections import deque


class FairLock:
    """A lock that passes to the longest waiter. Another thread may release it."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._locked = False

    def acquire(self, timeout: float) -> bool:
        """Acquire the lock and return True, or return False after ``timeout`` seconds."""
        with self._mutex:
            if not self._locked:
                self._locked = True
                return True
            turn = threading.Event()
            self._waiting.append(turn)
        if turn.wait(timeout):
            return True
        return self._give_up(turn)

    def _give_up(self, turn: threading.Event) -> bool:
        with self._mutex:
            if turn.is_set():  # it was handed over at the last moment
                return True
            self._waiting.remove(turn)
            return False

    def release(self) -> None:
        with self._mutex:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._locked = False


_locks: dict[str, FairLock] = {}
_registry = threading.Lock()


def get_file_lock(path: str) -> FairLock:
    """Return the lock of the database at ``path``, one for all connections of this process."""
    with _registry:
        return _locks.setdefault(path, FairLock())


def reset_after_fork() -> None:
    """Reset the locks in a forked child, which must not wait for its parent's threads."""
    global _registry
    _registry = threading.Lock()
    _locks.clear()


os.register_at_fork(after_in_child=reset_after_fork)

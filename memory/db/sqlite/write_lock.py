"""One fair lock per database file: the writers of a process queue in the order in which they came.

SQLite's own busy handler polls, so that under load some writers starve; it stays the second line,
between processes.
"""

import os
import threading
from collections import deque


class FairLock:
    """A lock that is handed to who waits longest. It may be released by another thread."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._held = False

    def acquire(self, timeout: float) -> bool:
        """True when the lock is held; False when ``timeout`` seconds have passed."""
        with self._mutex:
            if not self._held:
                self._held = True
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
                self._held = False


_locks: dict[str, FairLock] = {}
_registry = threading.Lock()


def lock_of(path: str) -> FairLock:
    """The lock of the database at ``path``, one for all connections of this process."""
    with _registry:
        return _locks.setdefault(path, FairLock())


def _forget() -> None:
    """A forked child must not wait for threads that it does not have."""
    global _registry
    _registry = threading.Lock()
    _locks.clear()


os.register_at_fork(after_in_child=_forget)

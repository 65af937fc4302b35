"""A fair lock per database file: the writers of a process queue in order of arrival, and the processes of one
server take turns.

SQLite's own busy handler polls, so that under load some writers starve; it is only used between servers and
other programs.
"""

import threading
from collections import deque
from time import monotonic

from memory.db.process_group import Turn, get_group
from memory.db.work_slots import work_slots
from memory.processes import after_fork

TURN_SECONDS = 0.05  # for the writers of one process, while those of others wait


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
        try:
            work_slots.give_back_slot()  # for good: who has the lock must not wait for a slot
            if turn.wait(timeout):
                return True
        except BaseException:  # such as a signal's: nobody waits any more
            if self._give_up(turn):
                self.release()
            raise
        return self._give_up(turn)

    def _give_up(self, turn: threading.Event) -> bool:
        with self._mutex:
            if turn.is_set():  # it was handed over at the last moment
                return True
            self._waiting.remove(turn)
            return False

    def release(self) -> None:
        with self._mutex:
            self._before_release()
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._locked = False

    def _before_release(self) -> None:
        """Release what comes with the lock, unless it goes to the next waiter."""


class FileLock(FairLock):
    """A fair lock of this process that also takes its turn among the processes of the server.

    Passing the turn to another process takes longer than most writes, so several writers share one.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        group = get_group()
        self._turn = Turn(group, path) if group else None
        self._turn_ends: float | None = None  # None without the turn

    def acquire(self, timeout: float) -> bool:
        """Acquire the lock and return True, or return False after ``timeout`` seconds."""
        until = monotonic() + timeout
        if not super().acquire(timeout):
            return False
        has_turn = False
        try:
            has_turn = self._turn is None or bool(self._turn_ends) or self._take_turn(self._turn, until)
        finally:
            if not has_turn:
                super().release()
        return has_turn

    def _take_turn(self, turn: Turn, until: float) -> bool:
        if not turn.acquire(0):
            work_slots.give_back_slot()
            if not turn.acquire(until):
                return False
        self._turn_ends = monotonic() + TURN_SECONDS
        return True

    def _before_release(self) -> None:
        if self._turn and self._turn_ends and not (self._waiting and monotonic() < self._turn_ends):
            self._turn_ends = None
            self._turn.release()


_locks: dict[str, FileLock] = {}
_registry = threading.Lock()


def get_file_lock(path: str) -> FileLock:
    """Return the lock of the database at ``path``, one for all connections of this process."""
    with _registry:
        return _locks.get(path) or _locks.setdefault(path, FileLock(path))


def reset_after_fork() -> None:
    """Reset the locks in a forked child, which must not wait for its parent's threads."""
    global _registry
    _registry = threading.Lock()
    _locks.clear()


after_fork(reset_after_fork)

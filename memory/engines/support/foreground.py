"""Requests that a person waits for, and background work of the same process that lets them go first."""

import threading
from types import TracebackType

from memory.processes import after_fork

MAX_WAIT_SECONDS = 0.25  # for background work: it gets its turn under a steady load, too


class Foreground:
    """Counter of the running requests that background work of this process lets go first.

    A context manager for the request; ``wait_for_requests`` for the work. Processes do not see each other's.
    """

    def __init__(self) -> None:
        self._running = 0
        self._changed = threading.Condition()

    def __enter__(self) -> "Foreground":
        with self._changed:
            self._running += 1
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._running -= 1
            self._changed.notify_all()

    def wait_for_requests(self) -> bool:
        """Wait until no request runs, for a quarter of a second at most; return whether none does."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._running, MAX_WAIT_SECONDS)

    def reset(self) -> None:
        """Forget the requests: a forked child has none of its parent's threads."""
        Foreground.__init__(self)


FOREGROUND = Foreground()
after_fork(FOREGROUND.reset)

"""A clock that never goes back: ids, leases and what is due go by it, whatever the machine's clock does.

It is the machine's, as long as that goes on. When that is set back it counts on by itself, and a process that
starts then begins where the store ends: see ``memory.engines.store.release``.
"""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

from memory.processes import after_fork

MICROSECONDS = 1_000_000


class ForwardClock:
    """Microseconds since 1970. Thread-safe; a forked child goes on from its parent's."""

    def __init__(self) -> None:
        self.restart_lock()
        self.restart()

    def restart_lock(self) -> None:
        self._lock = threading.Lock()

    def restart(self, count: Callable[[], int] = time.monotonic_ns) -> None:
        """Go by the machine's clock again, and count on by another; for tests, whose clocks stand still."""
        with self._lock:
            self._count, self._reading, self._counted = count, 0, 0

    def read(self) -> int:
        with self._lock:
            now, counted = time.time_ns() // 1000, self._count() // 1000
            expected = self._reading + max(counted - self._counted, 0)
            if now < expected:
                return expected
            self._reading, self._counted = now, counted
            return now

    def read_ms(self) -> int:
        return self.read() // 1000

    def raise_to(self, floor: int) -> None:
        """Go on from a time that is still to come on the machine's clock."""
        if floor > self.read():
            with self._lock:
                self._reading, self._counted = floor, self._count() // 1000


clock = ForwardClock()
after_fork(clock.restart_lock)


def read_time() -> datetime:
    """Return the time by which leases end and what waits is due; never earlier than before."""
    seconds, rest = divmod(clock.read(), MICROSECONDS)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest)

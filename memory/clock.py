"""A clock that never goes back: ids, leases and what is due go by it, whatever the machine's clock does.

It is the machine's, as long as that goes on. When that is set back it counts on by itself, and a process that
starts then begins where the store ends: see ``memory.engines.store.release``.
"""

import os
import threading
import time
from datetime import UTC, datetime

MICROSECONDS = 1_000_000


class ForwardClock:
    """Microseconds since 1970. Thread-safe; a forked child goes on from its parent's."""

    def __init__(self) -> None:
        self._reading, self._steady = 0, 0
        self.restart_lock()

    def restart_lock(self) -> None:
        self._lock = threading.Lock()

    def restart(self) -> None:
        """Go by the machine's clock again (for tests)."""
        with self._lock:
            self._reading, self._steady = 0, 0

    def read(self) -> int:
        with self._lock:
            now, steady = time.time_ns() // 1000, time.monotonic_ns() // 1000
            counted = self._reading + max(steady - self._steady, 0)
            if now < counted:
                return counted
            self._reading, self._steady = now, steady
            return now

    def read_ms(self) -> int:
        return self.read() // 1000

    def raise_to(self, floor: int) -> None:
        """Go on from a time that is still to come on the machine's clock."""
        if floor > self.read():
            with self._lock:
                self._reading, self._steady = floor, time.monotonic_ns() // 1000


clock = ForwardClock()
os.register_at_fork(after_in_child=clock.restart_lock)


def read_time() -> datetime:
    """Return the time by which leases end and what waits is due; never earlier than before."""
    seconds, rest = divmod(clock.read(), MICROSECONDS)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest)

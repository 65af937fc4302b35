"""Write buffer for counters and "last used" times, which would otherwise turn every read into a write.

Values of one kind and key are merged in memory and written together, about once a second. A server starts a
thread for it; elsewhere the next ``add`` after a second writes, and so does the exit of the process. A ``kill
-9`` loses the last second: nothing that was acknowledged as stored belongs here.
"""

import atexit
import logging
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import OperationalError, connection

from memory.db.errors import DamageFound
from memory.db.transactions import write_transaction

logger = logging.getLogger(__name__)

INTERVAL_SECONDS = 1.0  # seconds
MAX_WAITING_VALUES = 50_000  # pending values of one kind while the database takes none

Write = Callable[[Mapping[Any, Any]], object]
Merge = Callable[[Any, Any], Any]


def keep_latest(old: Any, new: Any) -> Any:
    return new


@dataclass
class Kind:
    """Kind of values: how to prepare and write them, as {key: value}, and how to merge two of one key."""

    write: Write
    merge: Merge = keep_latest
    prepare: Write | None = None
    waiting: dict[Hashable, Any] = field(default_factory=dict)

    def put_value(self, key: Hashable, value: Any) -> None:
        pending = self.waiting
        pending[key] = self.merge(pending[key], value) if key in pending else value


class WriteBehind:
    def __init__(self, interval: float = INTERVAL_SECONDS) -> None:
        self.interval = interval
        self._kinds: dict[str, Kind] = {}
        self._mutex = threading.Lock()  # guards the pending values
        self._writing = threading.Lock()  # one flush at a time, so that merged values keep their order
        self._oldest = 0.0
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()

    def register_kind(
        self, name: str, write: Write, merge: Merge = keep_latest, prepare: Write | None = None
    ) -> None:
        """Register a kind. ``write`` runs in a transaction and may see a key again later; ``prepare`` runs
        before it, while others write.
        """
        self._kinds[name] = Kind(write, merge, prepare)

    def add_value(self, kind: str, key: Hashable, value: Any) -> None:
        """Add a value to be written soon."""
        with self._mutex:
            self._oldest = self._oldest or time.monotonic()
            self._kinds[kind].put_value(key, value)
        if self._thread is None and self._is_due() and not connection.in_atomic_block:
            self.flush()

    def pending_values(self, kind: str) -> dict[Hashable, Any]:
        """Return the values that are not written yet."""
        with self._mutex:
            return dict(self._kinds[kind].waiting)

    def flush(self) -> None:
        """Write all pending values. Never raises: what cannot be written now stays, or is logged."""
        with self._writing:
            self._oldest = 0.0
            taken = {name: values for name in list(self._kinds) if (values := self._take_values(name))}
            if connection.in_atomic_block or not self._write_together(taken):
                for name, values in taken.items():
                    self._write_values(name, values)

    def clear(self) -> None:
        """Discard all pending values (for tests)."""
        for name in list(self._kinds):
            self._take_values(name)
        self._oldest = 0.0

    # ---- a thread of its own -------------------------------------------------------------------

    def start(self) -> None:
        """Start a thread that writes from now on, so that no caller waits for it."""
        if self._thread is None:
            self._stopping.clear()
            self._thread = threading.Thread(target=self._run_loop, name="day1-buffers", daemon=True)
            self._thread.start()

    def stop(self, timeout: float = 5.0) -> None:
        """Stop the thread and write the remaining values."""
        thread, self._thread = self._thread, None
        if thread:
            self._stopping.set()
            thread.join(timeout)
        self.flush()

    def _run_loop(self) -> None:
        while not self._stopping.wait(self.interval):
            self.flush()
        connection.close()

    # ---- pieces --------------------------------------------------------------------------------

    def _is_due(self) -> bool:
        return bool(self._oldest) and time.monotonic() - self._oldest >= self.interval

    def _take_values(self, name: str) -> dict[Hashable, Any]:
        with self._mutex:
            kind = self._kinds[name]
            values, kind.waiting = kind.waiting, {}
            return values

    def _write_together(self, taken: dict[str, dict[Hashable, Any]]) -> bool:
        """Write all kinds in one transaction; return False, with nothing written, where one of them fails."""
        if len(taken) < 2:
            return False
        try:
            for name, values in taken.items():
                if prepare := self._kinds[name].prepare:
                    prepare(values)
            with write_transaction():
                for name, values in taken.items():
                    self._kinds[name].write(values)
        except Exception:  # each is tried by itself, and says what is wrong
            return False
        return True

    def _write_values(self, name: str, values: dict[Hashable, Any]) -> None:
        try:
            kind = self._kinds[name]
            if kind.prepare:
                kind.prepare(values)
            with write_transaction():
                kind.write(values)
        except DamageFound:  # nothing is written before the store is repaired
            self._put_back(name, values)
        except OperationalError as error:
            logger.warning("%d values of %s wait for the next try: %s", len(values), name, error)
            self._put_back(name, values)
        except Exception:
            logger.exception("%d values of %s are dropped", len(values), name)

    def _put_back(self, name: str, values: dict[Hashable, Any]) -> None:
        with self._mutex:
            kind = self._kinds[name]
            later, kind.waiting = kind.waiting, dict(list(values.items())[:MAX_WAITING_VALUES])
            for key, value in later.items():
                kind.put_value(key, value)
            self._oldest = self._oldest or time.monotonic()


buffer = WriteBehind()
atexit.register(buffer.flush)

"""The bound of the write-ahead log: one checkpoint at a time, by the writer that exceeds a size.

SQLite restarts its log only at a moment when no reader uses it. Overlapping readers leave no such moment, and
the log grows without end. Between two writers of this process the log is therefore copied whole: later
readers use the database file alone, so the log is free as soon as the earlier readers have ended.
"""

import logging
import os
import sqlite3
import threading
from typing import Any

from memory.processes import after_fork

logger = logging.getLogger(__name__)

MIB = 1024 * 1024
MAX_BYTES = 16 * MIB  # of the log, from which on a writer empties it
STEP_BYTES = 4 * MIB  # of growth until the next try, doubled by each failure
MAX_WAIT_SECONDS = 2.0  # for readers, while other writers queue


class LogBound:
    """The limit of one database file's log, shared by all connections of this process."""

    def __init__(self, path: str) -> None:
        self.file = f"{path}-wal"
        self._next, self._step = MAX_BYTES, STEP_BYTES

    def enforce_limit(self, connection: Any) -> None:
        """Empty the log if it is too long. Call it with the writers' lock, after a commit.

        Never raises: committed data is safe in the log, however long that becomes.
        """
        if (size := self._log_size()) < MAX_BYTES:
            self._next, self._step = MAX_BYTES, STEP_BYTES
        elif size >= self._next and not self._truncate_log(connection):
            # A reader takes long, such as a copy of the whole store.
            self._next, self._step = size + self._step, self._step * 2

    def _log_size(self) -> int:
        try:
            return os.stat(self.file).st_size
        except OSError:
            return 0

    def _truncate_log(self, connection: Any) -> bool:
        try:
            patience = connection.execute("PRAGMA busy_timeout").fetchone()[0]
            connection.execute(f"PRAGMA busy_timeout = {int(MAX_WAIT_SECONDS * 1000)}")
            try:
                busy: int = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            finally:
                connection.execute(f"PRAGMA busy_timeout = {patience}")
        except sqlite3.Error as error:
            logger.warning("The write-ahead log could not be emptied: %s", error)
            return False
        return not busy


_bounds: dict[str, LogBound] = {}
_registry = threading.Lock()


def get_log_bound(path: str) -> LogBound:
    """Return the bound for the database at ``path``, one for all connections of this process."""
    with _registry:
        return _bounds.setdefault(path, LogBound(path))


def reset_after_fork() -> None:
    """Reset the locks in a forked child, where another thread may have held them."""
    global _registry
    _registry = threading.Lock()
    _bounds.clear()


after_fork(reset_after_fork)

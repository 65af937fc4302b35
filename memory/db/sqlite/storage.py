"""State of the disk: SQLite's last error on a write, and the free space."""

import shutil
import sqlite3
from pathlib import Path
from time import monotonic
from typing import Any

from django.db.utils import DatabaseErrorWrapper

from memory.db.errors import StorageRefused

MIN_FREE_BYTES = 64 * 1024 * 1024  # for the log, and for what SQLite copies from it
STATES = {
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_READONLY: "read_only",
    sqlite3.SQLITE_IOERR: "failing",
    sqlite3.SQLITE_CANTOPEN: "failing",
}

HOLD_SECONDS = 10.0  # that a refusal is reported, though another connection may still write

_refused: dict[str, tuple[str, float]] = {}  # by database file: the reason of a refused write, and its time


def get_state(path: str) -> str:
    """Return ok, low, or the reason why the last write was refused."""
    if refused := _refused.get(path):
        return refused[0]
    try:
        return "ok" if shutil.disk_usage(Path(path).parent).free >= MIN_FREE_BYTES else "low"
    except OSError:
        return "failing"


def note_commit(path: str) -> None:
    """Record a successful write; it clears a refusal that is older than HOLD_SECONDS."""
    refused = _refused.get(path)
    if refused and monotonic() >= refused[1] + HOLD_SECONDS:
        _refused.pop(path, None)


class ErrorWrapper(DatabaseErrorWrapper):
    """An error wrapper that raises StorageRefused for disk errors, and otherwise Django's errors."""

    wrapper: Any

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if isinstance(error, sqlite3.OperationalError) and (state := self._disk_state(error)):
            refusal = StorageRefused(*error.args)
            refusal.state = state
            _refused[self._database_path()] = state, monotonic()
            self.wrapper.errors_occurred = True
            raise refusal.with_traceback(traceback) from error
        super().__exit__(kind, error, traceback)

    def _disk_state(self, error: sqlite3.OperationalError) -> str:
        """Return "" for an error that is not the disk's: a snapshot refuses writes by itself."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_READONLY and self.wrapper.is_read_only():
            return ""
        return STATES.get(code, "")

    def _database_path(self) -> str:
        return str(self.wrapper.settings_dict["NAME"])

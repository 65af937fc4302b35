"""State of the disk: SQLite's last error on a write, and the free space."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from django.db.utils import DatabaseErrorWrapper

from memory.db.damage import mark_damaged
from memory.db.errors import DamageFound, StorageRefused
from memory.db.process_group import get_group
from memory.exceptions import UNREADABLE_STORE

MIN_FREE_BYTES = 64 * 1024 * 1024  # for the log, and for what SQLite copies from it
STATES = {
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_READONLY: "read_only",
    sqlite3.SQLITE_IOERR: "failing",
    sqlite3.SQLITE_CANTOPEN: "failing",
}

UNDECODABLE = "Could not decode to UTF-8"  # what Python says of a text with a damaged byte
HOLD_SECONDS = 10.0  # that a refusal is reported, though another connection may still write

NAMES = sorted(set(STATES.values()))
MILLISECONDS, CODES = 1000, 16

_refused: dict[str, int] = {}  # the last refusal by database file, where no group of processes shares it


def note_refusal(path: str, state: str) -> None:
    """Record a refused write, its reason and its time in one number, for all processes of the server."""
    number = int(monotonic() * MILLISECONDS) * CODES + NAMES.index(state)
    if group := get_group():
        with group.hold_numbers() as numbers:
            numbers.put_number(f"refused:{path}", number)
    else:
        _refused[path] = number


def get_state(path: str) -> str:
    """Return ok, low, or the reason why the last write was refused."""
    if group := get_group():
        with group.hold_numbers() as numbers:
            refused = numbers.get_number(f"refused:{path}")
    else:
        refused = _refused.get(path)
    if refused is not None:
        return NAMES[refused % CODES]
    try:
        return "ok" if shutil.disk_usage(Path(path).parent).free >= MIN_FREE_BYTES else "low"
    except OSError:
        return "failing"


def note_commit(path: str) -> None:
    """Record a successful write; it clears a refusal that is older than HOLD_SECONDS."""
    if group := get_group():
        with group.hold_numbers() as numbers:
            if is_over(numbers.get_number(f"refused:{path}")):
                numbers.put_number(f"refused:{path}", 0, seconds=0)
    elif is_over(_refused.get(path)):
        _refused.pop(path, None)


def is_over(refused: int | None) -> bool:
    """Tell whether a refusal is old enough for a success to clear it."""
    return refused is not None and monotonic() >= refused // CODES / MILLISECONDS + HOLD_SECONDS


def is_damage(error: BaseException) -> bool:
    """Tell whether an error of SQLite means that the file is damaged; a busy, full or read-only one is
    not.
    """
    if not isinstance(error, sqlite3.DatabaseError):
        return False
    code = getattr(error, "sqlite_errorcode", 0)
    if code == sqlite3.SQLITE_IOERR_CORRUPTFS:
        return True
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or UNDECODABLE in str(error)


@contextmanager
def suppress_damage() -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise


def is_foreign(error: BaseException) -> bool:
    """Tell whether the file is no database at all, which a wrong path may name too."""
    return getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_NOTADB


def describe_error(error: BaseException) -> str:
    """Return the words of SQLite and the name of its code; never a stored text, which a message may have."""
    if UNDECODABLE in str(error):
        return "a text has bytes that are no UTF-8"
    return f"{error} ({getattr(error, 'sqlite_errorname', type(error).__name__)})"


class ErrorWrapper(DatabaseErrorWrapper):
    """An error wrapper that raises StorageRefused for disk errors, DamageFound for a damaged file, and
    otherwise Django's errors.
    """

    wrapper: Any

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if isinstance(error, sqlite3.OperationalError) and (state := self._disk_state(error)):
            refusal = StorageRefused(f"{error} ({error.sqlite_errorname})")
            refusal.state = state
            note_refusal(self._database_path(), state)
            self.wrapper.errors_occurred = True
            raise refusal.with_traceback(traceback) from error
        if error is not None and is_damage(error):
            self.wrapper.errors_occurred = True
            self.wrapper.close_streams()
            mark_damaged(self._database_path(), describe_error(error), is_kept=not is_foreign(error))
            found = DamageFound(UNREADABLE_STORE) if is_foreign(error) else DamageFound()
            raise found.with_traceback(traceback) from error
        super().__exit__(kind, error, traceback)

    def _disk_state(self, error: sqlite3.OperationalError) -> str:
        """Return "" for an error that is not the disk's: a snapshot refuses writes by itself."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_READONLY and self.wrapper.is_read_only():
            return ""
        return STATES.get(code, "")

    def _database_path(self) -> str:
        return str(self.wrapper.settings_dict["NAME"])

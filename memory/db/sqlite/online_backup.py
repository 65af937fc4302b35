"""Online backup: a copy of the database file while others read and write it."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from memory.db.database_files import is_sqlite
from memory.db.sqlite.storage import describe_error, is_damage
from memory.db.store_copies import CopyFailed
from memory.db.work_slots import work_slots

PAGES = 2048  # of the file, copied between two reports of progress
HEALTHY = "ok"  # SQLite's answer for an intact file


class OnlineCopy:
    """A copier of a connection's database."""

    def __init__(self, connection: Any) -> None:
        self.path = Path(str(connection.settings_dict["NAME"]))

    def list_files(self) -> set[Path]:
        """Return the paths of the database's own files."""
        return {Path(f"{self.path.resolve()}{end}") for end in ("", "-wal", "-shm", "-journal")}

    def list_copies(self) -> set[Path]:
        """Return the other SQLite files in the database's folder, such as backups of it."""
        files = {path for path in self.path.parent.iterdir() if path.is_file()} - self.list_files()
        return {path for path in files if path.resolve() not in self.list_files() and is_sqlite(path)}

    def copy_to(self, target: Path, tell: Callable[[int, int], None]) -> str:
        """Copy the state of one moment to ``target``; return "" or the damage found in the copy.

        Raises CopyFailed for any other failure of SQLite, such as a full disk.
        """
        try:
            answer = self._copy_checked(target, tell)
        except sqlite3.Error as error:
            if not is_damage(error):
                raise CopyFailed(f"The copy could not be written: {error}.") from None
            return describe_error(error)
        with target.open("rb") as file:
            os.fsync(file.fileno())
        return "" if answer == HEALTHY else answer

    def _copy_checked(self, target: Path, tell: Callable[[int, int], None]) -> str:
        """Copy the store; return SQLite's answer for the copy."""
        with (
            work_slots.leave_slot(),
            closing(sqlite3.connect(self.path)) as store,
            closing(sqlite3.connect(target)) as copy,
        ):
            store.execute("BEGIN")  # one moment: without it, each write of others restarts the copy
            store.execute("SELECT count(*) FROM sqlite_master").fetchone()
            store.backup(copy, pages=PAGES, progress=lambda _, left, total: tell(total - left, total))
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a separate log
            return str(copy.execute("PRAGMA integrity_check").fetchone()[0])

"""The database file copied while others read and write it."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

PAGES = 2048  # of the file, copied between two words about the progress
HEALTHY = "ok"  # what SQLite says of a whole file


class OnlineCopy:
    """Copies the database of a connection."""

    def __init__(self, connection: Any) -> None:
        self.path = Path(str(connection.settings_dict["NAME"]))

    def files(self) -> set[Path]:
        """The files that are the database itself."""
        return {Path(f"{self.path.resolve()}{end}") for end in ("", "-wal", "-shm", "-journal")}

    def write(self, target: Path, tell: Callable[[int, int], None]) -> str:
        """Make ``target`` the state of one moment; returns "" or what is wrong with the copy."""
        with closing(sqlite3.connect(self.path)) as store, closing(sqlite3.connect(target)) as copy:
            store.execute("BEGIN")  # one moment: without it, each write of others starts the copy anew
            store.execute("SELECT count(*) FROM sqlite_master").fetchone()
            store.backup(copy, pages=PAGES, progress=lambda _, left, total: tell(total - left, total))
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it
            answer = copy.execute("PRAGMA integrity_check").fetchone()[0]
        with target.open("rb") as file:
            os.fsync(file.fileno())
        return "" if answer == HEALTHY else str(answer)

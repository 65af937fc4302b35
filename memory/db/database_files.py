"""What a file on this machine is, told by its first bytes. Standard library alone, for the command line."""

from pathlib import Path

SQLITE_HEAD = b"SQLite format 3\0"  # the first bytes of every database file


def is_sqlite(path: Path) -> bool:
    """Return whether a file is an SQLite database; False for one that cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(len(SQLITE_HEAD)) == SQLITE_HEAD
    except OSError:
        return False

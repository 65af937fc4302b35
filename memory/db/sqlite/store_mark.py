"""What tells a database file from an older copy of itself: its first bytes, and the salt of its log."""

from pathlib import Path

HEADER_BYTES = 100  # of a database file
SALT = slice(16, 24)  # of the header of a write-ahead log; another one each time the log begins anew


def read_state(path: Path) -> dict[str, str]:
    """Return the state of the file on the disk: as of its last checkpoint, and which log came after that."""
    return {"head": read_bytes(path)[:HEADER_BYTES].hex(), "log": read_bytes(Path(f"{path}-wal"))[SALT].hex()}


def read_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(HEADER_BYTES)
    except FileNotFoundError:
        return b""


def has_lost_log(path: Path, before: dict[str, str]) -> bool:
    """Return whether the file is as it was, but for a log that it had then."""
    now = read_state(path)
    return bool(before["log"]) and now["head"] == before["head"] and now["log"] != before["log"]

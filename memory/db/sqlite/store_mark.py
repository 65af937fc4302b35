"""What tells a database file from a copy of it, without opening it.

A process that closes a file ends the locks that SQLite holds on it: the file itself is read by others only.
"""

import os
import subprocess
import sys
from pathlib import Path

HEADER_BYTES = 100  # of a database file
READ = "import sys; sys.stdout.buffer.write(open(sys.argv[1], 'rb').read(100))"


def read_state(path: Path) -> dict[str, int]:
    """Return size and time of the file, which a checkpoint changes, and the size of its log."""
    known = os.stat(path)
    return {"bytes": known.st_size, "changed_ns": known.st_mtime_ns, "log_bytes": measure_log(path)}


def measure_log(path: Path) -> int:
    try:
        return os.stat(f"{path}-wal").st_size
    except FileNotFoundError:
        return 0


def has_lost_log(path: Path, before: dict[str, int]) -> bool:
    """Return whether the file is as it was, but for the log that it had then."""
    now = read_state(path)
    return before["log_bytes"] > 0 == now["log_bytes"] and all(
        now[name] == before[name] for name in ("bytes", "changed_ns")
    )


def read_head(path: Path) -> bytes:
    """Return the first bytes of a database file that this process may have open, read by another one."""
    command = [sys.executable, "-I", "-S", "-c", READ, str(path)]
    return subprocess.run(command, capture_output=True, check=True).stdout

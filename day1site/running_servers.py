"""Servers of ``up`` that run on this machine: their addresses and data directories. Standard library only."""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from memory.file_locks import is_locked

LOCK_NAME = "up.lock"


@dataclass(frozen=True)
class RunningServer:
    url: str
    data_dir: Path


@contextmanager
def announced(data_dir: Path) -> Iterator[None]:
    """Note the data directory for the user's other programs, as long as its server runs.

    The note is a convenience: a home that cannot be written does not stop a server.
    """
    name = f"{hashlib.sha256(str(data_dir).encode()).hexdigest()[:16]}.json"
    with suppress(OSError, RuntimeError):
        notes_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        (notes_folder() / name).write_text(json.dumps({"data_dir": str(data_dir)}), encoding="utf-8")
    try:
        yield
    finally:
        with suppress(OSError, RuntimeError):
            (notes_folder() / name).unlink(missing_ok=True)


def list_running() -> list[RunningServer]:
    """Return the user's servers that run now; notes of servers that were killed are removed."""
    found = []
    for note in sorted(notes_folder().glob("*.json")):
        with suppress(OSError, ValueError, KeyError, TypeError):
            if server := read_running(Path(json.loads(note.read_text(encoding="utf-8"))["data_dir"])):
                found.append(server)
            else:
                note.unlink(missing_ok=True)
    return found


def read_running(data_dir: Path) -> RunningServer | None:
    """Return the server that holds the lock of a data directory; None where there is none."""
    try:
        with open(data_dir / LOCK_NAME, encoding="utf-8") as file:
            return RunningServer(json.load(file)["url"], data_dir) if is_locked(file.fileno()) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def notes_folder() -> Path:
    """Return the folder of the notes. Raises RuntimeError for a user without a home."""
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "day1" / "servers"

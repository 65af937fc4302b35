"""Locks on files between processes: the system lets go of one when the process that holds it ends.

Standard library only. Windows lets nobody read a byte that is locked, so the one that is locked there lies
far behind all that a file holds: others read in it who holds it.
"""

import os
from importlib import import_module
from time import sleep
from typing import Any

from memory.processes import IS_WINDOWS

try:
    import fcntl

    HAS_FCNTL = True
except ImportError:
    HAS_FCNTL = False

msvcrt: Any = None if HAS_FCNTL else import_module("msvcrt")  # Windows
LOCKED_BYTE = 2**30
POLL_SECONDS = 0.02
REPLACE_TRIES = 100


def try_lock(handle: int) -> bool:
    """Lock an open file and return True; return False while another process holds it."""
    try:
        if HAS_FCNTL:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            _lock_far_byte(handle, msvcrt.LK_NBLCK)
    except (BlockingIOError, PermissionError):
        return False
    return True


def wait_for_lock(handle: int) -> None:
    """Lock an open file, however long another process holds it."""
    if HAS_FCNTL:
        fcntl.flock(handle, fcntl.LOCK_EX)
        return
    while not try_lock(handle):
        sleep(POLL_SECONDS)


def is_locked(handle: int) -> bool:
    """Tell whether another process holds the lock of an open file; others may ask at the same time."""
    if not HAS_FCNTL:
        if is_free := try_lock(handle):
            _lock_far_byte(handle, msvcrt.LK_UNLCK)
        return not is_free
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(handle, fcntl.LOCK_UN)
    return False


def replace_file(draft: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Put a file in the place of another one; on Windows wait while somebody has that open."""
    for _ in range(REPLACE_TRIES if IS_WINDOWS else 0):
        try:
            os.replace(draft, path)
            return
        except PermissionError:
            sleep(POLL_SECONDS)
    os.replace(draft, path)


def _lock_far_byte(handle: int, mode: int) -> None:
    """Lock or unlock that byte; the place at which the file is read stays."""
    place = os.lseek(handle, 0, os.SEEK_CUR)
    os.lseek(handle, LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(handle, mode, 1)
    finally:
        os.lseek(handle, place, os.SEEK_SET)


# ---- single bytes, of processes that were forked: there is fcntl where there is fork -------------------


def try_lock_byte(handle: int, byte: int) -> bool:
    """Lock a byte for this process; return False while another one holds it."""
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
    except (BlockingIOError, PermissionError):
        return False
    return True


def wait_for_byte(handle: int, byte: int) -> None:
    fcntl.lockf(handle, fcntl.LOCK_EX, 1, byte)


def unlock_byte(handle: int, byte: int) -> None:
    fcntl.lockf(handle, fcntl.LOCK_UN, 1, byte)

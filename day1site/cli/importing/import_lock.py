"""One import at a time: two of one transcript would both find it new, and store it twice."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from day1site.cli.output import note


@contextmanager
def hold_import_lock() -> Iterator[None]:
    """Wait for another import of this user on this machine, wherever it stores; however that one ends, the
    system lets go of it.
    """
    file = Path(tempfile.gettempdir()) / f"day1-import-{os.getuid()}.lock"
    handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note("Another import is at work; waiting for its end.")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)

"""Loading of modules at the start of a process. Standard library only."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_gc() -> Iterator[None]:
    """Look for no cycles while modules are loaded, and exempt for good what they made (``gc.freeze``).

    The search takes a fifth of the time in which a server starts.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()


def leave_out_test_client() -> None:
    """Let the REST framework load no package that only its test client needs, where that is there."""
    sys.modules["requests"] = None  # type: ignore[assignment]  # as Python documents it

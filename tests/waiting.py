"""How long tests wait for what must come: one bound for all, far beyond what a busy machine needs."""

import time
from collections.abc import Callable

TIMEOUT_SECONDS = 300
TIMEOUT_MS = TIMEOUT_SECONDS * 1000
POLL_SECONDS = 0.02


def wait_until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds; fail when it never does."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(POLL_SECONDS)
